package contextwin_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/contextwin"
	"offcut/models"
)

// story is a session as anything may have gone in it, told by bytes: turns with
// calls, alone and in groups, results that are large or missing, stops, cuts,
// continuations, replies of reasoning alone, pauses, restarts and refusals.
type story struct {
	t       *testing.T
	limits  contextwin.Limits
	book    *notebook
	model   agent.Model
	window  *begun // of the turn that runs
	history []models.Message
	turn    int
	now     time.Time
	sent    []models.Message // by the last request
}

func (s *story) add(m models.Message) {
	s.now = s.now.Add(time.Second)
	m.ID, m.SessionID, m.TurnID, m.CreatedAt = fmt.Sprint("msg_", len(s.history)), "ses_1", fmt.Sprint("trn_", s.turn), s.now
	s.history = append(s.history, m)
}

func (s *story) begin(bytes int) {
	s.turn++
	s.window = s.book.window(s.limits, s.model)
	s.add(user(fmt.Sprint("question ", s.turn, text(bytes)), models.StateDone))
}

// happens is what one byte tells.
func (s *story) happens(b byte) {
	n := int(b >> 4)
	switch b % 11 {
	case 0, 1:
		s.begin(n * 300)
	case 2, 3:
		s.step(n%3+1, n*700, false)
	case 4:
		s.step(n%4+1, n*300, true) // the last result is missing
	case 5:
		s.add(assistant("answer " + text(n*200)))
	case 6:
		m := assistant("cut " + text(n*100))
		m.FinishReason = models.FinishLength
		s.add(m)
		hidden := user("go on", models.StateDone)
		hidden.IsMeta = true
		s.add(hidden)
	case 7:
		s.add(thinking(models.StateStopped, ""))
		s.begin(n)
	case 8:
		s.now = s.now.Add(10 * time.Minute)
	case 9:
		s.begin(n)
		s.history[len(s.history)-1].State = models.StateQueued
	case 10:
		s.refused()
		return
	}
	s.asks()
}

func (s *story) step(calls, bytes int, missing bool) {
	m := assistant("")
	for i := range calls {
		m.ToolCalls = append(m.ToolCalls, models.ToolCall{ID: fmt.Sprintf("call_%d_%d", len(s.history), i), Name: "look", Arguments: "{}"})
	}
	s.add(m)
	for i, c := range m.ToolCalls {
		if !missing || i < calls-1 {
			s.add(result(c.ID, text(bytes)))
		}
	}
}

func (s *story) request() agent.Request { return agent.Request{Messages: s.history} }

// asks sends a request, and holds it against all that is promised of one.
func (s *story) asks() {
	s.t.Helper()
	before := spelled(s.history)
	first := s.sent
	s.sent, _ = s.window.Fit(s.t.Context(), s.request())
	s.check()
	if again, _ := s.window.Fit(s.t.Context(), s.request()); spelled(again) != spelled(s.sent) {
		s.t.Fatalf("sent %q, and then %q", short(s.sent), short(again))
	}
	if restarted, _ := s.book.window(s.limits, s.model).Fit(s.t.Context(), s.request()); spelled(restarted) != spelled(s.sent) {
		s.t.Fatalf("sent %q, and after a restart %q", short(s.sent), short(restarted))
	}
	if spelled(s.history) != before {
		s.t.Fatal("the history was changed")
	}
	s.stays(first)
}

func (s *story) refused() {
	s.t.Helper()
	if s.sent == nil {
		return // nothing was asked yet
	}
	before := contextwin.Estimate(agent.Request{Messages: s.sent})
	shrunk, _, ok := s.window.Shrink(s.t.Context(), s.request())
	if s.book.learned > 0 { // the session's next turns know it too
		s.limits.ContextTokens = s.book.learned
	}
	if !ok {
		return
	}
	if after := contextwin.Estimate(agent.Request{Messages: shrunk}); after >= before {
		s.t.Fatalf("%d tokens were refused, and %d are sent", before, after)
	}
	s.sent = shrunk
	s.check()
}

func (s *story) check() {
	s.t.Helper()
	wellFormed(s.t, s.sent)
	if len(s.sent) > 0 && s.sent[0].Role != models.RolePerson {
		s.t.Fatalf("begins with a message of %s", s.sent[0].Role)
	}
}

// stays: a result that was shortened is never whole again.
func (s *story) stays(first []models.Message) {
	s.t.Helper()
	lengths := map[string]int{}
	for _, m := range first {
		if m.Role == models.RoleTool && m.Metadata.Tool != "" {
			lengths[m.ToolCallID] = len(m.Content)
		}
	}
	for _, m := range s.sent {
		if most, ok := lengths[m.ToolCallID]; ok && m.Role == models.RoleTool && len(m.Content) > max(most, len(contextwin.ClearedText)) {
			s.t.Fatalf("the result of %s was sent as %d bytes, and then as %d", m.ToolCallID, most, len(m.Content))
		}
	}
}

func tell(t *testing.T, data []byte, window int, mode contextwin.Mode) *story {
	t.Helper()
	s := &story{
		t: t, limits: contextwin.Limits{ContextTokens: window, Pruning: contextwin.Pruning{Mode: mode}},
		book: &notebook{}, model: scribe("what was said"), now: noon,
	}
	s.begin(10)
	for _, b := range data {
		s.happens(b)
	}
	return s
}

func TestWhateverHappenedWhatIsSentIsWellFormed(t *testing.T) {
	var summarised, pruned int
	for seed := range uint64(24) {
		random := rand.New(rand.NewPCG(seed, 1))
		data := make([]byte, 40)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		mode := []contextwin.Mode{contextwin.ModeOff, contextwin.ModeCacheTTL}[seed%2]
		s := tell(t, data, []int{0, 2000, 6000, 20_000}[seed%4], mode)
		summarised, pruned = summarised+len(s.book.summaries), pruned+len(s.book.pruned)
	}
	if summarised < 20 || pruned < 100 {
		t.Errorf("%d summaries were made and %d results shortened: the stories are too tame", summarised, pruned)
	}
}

// A request that is fit for its window where the turn itself leaves room.
func TestWhatIsSentFitsWhateverHappenedBefore(t *testing.T) {
	s := tell(t, slices.Repeat([]byte{13*11 + 2, 6*11 + 5, 9 * 11, 12*11 + 3}, 12), 8000, contextwin.ModeOff)
	if n := contextwin.Estimate(agent.Request{Messages: s.sent}); n > 8000 {
		t.Errorf("%d tokens are sent", n)
	}
	if !strings.Contains(s.sent[0].Content, "what was said") {
		t.Errorf("nothing was summarised: %q", short(s.sent))
	}
}

func FuzzAnyStory(f *testing.F) {
	f.Add([]byte{0, 2, 5, 8, 4, 10, 7, 250, 9, 6, 3, 230, 1}, uint16(3000), true)
	f.Add([]byte("whatever happens in a session"), uint16(0), false)
	f.Fuzz(func(t *testing.T, data []byte, window uint16, ttl bool) {
		mode := contextwin.ModeOff
		if ttl {
			mode = contextwin.ModeCacheTTL
		}
		tell(t, data[:min(len(data), 40)], int(window), mode)
	})
}

// spelled is all that a model reads of messages.
func spelled(messages []models.Message) string {
	var b strings.Builder
	for _, m := range messages {
		text := m.Content
		if m.Role == models.RoleTool {
			text = agent.ToolText(m)
		}
		fmt.Fprintln(&b, m.Role, m.ToolCallID, m.ToolCalls, text, m.Reasoning)
	}
	return b.String()
}

// scribe is a model that answers every request with the same summary.
type scribe string

func (s scribe) Stream(context.Context, agent.Request, func(agent.Delta)) (agent.Reply, error) {
	return agent.Reply{Content: string(s), FinishReason: models.FinishStop, Model: "scribe"}, nil
}
