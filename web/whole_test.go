package web

import (
	"strings"
	"testing"

	"offcut/agent/agenttest"
)

func TestWhatIsLongIsFetchedWhenItIsAskedFor(t *testing.T) {
	s := start(t)
	thoughts, question := strings.Repeat("I think.\n", 7000), strings.Repeat("a pasted line\n", 70_000)
	for range 20 {
		step := agenttest.Calls("print", `{"text":"x"}`)
		step.Reasoning = thoughts
		s.script.Then(step)
	}
	s.script.Then(agenttest.Says("Done."))
	id := s.newSession(ann)
	s.says(ann, id, question)
	b := s.signedIn(ann)
	a := b.get("/s/" + id)
	if len(a.body) > 512<<10 {
		t.Errorf("the page has %d bytes", len(a.body))
	}
	for _, tt := range []struct{ in, whole, want string }{
		{"[data-role=user]", ".said", question}, {".think", ".reason", thoughts},
	} {
		link := a.page(t).Find(tt.in + " [data-testid=show-all]").First()
		if !strings.Contains(link.Text(), commas(len(tt.want))+" bytes") {
			t.Errorf("%s: the link says %q", tt.in, link.Text())
		}
		whole := b.get(link.AttrOr("hx-get", ""), "HX-Request", "true").page(t)
		if got := whole.Find(tt.whole).Text(); strings.TrimSpace(got) != strings.TrimSpace(tt.want) || whole.Find("[data-testid=show-all]").Length() > 0 {
			t.Errorf("%s: fetched are %d bytes, want %d", tt.in, len(got), len(tt.want))
		}
		if plain := b.get(link.AttrOr("href", "")); string(plain.body) != tt.want || !strings.HasPrefix(plain.header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s: without scripts %d bytes come", tt.in, len(plain.body))
		}
	}
}
