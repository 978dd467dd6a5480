package runner

import (
	"context"
	"slices"
	"strings"
	"time"

	"offcut/agent"
	"offcut/agent/events"
	"offcut/models"
)

// tailBytes is how much of what a running call printed is kept for who opens
// the page now; a terminal's screens hold less.
const tailBytes = 64 << 10

// liveCall is a tool call that runs.
type liveCall struct {
	id      string
	cancel  context.CancelCauseFunc
	tail    []byte
	bytes   int64
	started time.Time
	place   *place // its way to the background; nil: it has none
	nested  []models.NestedCall
}

// take adds to what the call has printed.
func (c *liveCall) take(text string, printed int64) {
	c.bytes = printed
	c.tail = append(c.tail, text...)
	if len(c.tail) > 2*tailBytes {
		c.tail = append([]byte(nil), lastBytes(c.tail)...)
	}
}

// liveCalls are those of one turn, in the order of their starts. The journal's
// lock guards them.
type liveCalls []*liveCall

func (c liveCalls) find(id string) *liveCall {
	for _, call := range c {
		if call.id == id {
			return call
		}
	}
	return nil
}

func (c liveCalls) without(id string) liveCalls {
	var left liveCalls
	for _, call := range c {
		if call.id != id {
			left = append(left, call)
		}
	}
	return left
}

func (c liveCalls) live() []events.LiveCall {
	var out []events.LiveCall
	for _, call := range c {
		tail := strings.ToValidUTF8(string(lastBytes(call.tail)), "")
		out = append(out, events.LiveCall{CallID: call.id, Tail: tail, Bytes: call.bytes, StartedAt: call.started, Movable: call.place != nil, Nested: slices.Clone(call.nested)})
	}
	return out
}

// CallStarted tells that a call runs, and makes the way to stop it alone and, of
// one that is movable, to the background.
func (j *journal) CallStarted(ctx context.Context, messageID string, call models.ToolCall, movable bool) (context.Context, func(string, int64), agent.Background) {
	j.questions.settled(call.ID)
	ctx, cancel := context.WithCancelCause(ctx)
	j.mu.Lock()
	defer j.mu.Unlock()
	running := &liveCall{id: call.ID, cancel: cancel, started: j.r.cfg.Now()}
	j.calls = append(j.calls, running)
	j.publish(events.Event{Kind: events.KindCall, MessageID: messageID, CallID: call.ID, CallState: string(models.CallRunning)})
	live := func(text string, printed int64) { j.output(call.ID, text, printed) }
	if !movable {
		return ctx, live, nil
	}
	running.place = &place{journal: j, call: running, asked: make(chan struct{})}
	return ctx, live, running.place
}

// output takes what a running call prints, which has printed so many bytes by
// then. A call that is not among those of the turn any more is in the
// background, or has ended: what comes from a tool that would not stop is
// nobody's.
func (j *journal) output(callID, text string, printed int64) {
	if text == "" {
		return
	}
	j.mu.Lock()
	call := j.calls.find(callID)
	if call == nil {
		j.mu.Unlock()
		j.r.output(j.started().SessionID, callID, text, printed)
		return
	}
	defer j.mu.Unlock()
	call.take(text, printed)
	j.publish(events.Event{Kind: events.KindOutput, CallID: callID, Text: text, Bytes: call.bytes})
}

// Nested tells of a call that a tool makes within a running one, and stores it:
// after a crash nobody else knows which of them ran.
func (j *journal) Nested(callID string, made models.NestedCall) {
	turn := j.started()
	if err := j.r.cfg.Store.NoteNested(context.Background(), turn, callID, made, j.r.cfg.Now()); err != nil {
		j.r.cfg.Log.Error("a call of a script cannot be noted", "call", made.ID, "turn", turn.ID, "session", turn.SessionID, "error", err)
	}
	made.Result = nil // it is stored, and can be large
	j.mu.Lock()
	defer j.mu.Unlock()
	call := j.calls.find(callID)
	if call == nil {
		return // it has ended, and its result says what it made
	}
	at := slices.IndexFunc(call.nested, func(c models.NestedCall) bool { return c.ID == made.ID })
	if at < 0 {
		call.nested = append(call.nested, made)
	} else {
		call.nested[at] = made
	}
	j.publish(events.Event{Kind: events.KindNested, CallID: callID, Nested: &made})
}

// lastBytes is the end of b, at most tailBytes of it.
func lastBytes(b []byte) []byte {
	return b[max(0, len(b)-tailBytes):]
}

// CallEnded tells how a call ended. Its result is stored with its step.
func (j *journal) CallEnded(call models.ToolCall, result models.Message) {
	j.questions.settled(call.ID)
	if running, ok := j.running(call.ID); ok && running.place != nil {
		running.place.release()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if running := j.calls.find(call.ID); running != nil {
		running.cancel(nil)
		j.calls = j.calls.without(call.ID)
	}
	j.publish(events.Event{Kind: events.KindCall, MessageID: j.reply.ID, CallID: call.ID, CallState: string(result.CallState())})
}

// running finds a call that runs.
func (j *journal) running(callID string) (*liveCall, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	call := j.calls.find(callID)
	return call, call != nil
}

// release lets a call go that is the turn's no longer.
func (j *journal) release(callID string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calls = j.calls.without(callID)
}

// started is the turn that runs, of which the ids never change.
func (j *journal) started() models.Turn {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.turn
}

// stopCall stops one running call; false where it does not run.
func (j *journal) stopCall(callID string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	call := j.calls.find(callID)
	if call == nil {
		return false
	}
	call.cancel(agent.ErrStopped)
	return true
}

// endCalls lets go of calls that a failed turn left.
func (j *journal) endCalls() {
	j.mu.Lock()
	left := j.calls
	j.calls = nil
	j.mu.Unlock()
	for _, call := range left {
		call.cancel(agent.ErrShutdown)
		if call.place != nil {
			call.place.release()
		}
	}
}
