package store

import (
	"testing"

	"offcut/models"
)

func TestARunningReplyTakesWhatHadBeenShown(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	turn := run(t, s, "s", "go", start)
	message := func(text string, state models.State) models.Message {
		m := say(t, s, turn, text)
		m.Reasoning, m.State = "thought", state
		must(t, s.SaveMessage(t.Context(), m))
		return m
	}
	for _, test := range []struct {
		name, stored       string
		state              models.State
		content, reasoning string
		want, thought      string
	}{
		{"more of both", "só", models.StateRunning, "só far", "thought of it", "só far", "thought of it"},
		{"more of one", "so far", models.StateRunning, "so", "thought of it", "so far", "thought of it"},
		{"as long", "so", models.StateRunning, "xx", "", "so", "thought"},
		{"it had ended", "so", models.StateDone, "so far", "thought of it", "so", "thought"},
	} {
		m := message(test.stored, test.state)
		must(t, s.LengthenReply(t.Context(), m.ID, test.content, test.reasoning))
		if read := got(s.Message(t.Context(), "s", m.ID))(t); read.Content != test.want || read.Reasoning != test.thought || read.State != test.state {
			t.Errorf("%s: %+v", test.name, read)
		}
	}
	must(t, s.LengthenReply(t.Context(), "msg_gone", "text", ""))
}
