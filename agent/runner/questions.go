package runner

import (
	"context"
	"errors"
	"slices"
	"sync"

	"offcut/agent"
	"offcut/agent/events"
	"offcut/models"
)

// questions are the calls of a running turn about which somebody is asked now.
// The turn awaits approval while something of it cannot go on without an answer.
type questions struct {
	j *journal

	mu    sync.Mutex // held until what is stored of the turn fits the calls
	calls map[string]*question
}

// question is a call that waits, or an answer that was there already.
type question struct {
	callID string
	// nested: a tool made the call, and that tool runs meanwhile.
	nested  bool
	needed  bool // nothing goes on without the answer
	decided chan struct{}
	answer  agent.Answer
}

func (q *question) decide(answer agent.Answer) {
	q.answer = answer
	close(q.decided)
}

// answered: there is nothing to wait for.
func (q *question) answered() bool {
	select {
	case <-q.decided:
		return true
	default:
		return false
	}
}

func answerOf(a models.Approval) agent.Answer {
	return agent.Answer{Asked: true, Allowed: a.Decision.Allows()}
}

// Ask puts a call to the session's owner.
func (j *journal) Ask(ctx context.Context, asked agent.Question) (func(context.Context) (agent.Answer, error), error) {
	s, c := &j.questions, asked.Call
	s.mu.Lock()
	defer s.mu.Unlock()
	approval, granted, err := j.r.cfg.Store.Ask(context.WithoutCancel(ctx), models.Approval{
		SessionID: c.SessionID, TurnID: c.TurnID, CallID: c.ID, Tool: c.Tool, Arguments: string(c.Arguments),
		Folder: c.Workspace, Deed: string(asked.Deed), Unconfined: asked.Unconfined, CreatedAt: j.r.cfg.Now(),
	})
	if errors.Is(err, models.ErrConflict) {
		return nil, err // another call's answer does not stand for this one
	}
	if err != nil {
		return nil, j.storageError("ask whether a call may run", err)
	}
	q := &question{callID: c.ID, nested: !j.made(c.ID), decided: make(chan struct{})}
	switch {
	case granted:
		q.decide(agent.Answer{Allowed: true})
	case approval.Decision != "":
		q.decide(answerOf(approval))
	default:
		s.calls[c.ID] = q
		s.tell()
	}
	return func(ctx context.Context) (agent.Answer, error) { return s.await(ctx, q) }, nil
}

// waits reports whether somebody is asked about a call that the model made.
func (s *questions) waits(callID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.calls[callID]
	return q != nil && !q.nested
}

// made reports whether the model made the call, and not a tool.
func (j *journal) made(callID string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.ContainsFunc(j.reply.ToolCalls, func(c models.ToolCall) bool { return c.ID == callID })
}

// await waits for the answer. A turn that waits gives up its place among those
// that run, and where the program ends it is left as it is stored. One in which
// a tool waits is not left: the tool would not go on from there.
func (s *questions) await(ctx context.Context, q *question) (agent.Answer, error) {
	if err := s.need(q); err != nil {
		return agent.Answer{}, err
	}
	if q.answered() {
		return q.answer, context.Cause(ctx)
	}
	var leaving <-chan struct{}
	if !q.nested {
		leaving = s.j.r.closing
	}
	s.j.slot.leave()
	select {
	case <-q.decided:
	case <-ctx.Done():
		s.withdraw(q)
	case <-leaving:
		return agent.Answer{}, agent.ErrLeft
	}
	if !s.j.slot.take(ctx, leaving) {
		return agent.Answer{}, s.park(q)
	}
	if ctx.Err() != nil {
		return agent.Answer{}, context.Cause(ctx)
	}
	return q.answer, nil
}

// park leaves a turn of which the answer came while the program ends: the next
// start finds both.
func (s *questions) park(q *question) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[q.callID] = q
	if _, err := s.restate(); err != nil {
		return err
	}
	return agent.ErrLeft
}

// need notes that nothing goes on without the answer.
func (s *questions) need(q *question) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.needed = true
	_, err := s.restate()
	return err
}

// withdraw ends the wait for an answer that is not needed any more.
func (s *questions) withdraw(q *question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[q.callID] != q {
		return // it came just now
	}
	delete(s.calls, q.callID)
	s.lapse(q.callID)
	if told, _ := s.restate(); !told { // what cannot be stored ends the turn by itself
		s.tell()
	}
}

func (s *questions) lapse(callID string) {
	j := s.j
	if err := j.r.cfg.Store.Lapse(context.Background(), j.turn.SessionID, callID, j.r.cfg.Now()); err != nil {
		j.r.cfg.Log.Error("the end of a wait cannot be stored", "call", callID, "error", err)
	}
}

// settle hands out answers. The turn runs again by the store before anything of
// it does.
func (s *questions) settle(decided []models.Approval) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var answered []*question
	for _, approval := range decided {
		q := s.calls[approval.CallID]
		if q == nil {
			continue
		}
		delete(s.calls, q.callID)
		q.answer = answerOf(approval)
		answered = append(answered, q)
	}
	if told, err := s.restate(); err != nil {
		s.j.cancel(err)
	} else if !told {
		s.tell()
	}
	for _, q := range answered {
		close(q.decided)
	}
}

// settled notes that a call runs or has its result: the turn runs. Where it was
// asked about before a restart and needs no answer now, as its tool is gone or
// allowed by another policy, nobody is asked any more.
func (s *questions) settled(callID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.j.resumed {
		s.lapse(callID)
	}
	if _, err := s.restate(); err != nil {
		s.j.cancel(err)
	}
}

// restate stores and tells the state that the turn has by what it needs, where
// that is another than before. Called with the lock held.
func (s *questions) restate() (told bool, err error) {
	state, parked := models.StateRunning, false
	for _, q := range s.calls {
		if q.needed {
			state, parked = models.StateAwaitingApproval, parked || !q.nested
		}
	}
	j := s.j
	j.mu.Lock()
	same := j.turn.State == state && j.turn.Parked == parked
	j.turn.State, j.turn.Parked = state, parked
	turn := j.turn
	j.mu.Unlock()
	if same {
		return false, nil
	}
	if err := j.saveTurn(context.Background(), turn); err != nil {
		return false, err
	}
	s.tell()
	j.r.changed(turn.ID)
	return true, nil
}

// tell tells the watchers that what waits for them has changed.
func (s *questions) tell() {
	s.j.mu.Lock()
	defer s.j.mu.Unlock()
	s.j.publish(events.Event{Kind: events.KindApproval, State: s.j.turn.State})
}

// Decide answers a call that waits for somebody. One that does not wait any
// more is ErrConflict, one that never did ErrNotFound.
func (r *Runner) Decide(ctx context.Context, v models.Verdict, audit ...models.AuditEntry) error {
	turn, err := r.cfg.Store.AnyTurn(ctx, v.TurnID)
	if err != nil {
		return err
	}
	decided, err := r.cfg.Store.Decide(ctx, v, audit...)
	if err != nil {
		return err
	}
	if j := r.journal(turn.SessionID); j != nil {
		j.questions.settle(decided)
		return nil
	}
	// After a restart the turn has not gone on yet: it will find the answer.
	r.publish(turn, events.Event{Kind: events.KindApproval, State: turn.State})
	return nil
}
