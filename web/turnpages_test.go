package web

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/models"

	"github.com/PuerkitoBio/goquery"
)

// A turn longer than any page of the store is one answer on one page.
func TestATurnOfManyStepsIsOneAnswer(t *testing.T) {
	s := start(t, offering(agenttest.Returns("look", "seen")))
	id := s.newSession(ann)
	s.seed(id, "before", "yes")
	for i := range 60 {
		s.script.Then(agenttest.Calls("look", fmt.Sprintf(`{"at":%d}`, i)))
	}
	s.script.Then(agenttest.Says("Looked."))
	s.says(ann, id, "look sixty times")
	doc := s.signedIn(ann).get("/s/" + id).page(t)
	if got := doc.Find("[data-role=assistant]").Last().Find("[data-testid=tool-card]").Length(); got != 60 {
		t.Errorf("the answer has %d cards, want 60", got)
	}
	ids := map[string]bool{}
	doc.Find("[id]").Each(func(_ int, e *goquery.Selection) {
		id := e.AttrOr("id", "")
		if ids[id] {
			t.Errorf("the id %q is there twice", id)
		}
		ids[id] = true
	})
}

func TestARunningTurnIsOnThePageAsFarAsItCame(t *testing.T) {
	release := make(chan struct{})
	waits := agenttest.ToolFunc("wait", func(ctx context.Context, call agent.Call) (agent.ToolResult, error) {
		call.Live("printed so far\n", 15)
		select {
		case <-release:
		case <-ctx.Done():
		}
		return agenttest.Text("over"), nil
	})
	s := start(t, offering(waits))
	s.script.Then(agenttest.Calls("wait", `{}`), agenttest.Says("Done."))
	id := s.newSession(ann)
	turn := s.wants(202, ann, "POST", "/sessions/"+id+"/messages", `{"content":"wait"}`)["turn_id"].(string)
	s.wants(202, ann, "POST", "/sessions/"+id+"/messages", `{"content":"and then?"}`)
	b := s.signedIn(ann)
	var doc *goquery.Document
	for range 200 {
		doc = b.get("/s/" + id).page(t)
		if strings.Contains(doc.Find("[data-live]").Text(), "printed so far") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	card := doc.Find("[data-testid=tool-card]")
	if card.AttrOr("data-state", "") != "running" || card.Find("[data-testid=tool-stop]").Length() != 1 {
		t.Errorf("the running card: %q", card.AttrOr("data-state", ""))
	}
	if got := roles(doc); got != "user done, assistant running, user queued" {
		t.Errorf("the page shows %q", got)
	}
	if got := doc.Find("#chat").AttrOr("data-turn", ""); got != turn {
		t.Errorf("the running turn is %q, want %q", got, turn)
	}
	if got := doc.Find("title").Text(); !strings.HasPrefix(got, "● ") || strings.HasPrefix(doc.Find("#chat").AttrOr("data-title", ""), "●") {
		t.Errorf("the title of the window is %q", got)
	}
	s.script.Then(agenttest.Says("Then this."))
	close(release)
	for _, turn := range s.turnsOf(ann, id) {
		s.rests(ann, turn)
	}
	if got := roles(b.get("/s/" + id).page(t)); got != "user done, assistant done, user done, assistant done" {
		t.Errorf("in the end the page shows %q", got)
	}
}

func TestATurnThatFailedSaysWhy(t *testing.T) {
	s := start(t)
	s.script.Then(agenttest.Fails(&agent.ModelError{Code: models.CodeProviderRefused, Status: 400, Message: "The model does not like the letter q."}), agenttest.Breaks("Half a sentence"))
	id := s.newSession(ann)
	b := s.signedIn(ann)
	if turn := s.says(ann, id, "refuse me"); turn["state"] != "error" || turn["error_code"] != "provider_refused" {
		t.Fatalf("the turn is %v", turn)
	}
	doc := b.get("/s/" + id).page(t)
	if got := roles(doc); got != "user done, assistant error" {
		t.Errorf("the page shows %q", got)
	}
	if got := doc.Find("[data-testid=turn-error]").Text(); !strings.Contains(got, "the letter q.") || !strings.Contains(got, "settings") {
		t.Errorf("the error says %q, without what to do next", got)
	}
	if n := doc.Find("[data-copy-answer]").Length(); n != 0 {
		t.Error("an answer without words can be copied")
	}
	s.says(ann, id, "break off")
	doc = b.get("/s/" + id).page(t)
	if got := roles(doc); got != "user done, assistant error, user done, assistant interrupted" {
		t.Errorf("the page shows %q", got)
	}
	if got := doc.Find("[data-role=assistant]").Last().Text(); !strings.Contains(got, "Half a sentence") {
		t.Errorf("the broken answer is %q", got)
	}
	if n := doc.Find("[data-copy-answer]").Length(); n != 1 {
		t.Error("half an answer cannot be copied")
	}
}

func TestAPageThatIsLoadedDuringARetryCountsDown(t *testing.T) {
	release := make(chan struct{})
	s := start(t)
	step := agenttest.Blocks("", release)
	step.Retries = []agent.Retry{{Attempt: 3, Most: 10, Wait: time.Minute, Reason: "The server is busy."}}
	s.script.Then(step)
	id := s.newSession(ann)
	turn := s.wants(202, ann, "POST", "/sessions/"+id+"/messages", `{"content":"go"}`)["turn_id"].(string)
	b := s.signedIn(ann)
	var notice *goquery.Selection
	for range 200 {
		if notice = b.get("/s/" + id).page(t).Find(".turn-end [data-testid=retry-notice]"); notice.Length() > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	until, _ := strconv.ParseInt(notice.AttrOr("data-until", ""), 10, 64)
	if left := time.Until(time.UnixMilli(until)); left < 50*time.Second || left > time.Minute {
		t.Errorf("the next try is in %v", left)
	}
	if text := notice.Text(); !strings.Contains(text, "The server is busy.") || !strings.Contains(text, "(3 of 10)") {
		t.Errorf("the notice says %q", text)
	}
	close(release)
	s.rests(ann, turn)
	if n := b.get("/s/" + id).page(t).Find(".turn-end [data-testid=retry-notice]").Length(); n > 0 {
		t.Error("the notice outlives the wait")
	}
}

func TestAnAnswerOfNothingSaysSo(t *testing.T) {
	s := start(t)
	s.prints("printed\n")
	s.script.Then(agenttest.Says(""), agenttest.Cut("First half, "), agenttest.Says("second half."))
	id := s.newSession(ann)
	for _, content := range []string{"print", "nothing?", "now two halves"} {
		s.says(ann, id, content)
	}
	var said []bool
	s.signedIn(ann).get("/s/" + id).page(t).Find("[data-role=assistant] .turn-end").Each(func(_ int, end *goquery.Selection) {
		said = append(said, strings.Contains(end.Text(), "The model answered nothing."))
	})
	if want := []bool{false, true, false}; !slices.Equal(said, want) {
		t.Errorf("the answers say that they are of nothing: %v, want %v", said, want)
	}
}
