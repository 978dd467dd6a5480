package web

import (
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/models"
)

func TestTheListOfReadsIsBoundedAndSaysSo(t *testing.T) {
	s := start(t)
	id, output := s.withOutput(lines(1000))
	turn := s.wants(200, ann, "GET", "/sessions/"+id+"/messages", nil)["items"].([]any)[0].(map[string]any)["turn_id"].(string)
	b := s.signedIn(ann)
	page := "/s/" + id + "/out/" + output
	if a := b.get(page); strings.Contains(string(a.body), "of its reads") {
		t.Error("a short list is called cut")
	}
	var reads []models.OutputRead
	for at := range int64(300) { // none touches the one before
		reads = append(reads, models.OutputRead{
			OutputID: output, TurnID: turn, CallID: "c", Kind: models.ReadPage, Range: models.Range{Start: 10 * at, End: 10*at + 5}, At: time.Now(),
		})
	}
	_, err := s.store.AppendReply(t.Context(), models.Message{SessionID: id, TurnID: turn, Role: models.RoleAssistant, State: models.StateDone, CreatedAt: time.Now()}, models.Proof{Reads: reads})
	must(t, err)
	doc := b.get(page).page(t)
	if n := doc.Find("aside.side time[data-clock]").Length(); n != 100 {
		t.Errorf("%d reads are listed", n)
	}
	if text := doc.Find("aside.side").Text(); !strings.Contains(text, "The last 100 of its reads.") {
		t.Errorf("it does not say that there are more: %s", text)
	}
}

func TestTheModelSawNothingThatNoRequestOfItHeld(t *testing.T) {
	down := agenttest.Fails(&agent.ModelError{Code: models.CodeProviderError, Message: "It is down."})
	for _, tt := range []struct {
		name              string
		call              agenttest.Step
		unsent, sent, bar string
	}{
		{"a cut result", agenttest.Calls("print", `{"text":"`+strings.Repeat("x", 1000)+`"}`), "The model saw none of 1,000 bytes", "The model saw 200 of 1,000 bytes", "unread"},
		{"a whole one", agenttest.Calls("note", `{}`), "The model saw none of 5 bytes", "The model saw it whole: 5 bytes", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, offering(agenttest.Returns("note", "noted")))
			s.script.Then(tt.call, down)
			id := s.newSession(ann)
			s.says(ann, id, "go")
			row, body := s.cardIn(id)
			if saw := body.Find(".saw p").Text(); !strings.Contains(saw, tt.unsent) || body.Find(".saw[data-unread]").Length() != 1 {
				t.Errorf("before it was sent the card says %q", saw)
			}
			if bar := row.Find(".covmini").Text(); !strings.Contains(bar, tt.bar) || row.Find("svg.cov rect.read").Length() != 0 {
				t.Errorf("before it was sent the row says %q", bar)
			}
			s.script.Then(agenttest.Says("Seen."))
			s.says(ann, id, "go on")
			row, body = s.cardIn(id)
			if saw := body.Find(".saw p").Text(); !strings.Contains(saw, tt.sent) || body.Find("[data-unread]").Length() != 0 {
				t.Errorf("once it was sent the card says %q", saw)
			}
			if strings.Contains(row.Text(), "unread") {
				t.Errorf("once it was sent the row says %q", row.Text())
			}
		})
	}
}
