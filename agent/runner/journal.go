package runner

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"offcut/agent"
	"offcut/agent/events"
	"offcut/models"
)

// journal writes down one running turn and tells its watchers. It is the
// agent.Journal of the turn's loop.
//
// What it publishes and what live shows change under one lock, so that a
// snapshot and the events after it fit together.
type journal struct {
	r      *Runner
	log    *slog.Logger // names the turn
	cancel context.CancelCauseFunc
	slot   *slot // of the turn among those that run
	// resumed: the turn was parked when the program ended, and goes on.
	resumed   bool
	questions questions

	mu      sync.Mutex
	turn    models.Turn
	part    *part          // the reply that streams in; nil between replies
	shown   *shown         // what of the answer is being written; goes on after a reply that was cut off
	reply   models.Message // the last one that was stored
	unsent  []unsentResult // the results after it, until a reply proves that they were sent
	asked   agent.Request  // the last that was sent, and when
	askedAt time.Time
	transit transit   // what of the results was sent
	footing footing   // what the answer rests on
	model   ModelInfo // that is asked
	outbox  outbox
	calls   liveCalls         // the tool calls that run
	again   *events.LiveRetry // the wait for the next try; nil once an answer comes
	hasten  func()            // ends that wait
	over    bool              // it was told how the turn ended
}

func newJournal(r *Runner, turn models.Turn, s *slot, cancel context.CancelCauseFunc) *journal {
	j := &journal{r: r, log: r.logger(turn), turn: turn, slot: s, cancel: cancel, resumed: turn.Parked}
	j.questions = questions{j: j, calls: map[string]*question{}}
	return j
}

// begin takes over the turn as it was started.
func (j *journal) begin(turn models.Turn) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.turn = turn
	j.publish(events.Event{Kind: events.KindTurn, State: turn.State})
}

// ended tells how the turn ended.
func (j *journal) ended(turn models.Turn) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.over = true
	j.publish(events.Event{Kind: events.KindTurn, State: turn.State, Error: turn.Error, ErrorCode: turn.ErrorCode, Usage: &turn.Usage})
}

// publish tells the watchers. Called with the lock held.
func (j *journal) publish(e events.Event) { j.r.publish(j.turn, e) }

// storageError is what ends a turn that cannot be written down. The cause goes
// to the log; it may name paths.
func (j *journal) storageError(doing string, err error) error {
	j.log.Error("storage failed in a turn", "doing", doing, "error", err)
	return &agent.TurnError{
		Code:    models.CodeStorage,
		Message: fmt.Sprintf("The server could not %s: its storage failed. Try again; if it fails again, tell the administrator.", doing),
	}
}

// takeOver begins with what was said before, and tells that the message with
// which the turn came is its turn now.
func (j *journal) takeOver(history []models.Message) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.unsent = unsentIn(history)
	j.outbox.has(history...)
	for _, m := range history {
		if j.resumed && m.TurnID == j.turn.ID && m.Role == models.RoleAssistant {
			j.reply = m
		}
		if m.TurnID == j.turn.ID && m.Role == models.RolePerson && !m.IsMeta {
			j.publish(events.Event{Kind: events.KindMessage, MessageID: m.ID, State: m.State})
		}
	}
}

// asks notes the model that the turn asks; it is stored with its first figures.
func (j *journal) asks(model ModelInfo) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.turn.Model, j.model = model.Name, model
}

// UsedCallIDs asks the store.
func (j *journal) UsedCallIDs(ctx context.Context, ids []string) (map[string]bool, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	used, err := j.r.cfg.Store.CallIDs(ctx, j.turn.SessionID, ids)
	if err != nil {
		return nil, j.storageError("look up the tool calls", err)
	}
	return used, nil
}

// Delta takes a piece of the reply that streams in.
func (j *journal) Delta(messageID string, d agent.Delta) {
	if d.Text == "" && d.Reasoning == "" {
		return // a tool call that is still being written: it is told whole
	}
	j.mu.Lock()
	p := j.part
	j.mu.Unlock()
	if p == nil {
		if p = j.beginPart(messageID); p == nil {
			return
		}
	}
	p.add(d)
}

// beginPart stores the reply as running, at its place in the session. Where
// that fails the turn ends.
func (j *journal) beginPart(messageID string) *part {
	m, err := j.appendReply(context.Background(), models.Message{
		ID: messageID, SessionID: j.turn.SessionID, TurnID: j.turn.ID, Role: models.RoleAssistant,
		State: models.StateRunning, CreatedAt: j.lastAsked(),
	})
	if err != nil {
		j.cancel(j.storageError("store the answer", err))
		return nil
	}
	j.mu.Lock()
	if j.shown != nil {
		j.shown.goOn()
	} else {
		j.shown = newShown(j, m.ID)
		j.publish(events.Event{Kind: events.KindMessage, MessageID: m.ID, State: m.State})
	}
	p := newPart(j, j.shown, m)
	j.part = p
	j.waited()
	j.mu.Unlock()
	go p.run()
	return p
}

// Reply stores the reply and the turn's figures.
func (j *journal) Reply(ctx context.Context, reply models.Message, usage models.Usage) error {
	if err := j.storeReply(ctx, reply); err != nil {
		return j.storageError("store the answer", err)
	}
	j.outbox.has(reply)
	j.noteTokens(usage.InputTokens)
	j.mu.Lock()
	j.turn.Usage, j.turn.ContextTokens = j.turn.Usage.Add(usage), j.occupied(reply, usage)
	turn := j.turn
	j.part, j.reply = nil, reply
	j.waited()
	j.replied(reply)
	j.publish(events.Event{Kind: events.KindUsage, Usage: &turn.Usage, ContextTokens: turn.ContextTokens})
	for _, c := range reply.ToolCalls {
		j.publish(events.Event{Kind: events.KindCall, MessageID: reply.ID, CallID: c.ID, CallState: string(models.CallWaiting)})
	}
	j.mu.Unlock()
	return j.saveTurn(ctx, turn)
}

// replied tells that a reply is over. Where it was cut off in a text, or before
// it said more of one, that text goes on with the next reply or with the turn's
// end. Called with the lock held.
func (j *journal) replied(reply models.Message) {
	switch {
	case j.shown == nil:
		j.publish(events.Event{Kind: events.KindMessage, MessageID: reply.ID, State: reply.State})
	case reply.FinishReason != models.FinishLength || len(reply.ToolCalls) > 0:
		j.shown.finish(reply.State)
		j.shown = nil
	}
}

func (j *journal) storeReply(ctx context.Context, reply models.Message) error {
	j.mu.Lock()
	p := j.part
	j.mu.Unlock()
	if p == nil {
		_, err := j.appendReply(ctx, reply)
		return err
	}
	reply.Seq, reply.CreatedAt = p.message.Seq, p.message.CreatedAt
	p.finish()
	err := j.r.cfg.Store.SaveMessage(ctx, reply)
	p.stored(err)
	return err
}

func (j *journal) saveTurn(ctx context.Context, turn models.Turn) error {
	if err := j.r.cfg.Store.SaveTurn(ctx, turn); err != nil {
		return j.storageError("store the answer's figures", err)
	}
	return nil
}

// Hidden stores a continuation. Nobody is told of it: people never see it.
func (j *journal) Hidden(ctx context.Context, hidden models.Message) error {
	if _, err := j.r.cfg.Store.AppendMessage(ctx, hidden); err != nil {
		return j.storageError("store the continuation", err)
	}
	j.outbox.has(hidden)
	j.mu.Lock()
	j.turn.Continuations++
	turn := j.turn
	j.mu.Unlock()
	return j.saveTurn(ctx, turn)
}

// Results stores results of a step. What they show of kept outputs is noted
// once the model was sent them.
func (j *journal) Results(ctx context.Context, results []models.Message) error {
	if err := j.r.cfg.Store.AppendResults(ctx, results); err != nil {
		return j.storageError("store the tools' results", err)
	}
	j.outbox.has(results...)
	j.mu.Lock()
	defer j.mu.Unlock()
	stored := resultsIn(append([]models.Message{j.reply}, results...))
	j.unsent = append(j.unsent, stored...)
	j.footing.stand(stored)
	for _, m := range results {
		j.transit.stored(m.ToolCallID)
		j.publish(events.Event{Kind: events.KindMessage, MessageID: m.ID, CallID: m.ToolCallID, State: m.State})
		j.publish(events.Event{Kind: events.KindCall, MessageID: j.reply.ID, CallID: m.ToolCallID, CallState: string(m.CallState())})
	}
	return nil
}

// close ends what a turn that failed has left open, so that nothing of it
// writes or publishes any more.
func (j *journal) close(state models.State) {
	j.mu.Lock()
	p := j.part
	j.mu.Unlock()
	if p != nil {
		p.finish()
		m := p.snapshot()
		m.State = state
		err := j.r.cfg.Store.SaveMessage(context.Background(), m)
		p.stored(err)
		if err != nil {
			j.r.cfg.Log.Error("a broken answer cannot be stored", "message", m.ID, "error", err)
		}
	}
	j.mu.Lock()
	if j.shown != nil {
		j.shown.finish(state)
	}
	j.part, j.shown = nil, nil
	j.waited()
	j.mu.Unlock()
	j.endCalls()
}

// finished is the turn as it ended.
func (j *journal) finished(end agent.End) models.Turn {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.r.cfg.Now()
	j.turn.Parked = false
	j.turn.State, j.turn.Error, j.turn.ErrorCode, j.turn.EndedAt = end.State, end.Message, end.Code, &now
	return j.turn
}

// live is the journal as a page shows it: nothing, once the turn's end was told.
func (j *journal) live() Live {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.over {
		return Live{Seq: j.r.cfg.Broker.Seq(j.turn.SessionID)}
	}
	l := Live{Seq: j.r.cfg.Broker.Seq(j.turn.SessionID), TurnID: j.turn.ID, Calls: j.calls.live(), Retry: j.again}
	if s := j.shown; s != nil {
		s.live(&l)
	}
	return l
}
