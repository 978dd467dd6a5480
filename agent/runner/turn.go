package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"offcut/agent"
	"offcut/agent/prompt"
	"offcut/models"
)

// errSessionEnded is the stop of a turn whose session is being deleted.
var errSessionEnded = fmt.Errorf("the session was deleted: %w", agent.ErrStopped)

// runTurn runs a started turn to its end, and stores and tells how it ended;
// or until the program ends while the turn is parked, which it stays then.
func (r *Runner) runTurn(ctx context.Context, w *worker, j *journal) {
	ctx, ended := r.cfg.Began(ctx, j.started())
	j.logBegan(j.started())
	err := r.attempt(ctx, j)
	j.outbox.queue.wait()
	if errors.Is(err, agent.ErrLeft) {
		ended(j.started())
		return
	}
	end := agent.Ending(err)
	if end.Code == models.CodeInternal {
		j.log.Error("a turn failed", "error", err)
	}
	j.close(end.State)
	turn := j.finished(end)
	j.noteFooting(context.Background(), &turn)
	err = r.cfg.Store.FinishTurn(context.Background(), turn)
	j.ended(turn)
	ended(turn)
	j.logEnded(turn)
	if err != nil && r.finishLater(w, turn, err) {
		j.ended(turn) // who read the page meanwhile found the turn running
	}
	r.changed(turn.ID)
}

// finishLater stores the end of a turn once the database works again: the
// session can go on only after it. It is false where the program ends before.
func (r *Runner) finishLater(w *worker, turn models.Turn, err error) bool {
	for wait := queuePause / 8; err != nil && !errors.Is(err, models.ErrNotFound); wait = min(2*wait, queuePause) {
		r.cfg.Log.Error("a turn's end cannot be stored", "turn", turn.ID, "error", err)
		if !r.pause(w, wait) {
			return false // the next start finds it running, and marks it as interrupted
		}
		err = r.cfg.Store.FinishTurn(context.Background(), turn)
	}
	return err == nil
}

// attempt runs the loop of a turn. A panic in it ends the turn and not the
// server.
func (r *Runner) attempt(ctx context.Context, j *journal) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	loop, history, err := r.prepare(ctx, j)
	if err != nil {
		return err
	}
	return loop.Run(ctx, history)
}

// prepare gathers what a turn works with.
func (r *Runner) prepare(ctx context.Context, j *journal) (agent.Loop, []models.Message, error) {
	keep := context.WithoutCancel(ctx)
	turn := j.started()
	session, err := r.cfg.Store.AnySession(keep, turn.SessionID)
	if err != nil {
		return agent.Loop{}, nil, j.storageError("read the session", err)
	}
	before, history, err := r.conversation(keep, j, turn)
	if err != nil {
		return agent.Loop{}, nil, err
	}
	model, info, err := r.cfg.Models(session.Model)
	if err != nil {
		return agent.Loop{}, nil, modelError(err)
	}
	if r.cfg.Dumps != nil {
		model = recorded{Model: model, runner: r, turn: turn, settings: info.Settings}
	}
	if r.cfg.Attached != nil {
		history = r.cfg.Attached(session, history, info)
	}
	j.asks(info)
	dir, err := r.cfg.Workspace(turn.SessionID)
	if err != nil {
		return agent.Loop{}, nil, j.storageError("make the session's folder", err)
	}
	window, err := r.window(keep, j, model, info, before)
	if err != nil {
		return agent.Loop{}, nil, err
	}
	tools := r.toolbox(ctx)
	facts := r.cfg.Prompt
	facts.Tools = tools.Specs()
	if r.cfg.Local != nil {
		facts = r.cfg.Local(dir, facts)
	}
	return agent.Loop{
		Model:     model,
		ModelName: info.Name,
		System:    prompt.System(facts),
		Tools:     tools,
		Window:    window,
		Journal:   j,
		Limits:    r.cfg.Limits.Turn,
		Turn:      turn,
		Workspace: dir,
		OnRetry:   j.retry,
		Now:       r.cfg.Now,
		Log:       r.cfg.Log,
	}, history, nil
}

// conversation is what a turn begins with: what was said before it, with what is
// to be told of the background. The journal takes over what was stored of it.
func (r *Runner) conversation(ctx context.Context, j *journal, turn models.Turn) (before *models.Summary, history []models.Message, err error) {
	if before, history, err = r.said(ctx, turn); err != nil {
		return nil, nil, j.storageError("read the conversation", err)
	}
	j.takeOver(history)
	if err := j.takeOverSent(ctx); err != nil {
		return nil, nil, err
	}
	if err := j.takeOverGrounds(ctx, history); err != nil {
		return nil, nil, err
	}
	if history, err = j.tellBackground(ctx, before, history); err != nil {
		return nil, nil, j.storageError("tell what runs in the background", err)
	}
	return before, history, nil
}

// said is what was said before a turn: the newest summary, nil where there is
// none, and the messages behind it.
func (r *Runner) said(ctx context.Context, turn models.Turn) (*models.Summary, []models.Message, error) {
	summary, err := r.cfg.Store.LastSummary(ctx, turn.SessionID, turn.ID)
	if errors.Is(err, models.ErrNotFound) {
		all, err := r.cfg.Store.Transcript(ctx, turn.SessionID, turn.ID)
		return nil, all, err
	}
	if err != nil {
		return nil, nil, err
	}
	rest, err := r.cfg.Store.Rest(ctx, turn.SessionID, summary.UptoTurn, turn.ID)
	return &summary, rest, err
}

// toolbox is what a turn that begins now is offered.
func (r *Runner) toolbox(ctx context.Context) agent.Toolbox {
	tools := r.cfg.Tools
	if r.cfg.MoreTools != nil {
		tools = append(slices.Clip(tools), r.cfg.MoreTools(ctx)...)
	}
	return agent.NewToolbox(tools...).Explaining(r.cfg.MissingTool)
}

// modelError is a model that cannot be used: what a person may read of it is
// shown.
func modelError(err error) error {
	var known *models.Error
	if errors.As(err, &known) {
		return &agent.TurnError{Code: models.CodeProviderError, Message: known.Message}
	}
	return fmt.Errorf("find the model: %w", err)
}

// userMessage finds the message with which a queued turn came.
func (r *Runner) userMessage(ctx context.Context, turn models.Turn) (models.Message, error) {
	page, _, err := r.cfg.Store.Messages(ctx, models.MessageQuery{
		SessionID: turn.SessionID, Newest: true, Page: models.Page{Limit: models.MaxPageLimit},
	})
	if err != nil {
		return models.Message{}, err
	}
	for _, m := range page {
		if m.TurnID == turn.ID && m.Role == models.RolePerson {
			return m, nil
		}
	}
	return models.Message{}, models.ErrNotFound
}
