package runner

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/events"
	"offcut/models"
)

// lines is Blocks in which each line is a block.
type lines struct{ open string }

func (l *lines) Push(text string) (string, string, bool) {
	l.open += text
	i := strings.LastIndexByte(l.open, '\n')
	if i < 0 {
		return "", "", false
	}
	html := "<p>" + strings.ReplaceAll(l.open[:i], "\n", "</p><p>") + "</p>"
	l.open = l.open[i+1:]
	return html, l.open, true
}

func (l *lines) Finish() string {
	defer func() { l.open = "" }()
	if l.open == "" {
		return ""
	}
	return "<p>" + l.open + "</p>"
}

// screen is what a browser shows of one reply.
type screen struct{ html, tail string }

func (s *screen) take(e events.Event) {
	switch e.Kind {
	case events.KindText:
		s.tail += e.Text
	case events.KindSeal:
		s.html += e.HTML
		s.tail = e.Text
	}
}

func TestWhoeverJoinsAReplySeesAllOfItOnce(t *testing.T) {
	var chunks []string
	var want strings.Builder
	for i := range 300 {
		chunks = append(chunks, fmt.Sprintf("word%d ", i))
		if i%7 == 6 {
			chunks[i] += "\n"
		}
		want.WriteString(chunks[i])
	}
	whole := &lines{}
	full, _, _ := whole.Push(want.String())
	full += whole.Finish()

	h := newHouse(t, func(c *Config) { c.Blocks = func() Blocks { return &lines{} } }, agenttest.Streams(chunks, 500*time.Microsecond))
	session := h.session()
	turn := h.send(session, "go")

	type visitor struct {
		screen screen
		sub    *events.Subscription
	}
	var visitors []*visitor
	for range 40 { // they come while it streams
		time.Sleep(3 * time.Millisecond)
		live := h.runner.Live(session)
		sub, ok := h.broker.Subscribe(session, live.Seq)
		if !ok {
			t.Fatal("a fresh page cannot watch on")
		}
		defer sub.Close()
		visitors = append(visitors, &visitor{screen{live.HTML, live.Rest}, sub})
	}
	h.rest(turn)
	if got := h.messages(session)[1].Content; got != want.String() {
		t.Errorf("stored %d bytes, want %d", len(got), want.Len())
	}
	for i, v := range visitors {
		for e := range v.sub.Events() {
			v.screen.take(e)
			if e.Kind == events.KindTurn && e.State.Final() {
				break
			}
		}
		if v.screen.html != full || v.screen.tail != "" {
			t.Errorf("visitor %d sees %d bytes and %q, want %d bytes", i, len(v.screen.html), v.screen.tail, len(full))
		}
	}
	if live := h.runner.Live(session); live.MessageID != "" || live.TurnID != "" {
		t.Errorf("after the end: %+v", live)
	}
}

func TestTextIsToldInFewPackets(t *testing.T) {
	h := newHouse(t, func(c *Config) { c.Limits.Coalesce = 20 * time.Millisecond }, agenttest.Streams(slices.Repeat([]string{"x"}, 2000), 0))
	session := h.session()
	w := h.watch(session)
	turn := h.rest(h.send(session, "go"))
	w.state(turn, models.StateDone)
	packets, size := 0, 0
	for _, e := range w.seen {
		if e.Kind == events.KindText {
			packets++
			size += len(e.Text)
		}
	}
	if size != 2000 || packets > 100 {
		t.Errorf("%d bytes in %d packets", size, packets)
	}
}

func TestABurstIsToldInSmallPieces(t *testing.T) {
	burst := strings.Repeat("xüß", 100_000)
	h := newHouse(t, nil, agenttest.Streams([]string{burst}, 0))
	session := h.session()
	w := h.watch(session)
	turn := h.rest(h.send(session, "go"))
	w.state(turn, models.StateDone)
	var told strings.Builder
	for _, e := range w.seen {
		if e.Kind != events.KindText {
			continue
		}
		if told.WriteString(e.Text); len(e.Text) > mostSaid || !utf8.ValidString(e.Text) {
			t.Errorf("a piece of %d bytes, of whole characters: %v", len(e.Text), utf8.ValidString(e.Text))
		}
	}
	if told.String() != burst {
		t.Errorf("%d bytes were told of %d", told.Len(), len(burst))
	}
}

func TestTheFirstPieceIsToldAtOnce(t *testing.T) {
	h := newHouse(t, func(c *Config) { c.Limits.Coalesce = time.Hour }, agenttest.Blocks("first", make(chan struct{})))
	session := h.session()
	w := h.watch(session)
	h.send(session, "go")
	w.text("first")
}

func TestAReplyIsStoredSeldomWhileItGrows(t *testing.T) {
	var counted *counting
	chunks := slices.Repeat([]string{strings.Repeat("x", 100)}, 5000)
	h := newHouse(t, func(c *Config) {
		counted = &counting{Store: c.Store}
		c.Store = counted
		c.Limits.Coalesce = time.Millisecond
	}, agenttest.Streams(chunks, 0))
	h.rest(h.send(h.session(), "go"))
	if counted.bytes > 8*100*5000 {
		t.Errorf("%d bytes were written in %d writes for a reply of %d", counted.bytes, counted.writes, 100*5000)
	}
}

// counting counts what is written of replies.
type counting struct {
	Store
	mu            sync.Mutex
	writes, bytes int
}

func (c *counting) SaveMessage(ctx context.Context, m models.Message) error {
	c.mu.Lock()
	c.writes++
	c.bytes += len(m.Content)
	c.mu.Unlock()
	return c.Store.SaveMessage(ctx, m)
}

func TestTheTailOfARunningCallIsBounded(t *testing.T) {
	printed := make(chan struct{})
	release := make(chan struct{})
	tool := agenttest.ToolFunc("command", func(_ context.Context, c agent.Call) (agent.ToolResult, error) {
		for i := range 3000 {
			c.Live(strings.Repeat("ü", 100), int64(i+1)*1000) // most of it goes by unseen
		}
		close(printed)
		<-release
		go c.Live("after the end", 3_000_013)
		return agenttest.Text("x"), nil
	})
	h := newHouse(t, func(c *Config) { c.Tools = []agent.Tool{tool} }, agenttest.Calls("command", "{}"), agenttest.Says("end"))
	session := h.session()
	turn := h.send(session, "go")
	<-printed
	live := h.runner.Live(session)
	if len(live.Calls) != 1 || live.Calls[0].Bytes != 3_000_000 {
		t.Fatalf("live %d calls", len(live.Calls))
	}
	if tail := live.Calls[0].Tail; len(tail) > tailBytes || len(tail) < tailBytes-4 || strings.Trim(tail, "ü") != "" {
		t.Errorf("a tail of %d bytes", len(tail))
	}
	close(release)
	h.rest(turn)
}

func TestNothingIsLeftRunning(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("turns", func(t *testing.T) {
		h := newHouse(t, func(c *Config) { c.Tools = append(c.Tools, waits("x", nil)) })
		for i := range 30 {
			session := h.session()
			w := h.watch(session)
			switch i % 3 {
			case 0:
				h.script.Then(agenttest.Says("x"))
				h.rest(h.send(session, "go"))
			case 1:
				h.script.Then(agenttest.Blocks("x", nil), agenttest.Calls("command", "{}"))
				h.rest(h.send(session, "go"))
				turn := h.send(session, "go")
				w.call(models.CallRunning)
				h.must(h.runner.Stop(t.Context(), turn.ID))
				h.rest(turn)
			case 2:
				h.script.Then(agenttest.Step{Chunks: []string{"x"}, Panic: "no"})
				h.rest(h.send(session, "go"))
			}
			w.sub.Close()
		}
	})
	for range 200 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}

// The figures take what a call within a script came to, once: its arguments can
// be megabytes, and there are two hundred of them.
func TestOfACallWithinAScriptTheArgumentsAreNotHeld(t *testing.T) {
	program := agenttest.ToolFunc("program", func(_ context.Context, c agent.Call) (agent.ToolResult, error) {
		c.Made(models.NestedCall{
			ID: models.NestedCallID(c.ID, 1), Tool: "look", Arguments: "{}", State: models.CallOK,
			Result: &models.NestedResult{Arguments: `{"a":"b"}`, Metadata: models.ResultMetadata{Passage: models.Ptr(models.Whole(7))}},
		})
		return agenttest.Text("done"), nil
	})
	h := newHouse(t, func(c *Config) { c.Tools = append(c.Tools, program) }, agenttest.Calls("program", "{}"), agenttest.Says("done"))
	session := h.session()
	w := h.watch(session)
	h.rest(h.send(session, "go"))
	e := w.until("a call within a call", func(e events.Event) bool { return e.Kind == events.KindNested })
	if e.Nested.Tool != "look" || e.Nested.Result != nil {
		t.Errorf("told of %+v", e.Nested)
	}
	if sent, err := h.store.Sent(t.Context(), session); err != nil || len(sent) != 2 {
		t.Errorf("the figures know of %v, %v", sent, err)
	}
}
