package eval

import (
	"context"
	"slices"
	"sync"

	"offcut/agent"
	"offcut/models"
)

// record is what a model was sent in a session.
type record struct {
	mu    sync.Mutex
	seen  map[string]bool
	texts []string // each message once, as it was first sent so
}

// around watches a model.
func (r *record) around(model agent.Model) agent.Model { return recorded{model, r} }

type recorded struct {
	agent.Model
	record *record
}

// Stream notes the request and passes it on.
func (m recorded) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) (agent.Reply, error) {
	m.record.note(req.Messages)
	return m.Model.Stream(ctx, req, emit)
}

func (r *record) note(messages []models.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	for _, m := range messages {
		text := m.Content
		if m.Role == models.RoleTool {
			text = agent.ToolText(m)
		}
		if !r.seen[text] {
			r.seen[text] = true
			r.texts = append(r.texts, text)
		}
	}
}

// sent reports whether one of the messages that were sent holds it.
func (r *record) sent(m Matcher) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.texts, m.In)
}
