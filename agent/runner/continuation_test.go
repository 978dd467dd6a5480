package runner

import (
	"slices"
	"strings"
	"testing"

	"offcut/agent/agenttest"
	"offcut/agent/events"
	"offcut/models"
)

// told is what watchers were told of the answers' texts, by the ids under which
// it came, in the order of their first.
func told(seen []events.Event) (ids []string, screens map[string]*screen, thoughts map[string]string) {
	screens, thoughts = map[string]*screen{}, map[string]string{}
	for _, e := range seen {
		switch e.Kind {
		case events.KindMessage:
			if e.State == models.StateRunning {
				ids, screens[e.MessageID] = append(ids, e.MessageID), &screen{}
			}
		case events.KindText, events.KindSeal:
			screens[e.MessageID].take(e)
		case events.KindReasoning:
			thoughts[e.MessageID] += e.Text
		}
	}
	return ids, screens, thoughts
}

func TestAContinuedReplyIsToldAsOneText(t *testing.T) {
	thinks := func(step agenttest.Step, reasoning string) agenttest.Step {
		step.Reasoning = reasoning
		return step
	}
	look := agenttest.Calls("look", "{}")
	look.Chunks = []string{"rd\nlast"}
	tests := map[string]struct {
		steps    []agenttest.Step
		state    models.State
		html     []string // of each part
		thoughts []string
	}{
		"a torn word": {
			[]agenttest.Step{agenttest.Cut("one\nmid-wo"), agenttest.Says("rd\nlast")},
			models.StateDone,
			[]string{"<p>one</p><p>mid-word</p><p>last</p>"},
			[]string{""},
		},
		"a torn thought, and a new one": {
			[]agenttest.Step{thinks(agenttest.Cut(""), "I thi"), thinks(agenttest.Cut("a"), "nk."), thinks(agenttest.Says("b"), "Then.")},
			models.StateDone,
			[]string{"<p>ab</p>"},
			[]string{"I think.\n\nThen."},
		},
		"tool calls end the part": {
			[]agenttest.Step{agenttest.Cut("mid-wo"), look, agenttest.Says("seen")},
			models.StateDone,
			[]string{"<p>mid-word</p><p>last</p>", "<p>seen</p>"},
			[]string{"", ""},
		},
		"calls alone go on with it": {
			[]agenttest.Step{agenttest.Cut("Looking"), agenttest.Calls("look", "{}"), agenttest.Says("seen")},
			models.StateDone,
			[]string{"<p>Looking</p>", "<p>seen</p>"},
			[]string{"", ""},
		},
		"cut once more with nothing said": {
			[]agenttest.Step{agenttest.Cut(""), agenttest.Cut("mid-wo"), agenttest.Cut(""), agenttest.Says("rd")},
			models.StateDone,
			[]string{"<p>mid-word</p>"},
			[]string{""},
		},
		"the cap": {
			[]agenttest.Step{agenttest.Cut("a"), agenttest.Cut("b"), agenttest.Cut("c"), agenttest.Cut("d")},
			models.StateError,
			[]string{"<p>abcd</p>"},
			[]string{""},
		},
		"a continuation that breaks off": {
			[]agenttest.Step{agenttest.Cut("mid-wo"), agenttest.Breaks("rd, th")},
			models.StateInterrupted,
			[]string{"<p>mid-word, th</p>"},
			[]string{""},
		},
		"a continuation that is refused": {
			[]agenttest.Step{agenttest.Cut("mid-wo")},
			models.StateError,
			[]string{"<p>mid-wo</p>"},
			[]string{""},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, func(c *Config) { c.Blocks = func() Blocks { return &lines{} } }, tt.steps...)
			session := h.session()
			w := h.watch(session)
			turn := h.rest(h.send(session, "go"))
			w.state(turn, tt.state)
			ids, screens, thoughts := told(w.seen)
			var html, reasoning, stored []string
			for _, id := range ids {
				html, reasoning = append(html, screens[id].html), append(reasoning, thoughts[id])
				if screens[id].tail != "" {
					t.Errorf("the tail %q is left", screens[id].tail)
				}
			}
			if !slices.Equal(html, tt.html) || !slices.Equal(reasoning, tt.thoughts) {
				t.Errorf("told were %q with the reasoning %q, want %q with %q", html, reasoning, tt.html, tt.thoughts)
			}
			for _, m := range models.JoinReplies(h.messages(session)) {
				if m.Role == models.RoleAssistant && m.Content+m.Reasoning != "" {
					stored = append(stored, m.ID)
				}
			}
			if !slices.Equal(ids, stored) {
				t.Errorf("told under %v; the joined replies are %v", ids, stored)
			}
		})
	}
}

func TestWhoJoinsInMidContinuationSeesTheTextOnce(t *testing.T) {
	release := make(chan struct{})
	h := newHouse(t, func(c *Config) { c.Blocks = func() Blocks { return &lines{} } },
		agenttest.Cut("one\nmid-wo"), agenttest.Blocks("rd\nla", release))
	session := h.session()
	w := h.watch(session)
	turn := h.send(session, "go")
	w.text("la")
	live := h.runner.Live(session)
	stored := h.messages(session)
	if first := stored[1].ID; live.MessageID != first || live.HTML != "<p>one</p><p>mid-word</p>" || live.Rest != "la" {
		t.Errorf("a page shows %q and %q under %s, the first reply is %s", live.HTML, live.Rest, live.MessageID, first)
	}
	sub, _ := h.broker.Subscribe(session, live.Seq)
	defer sub.Close()
	close(release)
	h.rest(turn)
	joins := screen{live.HTML, live.Rest}
	for e := range sub.Events() {
		joins.take(e)
		if e.Kind == events.KindTurn && e.State.Final() {
			break
		}
	}
	if joins.html != "<p>one</p><p>mid-word</p><p>la</p>" || joins.tail != "" {
		t.Errorf("who joined sees %q and %q", joins.html, joins.tail)
	}
	if live := h.runner.Live(session); live.MessageID != "" {
		t.Errorf("after the end %s is being written", live.MessageID)
	}
}

func TestBetweenACutReplyAndTheNextNothingIsMissing(t *testing.T) {
	waits := make(chan struct{})
	h := newHouse(t, nil, agenttest.Cut("mid-wo"), agenttest.Blocks("", waits))
	session := h.session()
	turn := h.send(session, "go")
	if !h.script.Await(t.Context(), 2) {
		t.Fatal("there was no continuation")
	}
	live := h.runner.Live(session)
	if stored := h.messages(session); live.MessageID != stored[1].ID || live.Rest != "mid-wo" {
		t.Errorf("live is %+v", live)
	}
	close(waits)
	h.rest(turn)
	if got := strings.Count(h.logs.String(), "ERROR"); got != 0 {
		t.Error(h.logs.String())
	}
}
