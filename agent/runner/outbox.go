package runner

import (
	"context"
	"errors"
	"slices"
	"time"

	"offcut/agent"
	"offcut/agent/contextwin"
	"offcut/models"
)

// outbox writes down what the model is sent, request by request: so that people
// can see exactly that, whatever the window made of the conversation. It writes
// while the model answers, and no request waits for it. What cannot be written is
// told the log, and takes nothing from the turn.
//
// Its methods are the loop's alone; what they put off runs one after another.
type outbox struct {
	store  []models.Message // what the session has, in its order
	queue  queue
	last   []models.Message // of the request that was written last; nil: it is not known
	number int64            // of that request
}

// has notes messages that are stored. Who holds what store was before goes on
// holding that: it only grows.
func (o *outbox) has(more ...models.Message) { o.store = append(o.store, more...) }

// noteRequest writes down a request that is made at a time; summary: it asks for a
// summary. Called with the lock held.
func (j *journal) noteRequest(req agent.Request, at time.Time, summary bool) {
	o, stored := &j.outbox, j.outbox.store
	r := models.SentRequest{
		SessionID: j.turn.SessionID, TurnID: j.turn.ID, Model: j.turn.Model, System: req.System, At: at,
		Reasoning: !j.model.OmitsReasoning, Messages: len(req.Messages), Summary: summary,
	}
	o.queue.put(func() {
		for _, t := range req.Tools {
			r.Tools = append(r.Tools, models.SentTool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
		}
		for _, m := range req.Messages {
			if m.IsMeta {
				r.Hidden++
			}
			if m.Role == models.RoleTool && contextwin.Left(m) != models.SentWhole {
				r.Pruned++
			}
		}
		r.Estimate = int64(contextwin.Estimate(req))
		same := sameUpTo(o.last, req.Messages)
		number, err := j.r.cfg.Store.SaveRequest(context.Background(), r, same, partsOf(req.Messages, stored)[same:])
		o.last, o.number = req.Messages, number
		if err != nil {
			o.last = nil
			j.unnoted("what the model was sent", err)
		}
	})
}

// scribe is the model that a turn's window asks for summaries: these requests are
// written down too.
type scribe struct {
	agent.Model
	j *journal
}

// Stream notes the request and passes it on.
func (s scribe) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) (agent.Reply, error) {
	s.j.mu.Lock()
	s.j.noteRequest(req, s.j.r.cfg.Now(), true)
	s.j.mu.Unlock()
	reply, err := s.Model.Stream(ctx, req, emit)
	s.j.noteTokens(reply.Usage.InputTokens)
	return reply, err
}

// noteTokens writes down how many tokens the provider counted in the request.
func (j *journal) noteTokens(tokens int64) {
	if tokens <= 0 {
		return
	}
	o := &j.outbox
	o.queue.put(func() {
		if o.number == 0 {
			return
		}
		if err := j.r.cfg.Store.SaveRequestTokens(context.Background(), j.turn.SessionID, o.number, tokens); err != nil {
			j.unnoted("how many tokens it took", err)
		}
	})
}

func (j *journal) unnoted(what string, err error) {
	if !errors.Is(err, models.ErrNotFound) { // the session was deleted
		j.log.Error("a request to a model cannot be written down", "what", what, "error", err)
	}
}

// partsOf are the messages of a request as they are written down: by their ids
// where the session has them just so.
func partsOf(messages, stored []models.Message) []models.SentPart {
	parts, next := make([]models.SentPart, len(messages)), 0
	for i := range messages {
		m := &messages[i]
		parts[i].Own = m
		if m.ID == "" {
			continue
		}
		at := slices.IndexFunc(stored[next:], func(s models.Message) bool { return s.ID == m.ID })
		if at < 0 {
			continue
		}
		if next += at + 1; saysSame(stored[next-1], *m) {
			parts[i] = models.SentPart{MessageID: m.ID}
		}
	}
	return parts
}

// sameUpTo is how many messages two requests have the same from their start.
func sameUpTo(before, now []models.Message) (n int) {
	for n < len(before) && n < len(now) && before[n].ID == now[n].ID && saysSame(before[n], now[n]) {
		n++
	}
	return n
}

// saysSame reports whether a model reads the same in two messages. Texts of the
// same memory, which most are, are compared in no time.
func saysSame(a, b models.Message) bool {
	return a.Role == b.Role && a.Content == b.Content && a.Reasoning == b.Reasoning && a.ToolCallID == b.ToolCallID &&
		len(a.Images) == len(b.Images) && slices.Equal(a.ToolCalls, b.ToolCalls) && sameLine(a.Metadata, b.Metadata)
}

func sameLine(a, b *models.ResultMetadata) bool {
	return a == b || (a != nil && b != nil && a.Line() == b.Line())
}

// queue runs functions one after another, beside whoever puts them in.
type queue struct{ last chan struct{} }

func (q *queue) put(f func()) {
	before, done := q.last, make(chan struct{})
	q.last = done
	go func() {
		defer close(done)
		if before != nil {
			<-before
		}
		f()
	}()
}

// wait returns once all that was put in has run.
func (q *queue) wait() {
	if q.last != nil {
		<-q.last
	}
}
