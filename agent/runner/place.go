package runner

import (
	"slices"

	"offcut/agent/events"
	"offcut/models"
)

// place is the way of one running call to the background. It is the
// agent.Background of the call.
type place struct {
	journal *journal
	call    *liveCall
	// What follows changes under the lock of the backgrounds.
	reserved bool
	over     bool // the call has ended: nobody would give its place back
	asked    chan struct{}
}

// Asked is closed once a person moved the call.
func (p *place) Asked() <-chan struct{} { return p.asked }

// Reserve takes one of the owner's places, unless the call has one.
func (p *place) Reserve() error {
	r, turn := p.journal.r, p.journal.started()
	if err := r.accepts(turn.SessionID); err != nil {
		return err
	}
	b := &r.background
	b.mu.Lock()
	defer b.mu.Unlock()
	most := r.cfg.Limits.BackgroundPerUser
	switch {
	case p.over:
		return errCallEnded
	case p.reserved:
		return nil
	case b.places[turn.OwnerID] >= most:
		return models.Errorf(models.ErrConflict, "too_many_background",
			"%d commands run in the background, which is as many as one user may have. Stop one of them, or wait for its end.", models.Arg("most", most))
	}
	b.places[turn.OwnerID]++
	p.reserved = true
	return nil
}

// ask moves the call, or says why not.
func (p *place) ask() error {
	if err := p.Reserve(); err != nil {
		return err
	}
	b := &p.journal.r.background
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-p.asked: // a second request asks for nothing more
	default:
		close(p.asked)
	}
	return nil
}

// release gives a place back that was not used: the call has ended. It may be
// called twice.
func (p *place) release() {
	b := &p.journal.r.background
	b.mu.Lock()
	defer b.mu.Unlock()
	p.over = true
	p.giveBack()
}

// giveBack is release with the lock held.
func (p *place) giveBack() {
	b, owner := &p.journal.r.background, p.journal.started().OwnerID
	if !p.reserved {
		return
	}
	p.reserved = false
	if b.places[owner]--; b.places[owner] == 0 {
		delete(b.places, owner)
	}
}

// Detach takes the call out of its turn.
func (p *place) Detach(outputID string, end func(cause error)) func(models.CallState) {
	r, turn := p.journal.r, p.journal.started()
	j := &job{liveCall: p.call, turn: turn, outputID: outputID, end: end, done: make(chan struct{})}
	r.group.Add(1)
	b := &r.background
	b.mu.Lock()
	b.jobs = append(b.jobs, j)
	p.journal.release(p.call.id)
	b.mu.Unlock()
	if err := r.accepts(turn.SessionID); err != nil {
		end(r.endCause()) // it came there while all of them were being ended
	}
	return func(state models.CallState) {
		defer r.group.Done()
		b.mu.Lock()
		defer b.mu.Unlock()
		b.jobs = slices.DeleteFunc(b.jobs, func(other *job) bool { return other == j })
		p.giveBack()
		close(j.done)
		r.publish(turn, events.Event{Kind: events.KindCall, CallID: j.id, CallState: string(state)})
	}
}
