package runner

import (
	"context"
	"errors"
	"time"

	"offcut/agent"
	"offcut/models"
)

// Dumps writes down requests that a provider refused.
type Dumps interface {
	// Save returns the path of the file that it wrote.
	Save(refusal agent.Refusal) (path string, err error)
}

// recorded is a model whose refused requests are written down. Neither the turn
// nor the model knows of it.
type recorded struct {
	agent.Model
	runner   *Runner
	turn     models.Turn
	settings map[string]any
}

// Stream implements agent.Model.
func (m recorded) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) (agent.Reply, error) {
	reply, err := m.Model.Stream(ctx, req, emit)
	var refused *agent.ModelError
	if errors.As(err, &refused) && refused.RefusesRequest() {
		m.saveSoon(ctx, req, refused)
	}
	return reply, err
}

// dumpPatience is how long a turn waits for what it was refused to be written:
// its text may be megabytes, in each of which secrets are looked for.
const dumpPatience = 500 * time.Millisecond

// saveSoon writes a refusal down while the turn waits, but neither long nor after
// a stop. The program's end waits for it.
func (m recorded) saveSoon(ctx context.Context, req agent.Request, refused *agent.ModelError) {
	done := make(chan struct{})
	m.runner.group.Go(func() {
		defer close(done)
		m.save(req, refused)
	})
	select {
	case <-done:
	case <-ctx.Done():
	case <-time.After(dumpPatience):
	}
}

// save writes a refusal down and says where. That it cannot be written is told
// and takes nothing from the turn.
func (m recorded) save(req agent.Request, refused *agent.ModelError) {
	r := m.runner
	log := r.cfg.Log.With("turn", m.turn.ID, "session", m.turn.SessionID, "model", req.Model, "status", refused.Status)
	path, err := r.cfg.Dumps.Save(agent.Refusal{
		At: r.cfg.Now(), SessionID: m.turn.SessionID, TurnID: m.turn.ID, Settings: m.settings, Request: req, Err: refused,
	})
	if path != "" {
		log.Warn("the provider refused a request; what it was sent, and its answer, are in a file", "file", path)
	}
	if err != nil {
		log.Error("a refused request could not be written down as it should be", "error", err)
	}
}
