package runner

import (
	"context"

	"offcut/agent"
	"offcut/agent/events"
)

// retry tells of a wait before the model is asked again.
func (j *journal) retry(again agent.Retry) {
	j.mu.Lock()
	j.turn.Retries++
	turn := j.turn
	j.again = &events.LiveRetry{Until: j.r.cfg.Now().Add(again.Wait), Attempt: again.Attempt, Most: again.Most, Reason: again.Reason}
	j.hasten = again.Now
	j.tellRetry()
	j.mu.Unlock()
	_ = j.saveTurn(context.Background(), turn) // logged there; the count comes again with the next save
}

// tellRetry tells of the wait. Called with the lock held.
func (j *journal) tellRetry() {
	again := *j.again
	j.publish(events.Event{Kind: events.KindRetry, Attempt: again.Attempt, Most: again.Most, Reason: again.Reason, Until: again.Until})
}

// waited notes that nothing is waited for: the next try was made, and something
// came of it. Called with the lock held.
func (j *journal) waited() { j.again, j.hasten = nil, nil }

// retryNow ends the turn's wait for the next try; false where another turn runs,
// or does not wait for one. A second time changes nothing.
func (j *journal) retryNow(turnID string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.turn.ID != turnID || j.again == nil || j.hasten == nil {
		return false
	}
	if now := j.r.cfg.Now(); now.Before(j.again.Until) {
		again := *j.again // a page may hold the old one
		again.Until = now
		j.again = &again
		j.tellRetry()
	}
	j.hasten()
	return true
}
