package views

import (
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
)

// want checks how many elements a selector finds, and what the first says.
func want(t *testing.T, doc *goquery.Document, selector string, n int, text ...string) {
	t.Helper()
	found := doc.Find(selector)
	if found.Length() != n {
		t.Errorf("%s: found %d, want %d", selector, found.Length(), n)
		return
	}
	for _, part := range text {
		if got := strings.Join(strings.Fields(found.First().Text()), " "); !strings.Contains(got, part) {
			t.Errorf("%s says %q, want %q in it", selector, got, part)
		}
	}
}

func TestCardOfACutOutput(t *testing.T) {
	doc := parse(t, Card(cutCard()))
	want(t, doc, `#t-c71[data-testid=tool-card][data-tool=run_command][data-state=ok]`, 1)
	want(t, doc, ".tool-head[aria-expanded=true][aria-controls=t-c71-b]", 1, "Ran cat ci/build.log", "0.3 s", "exit 0", "5.19 MB", "0.5 %")
	want(t, doc, ".saw p", 1, "The model saw 24,576 of 5,213,908 bytes", "sandbox", "truncated")
	want(t, doc, "svg.cov[role=img][data-testid=coverage]", 1)
	want(t, doc, `a.cut[href="/s/s1/out/o71?offset=8184"][hx-get="/s/s1/out/o71/pages?offset=8184"]`, 1, "5,189,332 bytes", "kept, not in the preview", "Open at byte 8,184")
	want(t, doc, ".cut .teeth.a", 1)
	want(t, doc, ".cut .teeth.b", 1)
	want(t, doc, ".out > .pre", 2)
	want(t, doc, `.pre[aria-label="Start of the output, bytes 0 to 8,184"]`, 1)
	want(t, doc, `.pre[aria-label^="End of the output, bytes 5,197,516 to"]`, 1)
	want(t, doc, ".out .term-fg31", 1, "error TS2307")
	want(t, doc, "#pages-c71 [data-testid=output-pager]", 1)
}

func TestCardOfAnIncompleteOutput(t *testing.T) {
	doc := parse(t, Card(lostCard()))
	want(t, doc, ".saw p:first-child", 1, "of 8,388,608 bytes kept", "incomplete")
	want(t, doc, ".lost-band[data-testid=output-incomplete]", 1, "3,611,460 bytes were never kept. There was more than an output may hold.")
	want(t, doc, ".cut", 2)
	want(t, doc, ".cut .teeth", 2) // only where text is beside it
	want(t, doc, ".saw .cov .lost", 1)
	want(t, doc, "[data-testid=output-open]", 1)
}

func TestCardOfAWholeResultHasNoBar(t *testing.T) {
	doc := parse(t, Card(errorCard()))
	want(t, doc, ".cov", 0)
	want(t, doc, ".cutchip", 0)
	want(t, doc, ".exit", 1, "exit 2")
	want(t, doc, ".stream.err", 1, "stderr, 287 bytes, shown whole")
	want(t, doc, ".tag.warn", 1, "no sandbox")
}

func TestCardOfAnUnsavedOutput(t *testing.T) {
	doc := parse(t, Card(unsavedCard()))
	want(t, doc, ".note.bad", 1, "This output could not be saved: the disk is full.")
	want(t, doc, "[data-testid=output-incomplete]", 1, "2,285,468 bytes were never kept")
	want(t, doc, "a[href*='/out/']", 0)
}

func TestCardOfADeletedOutput(t *testing.T) {
	body := *cutCard().Body
	body.DeletedAt = morning
	doc := parse(t, CardBodyFragment(body))
	want(t, doc, ".note", 1, "deleted on 2026-11-30 10:31")
	want(t, doc, ".pages", 0)
}

func TestCardOfARunningCommand(t *testing.T) {
	doc := parse(t, Card(liveCard()))
	want(t, doc, ".tool[data-state=running] [data-since]", 1)
	want(t, doc, ".term[data-live=c77][data-raw]", 1, "progress 52 %")
	want(t, doc, `form[hx-post="/s/s1/calls/c77/stop"] [data-testid=tool-stop]`, 1)
	want(t, doc, "[data-live-bytes]", 1, "18,402 bytes so far")
	want(t, doc, "[aria-live]", 0)
}

func TestCardOfAChange(t *testing.T) {
	doc := parse(t, Card(diffCard()))
	want(t, doc, ".diff tr.add", 3, "12+")
	want(t, doc, ".diff tr.del", 1, "return formatCents")
	want(t, doc, ".exit", 1, "+3 −1")
}

func TestClosedCardFetchesItsBody(t *testing.T) {
	doc := parse(t, Card(closedCards()[1]))
	want(t, doc, `.tool-body[hidden][data-lazy][hx-get="/s/s1/calls/c72"][hx-trigger=unfold]`, 1)
	want(t, doc, ".covmini", 1, "unread")
}

func TestRowsSayHowACallEnded(t *testing.T) {
	said := map[string]string{
		CardWaiting: "waiting", CardDenied: "denied", CardStopped: "stopped", CardInterrupted: "interrupted", CardError: "failed",
	}
	for state, word := range said {
		doc := parse(t, Card(ToolCard{CallID: "c", Tool: "read_file", State: state, Took: time.Second}))
		want(t, doc, ".exit", 1, word)
	}
	for failed, words := range map[bool]string{true: "Could not run ls", false: "Ran ls"} {
		want(t, parse(t, Card(ToolCard{CallID: "c", Tool: "run_command", State: CardError, Failed: failed, Subject: "ls"})), ".what", 1, words)
	}
	unstarted := parse(t, Card(ToolCard{CallID: "c", Tool: "write_file", State: CardInterrupted, Failed: true, Unstarted: true, Subject: "a.txt", Took: -1}))
	want(t, unstarted, ".what", 1, "Write a.txt")
	want(t, unstarted, ".exit", 1, "not started")
	want(t, parse(t, Card(ToolCard{CallID: "c", Tool: "run_command", State: "ok", Incomplete: true, Coverage: &Coverage{Total: 9}})), ".covmini > span:not(.sr)", 1, "incomplete")
	want(t, parse(t, Card(ToolCard{CallID: "c", Tool: "run_command", State: CardError, Signal: "SIGKILL"})), ".exit", 1, "SIGKILL")
	want(t, parse(t, Card(ToolCard{CallID: "c", Tool: "run_command", State: CardError, TimedOut: true, Signal: "SIGKILL"})), ".exit", 1, "timed out")
}

func TestForeignTextIsEscapedEverywhere(t *testing.T) {
	evil := `"><script>alert(1)</script>`
	card := ToolCard{
		CallID: "c", Tool: evil, State: CardError, Subject: evil, Open: true,
		Body: &CardBody{
			CallID: "c", Subject: evil + "\nx", Arguments: evil, SandboxKind: evil, Outcome: evil, Unsaved: true, SaveError: evil, Sandbox: ptr(true),
			Diff: "@@ -1 +1 @@\n+" + evil, Pieces: []PreviewPiece{{Kind: PieceText, Text: evil, Stream: evil}, {Kind: PieceLost}},
		},
	}
	chat := Chat{SessionID: "s", Title: evil, Draft: evil, Problem: evil, Sidebar: Sidebar{Query: evil, Groups: []SessionGroup{{Items: []SessionItem{{ID: "i", Title: evil}}}}}}
	chat.Log.Entries = []Entry{
		{User: &UserMessage{ID: "m", Content: evil}},
		{Answer: &Answer{TurnID: "t", Parts: []Part{{MessageID: "p", Tail: evil, Reasoning: evil, Cards: []ToolCard{card}}}, End: TurnEnd{State: "error", Error: evil, Code: evil, Model: evil, Rests: &Rests{
			SessionID: evil, Own: []Rest{{OutputID: evil, Title: evil, Total: 2, Seen: 1}}, Earlier: []Rest{{CallID: evil, Tool: evil}, {Tool: evil}},
			Absence: &Absence{Sentence: evil, Term: evil, Outputs: []Rest{{OutputID: evil, Title: evil}}},
		}}}},
	}
	output := Output{SessionTitle: evil, Pager: Pager{Title: evil, Text: evil, Problem: evil, SHA256: evil, Search: Search{Query: evil, Problem: evil, Hits: []Hit{{Text: evil}}}}}
	for name, page := range map[string]*goquery.Document{
		"chat": parse(t, ChatPage(chat)), "output": parse(t, OutputPage(output)), "login": parse(t, LoginPage(Login{Name: evil, Next: evil})),
		"error": parse(t, ErrorPage(Failure{Status: 400, Message: evil, Reference: evil})),
	} {
		page.Find("script:not([src])").Each(func(_ int, s *goquery.Selection) { t.Errorf("%s: a script: %s", name, s.Text()) })
	}
}

func TestAFactIsSaidInAFewWords(t *testing.T) {
	for text, fact := range map[string]Fact{
		"23 files":          {Kind: FactFiles, N: 23},
		"1 file":            {Kind: FactFiles, N: 1},
		"1,000+ entries":    {Kind: FactEntries, N: 1000, More: true},
		"0 hits":            {Kind: FactHits},
		"2,000 lines":       {Kind: FactLines, N: 2000},
		"32,768 bytes":      {Kind: FactBytes, N: 32768},
		"bytes 4,096–8,192": {Kind: FactRange, N: 4096, M: 8192},
		"+2 −1":             {Kind: FactChange, N: 2, M: 1},
	} {
		want(t, parse(t, Card(ToolCard{CallID: "c", State: CardOK, Fact: fact})), ".facts .exit", 1, text)
	}
}

func TestTheHeadOfACardTurnsNoTextAround(t *testing.T) {
	doc := parse(t, Card(ToolCard{CallID: "c", Tool: "run_command", State: CardError, Subject: "echo \u202e <b> x"}))
	want(t, doc, ".tool-head code", 1, "echo \u202e <b> x")
	want(t, doc, ".tool-head code .ctl", 1)
}
