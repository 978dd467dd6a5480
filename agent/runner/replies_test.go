package runner

import (
	"strings"
	"sync"
	"testing"
	"time"

	"offcut/agent/agenttest"
	"offcut/agent/events"
	"offcut/models"
)

// notes are the replies that are written down.
type notes struct {
	mu    sync.Mutex
	texts map[string]string
	gone  []string
}

func (n *notes) Add(id, text, reasoning string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.texts == nil {
		n.texts = map[string]string{}
	}
	n.texts[id] += reasoning + text
}

func (n *notes) Remove(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.texts, id)
	n.gone = append(n.gone, id)
}

func (n *notes) of(id string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.texts[id]
}

func TestWhatIsToldIsWrittenDownBefore(t *testing.T) {
	n, release := &notes{}, make(chan struct{})
	h := newHouse(t, func(c *Config) { c.Replies, c.Limits.SaveEvery = n, time.Hour },
		agenttest.Step{Chunks: strings.SplitAfter("one two three four", " "), Delay: 10 * time.Millisecond, Hold: release, Finish: models.FinishStop})
	session := h.session()
	w := h.watch(session)
	turn := h.send(session, "go")
	told := ""
	for !strings.HasSuffix(told, "four") {
		e := w.until("text", func(e events.Event) bool { return e.Kind == events.KindText })
		told += e.Text
		if written := n.of(e.MessageID); !strings.HasPrefix(written, told) {
			t.Errorf("%q is told, and %q written down", told, written)
		}
	}
	close(release)
	h.rest(turn)
	reply := h.messages(session)[1]
	if len(n.gone) != 1 || n.gone[0] != reply.ID || reply.Content != told {
		t.Errorf("%+v is stored, and what was written down of %v is gone", reply, n.gone)
	}
}
