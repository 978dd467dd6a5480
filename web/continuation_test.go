package web

import (
	"strings"
	"testing"

	"offcut/agent/agenttest"
	"offcut/models"

	"github.com/PuerkitoBio/goquery"
)

// parts is the HTML of an answer's parts.
func parts(t *testing.T, within *goquery.Document) []string {
	t.Helper()
	var out []string
	within.Find("[data-role=assistant] .part").Each(func(_ int, p *goquery.Selection) {
		html, err := p.Find(".blocks").Html()
		must(t, err)
		out = append(out, strings.TrimSpace(html)+p.Find(".tail").Text())
	})
	return out
}

func TestAnAnswerThatWasCutReadsAsOneText(t *testing.T) {
	tests := map[string]struct {
		pieces []string
		holds  map[string]string // the texts of what a selector finds
	}{
		"in a word":       {[]string{"The first half, mid-wo", "rd second half."}, map[string]string{"p": "The first half, mid-word second half."}},
		"in a code block": {[]string{"Code:\n\n```go\nfunc a() {}\nfunc b", "() {}\nfunc c() {}\n```\n\nEnd."}, map[string]string{"p": "Code:|End.", "pre": "func a() {}\nfunc b() {}\nfunc c() {}\n"}},
		"in its fence":    {[]string{"``", "`\nx\n`", "``\n"}, map[string]string{"p": "", "pre": "x\n"}},
		"in a table":      {[]string{"| a | b |\n|---|---|\n| 1 | t", "wo |\n| 3 | 4 |\n"}, map[string]string{"p": "", "table": "", "td": "1|two|3|4"}},
		"in a list":       {[]string{"- one\n- t", "wo\n- thr", "ee\n"}, map[string]string{"p": "", "li": "one|two|three", "ul": ""}},
		"between lines":   {[]string{"One.\n\n", "Two."}, map[string]string{"p": "One.|Two."}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			last := len(tt.pieces) - 1
			for _, piece := range tt.pieces[:last] {
				s.script.Then(agenttest.Cut(piece))
			}
			s.script.Then(agenttest.Says(tt.pieces[last]))
			id := s.newSession(ann)
			b := s.signedIn(ann)
			seen := newScreen()
			conn := b.watching(id, b.seqOf(id))
			s.says(ann, id, "go")
			for f, code := next(t, conn); f.Type != "state" || f.State != "done"; f, code = next(t, conn) {
				if code != 0 {
					t.Fatalf("closed with %d", code)
				}
				seen.show(t, f)
			}
			doc := b.get("/s/" + id).page(t)
			found := parts(t, doc)
			if len(found) != 1 || len(seen.order) != 1 {
				t.Fatalf("the answer has the parts %q on the page; %d came", found, len(seen.order))
			}
			if streamed := strings.TrimSpace(seen.parts[seen.order[0]].sealed); streamed != found[0] {
				t.Errorf("streamed was\n%s\nand loaded is\n%s", streamed, found[0])
			}
			blocks := doc.Find("[data-role=assistant] .blocks")
			for selector, want := range tt.holds {
				texts := blocks.Find(selector).Map(func(_ int, e *goquery.Selection) string { return e.Text() })
				if selector == "table" || selector == "ul" {
					if len(texts) != 1 {
						t.Errorf("there are %d of %s", len(texts), selector)
					}
				} else if got := strings.Join(texts, "|"); got != want {
					t.Errorf("%s: %q, want %q", selector, got, want)
				}
			}
		})
	}
}

func TestACutAnswerIsWholeOnAPageInTheMiddleOfItAndAfterACrash(t *testing.T) {
	s := start(t)
	release := make(chan struct{})
	defer close(release)
	s.script.Then(agenttest.Cut("Begun.\n\nThe first half,\nmid-wo"), agenttest.Blocks("rd second", release))
	id := s.newSession(ann)
	b := s.signedIn(ann)
	conn := b.watching(id, b.seqOf(id))
	s.wants(202, ann, "POST", "/sessions/"+id+"/messages", `{"content":"go"}`)
	for f, _ := next(t, conn); !strings.HasSuffix(f.Text, "rd second"); {
		f, _ = next(t, conn)
	}
	if got := parts(t, b.get("/s/"+id).page(t)); len(got) != 1 || got[0] != "<p>Begun.</p>The first half,\nmid-word second" {
		t.Errorf("in the middle the page shows %q", got)
	}

	// What the database holds is what a server that was killed finds.
	found, _, err := s.store.Messages(t.Context(), models.MessageQuery{SessionID: id, Page: models.Page{Limit: 10}})
	must(t, err)
	found[2].Content = "rd second"
	must(t, s.store.SaveMessage(t.Context(), found[2]))
	must(t, s.store.InterruptRunning(t.Context(), found[2].CreatedAt, "interrupted"))
	restarted := start(t, with(func(c *Config) { c.Handlers.Store = s.store; c.Handlers.WebSessions = s.store.WebSessions() }))
	got := parts(t, restarted.signedIn(ann).get("/s/"+id).page(t))
	if len(got) != 1 || !strings.HasSuffix(got[0], "<p>The first half,\nmid-word second</p>") {
		t.Errorf("after a crash the page shows %q", got)
	}
}

func TestToolsOfAContinuationStandUnderTheWholeText(t *testing.T) {
	s := start(t)
	prints := agenttest.Calls("print", `{"text":"x"}`)
	prints.Chunks = []string{"rd.\n"}
	s.script.Then(agenttest.Cut("A wo"), prints, agenttest.Says("Printed."))
	id := s.newSession(ann)
	s.says(ann, id, "go")
	doc := s.signedIn(ann).get("/s/" + id).page(t)
	if got := strings.Join(parts(t, doc), "|"); got != "<p>A word.</p>|<p>Printed.</p>" {
		t.Errorf("the parts are %q", got)
	}
	steps := doc.Find("[data-role=assistant] .part").First().Next()
	if !steps.Is(".steps") || steps.Find("[data-testid=tool-card]").Length() != 1 {
		t.Error("the card does not stand under the first part")
	}
}

func TestReasoningThatWasCutIsFetchedWhole(t *testing.T) {
	s := start(t)
	half := strings.Repeat("I think.\n", 700)
	cut, end := agenttest.Cut(""), agenttest.Says("So.")
	cut.Reasoning, end.Reasoning = half+"And I th", "ink again.\n"+half
	s.script.Then(cut, end)
	id := s.newSession(ann)
	s.says(ann, id, "go")
	b := s.signedIn(ann)
	link := b.get("/s/" + id).page(t).Find(".think [data-testid=show-all]")
	if want := half + "And I think again.\n" + half; link.Length() != 1 || string(b.get(link.AttrOr("href", "")).body) != want {
		t.Error("the reasoning is not one")
	}
}
