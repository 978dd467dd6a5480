package contextwin

import (
	"time"

	"offcut/agent"
	"offcut/models"
)

// Prune is what a call at that time sends of a well-formed history, and how each
// shortened result of it was.
func Prune(req agent.Request, prior Decisions, limits Limits, now time.Time) ([]models.Message, Decisions) {
	p := replay(newPruner(limits, prior, frame(req)), req.Messages)
	p.modelCall(now)
	return p.sent, p.decisions
}

// Pair makes a history well formed.
func Pair(history []models.Message) []models.Message { return pair{}.messages(history) }
