package runner

import (
	"log/slog"
	"time"

	"offcut/models"
)

// logger is the log of a turn: each of its lines names the turn and the request
// that asked for it, and none what was said.
func (r *Runner) logger(turn models.Turn) *slog.Logger {
	return r.cfg.Log.With("turn", turn.ID, "session", turn.SessionID, "request", turn.RequestID)
}

// logBegan says that a turn runs, or goes on after a restart.
func (j *journal) logBegan(turn models.Turn) {
	j.log.Info("turn began", "user", turn.OwnerID, "waited", between(&turn.CreatedAt, turn.StartedAt))
}

// logEnded says how a turn ended. The sentence of its error may quote what was
// said: the log has the code.
func (j *journal) logEnded(turn models.Turn) {
	j.log.Info("turn ended", "user", turn.OwnerID, "model", turn.Model, "state", turn.State, "code", turn.ErrorCode,
		"took", between(turn.StartedAt, turn.EndedAt), "input_tokens", turn.Usage.InputTokens, "output_tokens", turn.Usage.OutputTokens,
		"continuations", turn.Continuations, "retries", turn.Retries)
}

// between is the time from one moment to another; 0 where one is not known.
func between(from, to *time.Time) time.Duration {
	if from == nil || to == nil {
		return 0
	}
	return to.Sub(*from)
}
