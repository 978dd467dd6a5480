package runner

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"offcut/agent"
	"offcut/agent/events"
	"offcut/models"
)

// backgrounds are the commands that go on after their calls, of all sessions.
// They end by themselves, by a stop, or with their session, their owner's right
// or the server; a turn's end does not concern them.
//
// Its lock comes before the runner's and the journals'.
type backgrounds struct {
	mu     sync.Mutex
	jobs   []*job         // in the order in which they came there
	places map[string]int // by owner: jobs, and calls that may become some
}

// job is one of them.
type job struct {
	*liveCall
	turn     models.Turn
	outputID string
	end      func(cause error)
	done     chan struct{}
}

// find is the job of a session for which is is true; nil: there is none.
func (b *backgrounds) find(sessionID string, is func(*job) bool) *job {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.jobs {
		if j.turn.SessionID == sessionID && is(j) {
			return j
		}
	}
	return nil
}

// of are the jobs for which is is true.
func (b *backgrounds) of(is func(*job) bool) []*job {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.jobs), func(j *job) bool { return !is(j) })
}

func inSession(sessionID string) func(*job) bool {
	return func(j *job) bool { return j.turn.SessionID == sessionID }
}

// endJobs ends jobs and returns them: each is done once its end is stored.
func (r *Runner) endJobs(cause error, is func(*job) bool) []*job {
	jobs := r.background.of(is)
	for _, j := range jobs {
		j.end(cause)
	}
	return jobs
}

// live are those of a session, as a page shows them. Called with the lock held.
func (b *backgrounds) live(sessionID string) []events.LiveCall {
	var calls liveCalls
	for _, j := range b.jobs {
		if j.turn.SessionID == sessionID {
			calls = append(calls, j.liveCall)
		}
	}
	return calls.live()
}

// output takes what a job prints. What comes after its end is nobody's.
func (r *Runner) output(sessionID, callID, text string, printed int64) {
	b := &r.background
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.jobs {
		if j.turn.SessionID == sessionID && j.id == callID {
			j.take(text, printed)
			r.publish(j.turn, events.Event{Kind: events.KindOutput, CallID: callID, Text: text, Bytes: printed})
		}
	}
}

// endCause is why nothing is accepted any more.
func (r *Runner) endCause() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return agent.ErrShutdown
	}
	return errSessionEnded
}

// MoveCall lets a running call of a turn go on in the background; for one that
// does already there is nothing to do. A call that does not run, one that cannot
// go on there, and one for which there is no place are ErrConflict; one that never
// was is ErrNotFound. An empty turnID is any.
func (r *Runner) MoveCall(ctx context.Context, sessionID, turnID, callID string) error {
	if j := r.journal(sessionID); j != nil && (turnID == "" || j.started().ID == turnID) {
		if call, running := j.running(callID); running {
			if call.place == nil {
				return models.Errorf(models.ErrConflict, "call_not_movable", "Only commands can go on in the background; this call ends with its turn.")
			}
			return call.place.ask()
		}
		if j.questions.waits(callID) {
			return models.Errorf(models.ErrConflict, "call_not_started", "This call has not started: it waits for a decision.")
		}
	}
	if r.background.find(sessionID, func(j *job) bool { return j.id == callID }) != nil {
		return nil
	}
	return r.notRunning(ctx, sessionID, callID)
}

// StopOutput stops the command that prints a kept output in the background; one
// that does not run there is ErrConflict.
func (r *Runner) StopOutput(sessionID, outputID string) error {
	j := r.background.find(sessionID, func(j *job) bool { return j.outputID == outputID })
	if j == nil {
		return models.Errorf(models.ErrConflict, "output_not_running", "No command in the background prints this output: it has ended, or its turn still waits for it.")
	}
	j.end(agent.ErrStopped)
	return nil
}

// EndBackground stops whatever runs in the background of a session.
func (r *Runner) EndBackground(sessionID string) { r.endJobs(agent.ErrStopped, inSession(sessionID)) }

// BackgroundOwners are those who have commands in the background.
func (r *Runner) BackgroundOwners() []string {
	var owners []string
	for _, j := range r.background.of(func(*job) bool { return true }) {
		if !slices.Contains(owners, j.turn.OwnerID) {
			owners = append(owners, j.turn.OwnerID)
		}
	}
	return owners
}

// EndBackgroundOf stops whatever an owner has in the background.
func (r *Runner) EndBackgroundOf(ownerID string) {
	r.endJobs(agent.ErrStopped, func(j *job) bool { return j.turn.OwnerID == ownerID })
}

// tellBackground tells the model at the begin of a turn what the commands in the
// background do, and which have ended since it last spoke. The hidden message is
// stored: what was sent once is sent again as it was, which the provider's cache
// needs.
func (j *journal) tellBackground(ctx context.Context, before *models.Summary, history []models.Message) ([]models.Message, error) {
	if j.resumed {
		return history, nil // told before it was parked
	}
	since, turn := time.Time{}, j.started()
	if before != nil {
		since = before.CreatedAt // of the turn behind it, at whose begin all was told
	}
	for _, m := range history {
		if m.Role == models.RoleAssistant {
			since = m.CreatedAt
		}
	}
	outputs, err := j.r.cfg.Store.BackgroundOutputs(ctx, turn.SessionID, since)
	if err != nil || len(outputs) == 0 {
		return history, err
	}
	note, err := j.r.cfg.Store.AppendMessage(ctx, models.Message{
		ID: models.NewID(models.PrefixMessage), SessionID: turn.SessionID, TurnID: turn.ID, Role: models.RolePerson,
		Content: noteOf(outputs), IsMeta: true, State: models.StateDone, CreatedAt: j.r.cfg.Now(),
	})
	j.outbox.has(note)
	return append(history, note), err
}

// noteOf is a line for each command.
func noteOf(outputs []models.RetainedOutput) string {
	note := agent.BackgroundNote
	for _, o := range outputs {
		note += fmt.Sprintf("\n- output_id %s (%.60s): %s", o.ID, o.Title, whatOf(o))
	}
	return note + "]"
}

// whatOf is what has become of a command.
func whatOf(o models.RetainedOutput) string {
	end := o.End
	switch o.BackgroundState() {
	case models.BackgroundRunning:
		return "still runs"
	case models.BackgroundStopped:
		return "was stopped"
	case models.BackgroundInterrupted:
		return "ended with the server that ran it"
	}
	switch {
	case end.Limit != "":
		return "was ended: " + end.Limit
	case end.TimedOut:
		return "was ended after its time"
	case end.Signal != "":
		return "was ended by " + end.Signal
	case end.ExitCode != nil:
		return fmt.Sprintf("ended with exit code %d", *end.ExitCode)
	}
	return "ended"
}
