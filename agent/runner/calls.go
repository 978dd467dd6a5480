package runner

import (
	"context"
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
		out = append(out, events.LiveCall{CallID: call.id, Tail: tail, Bytes: call.bytes, StartedAt: call.started})
	}
	return out
}

// CallStarted tells that a call runs, and makes the way to stop it alone.
func (j *journal) CallStarted(ctx context.Context, messageID string, call models.ToolCall) (context.Context, func(string, int64)) {
	ctx, cancel := context.WithCancelCause(ctx)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calls = append(j.calls, &liveCall{id: call.ID, cancel: cancel, started: j.r.cfg.Now()})
	j.publish(events.Event{Kind: events.KindCall, MessageID: messageID, CallID: call.ID, CallState: string(models.CallRunning)})
	return ctx, func(text string, printed int64) { j.output(call.ID, text, printed) }
}

// output takes what a running call prints, which has printed so many bytes by
// then. What comes after the call's end,
// from a tool that would not stop, is nobody's.
func (j *journal) output(callID, text string, printed int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	call := j.calls.find(callID)
	if call == nil || text == "" {
		return
	}
	call.bytes = printed
	call.tail = append(call.tail, text...)
	if len(call.tail) > 2*tailBytes {
		call.tail = append([]byte(nil), lastBytes(call.tail)...)
	}
	j.publish(events.Event{Kind: events.KindOutput, CallID: callID, Text: text, Bytes: call.bytes})
}

// lastBytes is the end of b, at most tailBytes of it.
func lastBytes(b []byte) []byte {
	return b[max(0, len(b)-tailBytes):]
}

// CallEnded tells how a call ended. Its result is stored with its step.
func (j *journal) CallEnded(call models.ToolCall, result models.Message) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if running := j.calls.find(call.ID); running != nil {
		running.cancel(nil)
		j.calls = j.calls.without(call.ID)
	}
	j.publish(events.Event{Kind: events.KindCall, MessageID: j.reply.ID, CallID: call.ID, CallState: string(result.CallState())})
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
	defer j.mu.Unlock()
	for _, call := range j.calls {
		call.cancel(agent.ErrShutdown)
	}
	j.calls = nil
}
