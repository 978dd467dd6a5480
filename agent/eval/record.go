package eval

import (
	"context"
	"errors"
	"slices"
	"sync"

	"offcut/agent"
	"offcut/models"
)

// record is what a model was sent in a session, and how its server bore up.
type record struct {
	line *line

	mu        sync.Mutex
	seen      map[string]bool
	texts     []string // each message once, as it was first sent so
	waiting   string   // why the request that is on its way was sent again; empty: it was not
	unreached bool     // the last request got no answer
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
	told := req.OnRetry
	req.OnRetry = func(again agent.Retry) {
		if told != nil {
			told(again)
		}
		m.record.again(again)
	}
	reply, err := m.Model.Stream(ctx, req, emit)
	m.record.ended(ctx, err)
	return reply, err
}

func (r *record) again(again agent.Retry) {
	r.mu.Lock()
	r.waiting = again.Reason
	r.mu.Unlock()
	if again.Unreached && again.Last != nil && again.Attempt >= maxSilence && !r.line.answers() {
		again.Last()
	}
}

func (r *record) ended(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // what the request waited for is still known
	}
	var failed *agent.ModelError
	r.mu.Lock()
	r.waiting, r.unreached = "", errors.As(err, &failed) && failed.Unreached
	unreached := r.unreached
	r.mu.Unlock()
	if !unreached {
		r.line.answered()
	}
}

// silent reports whether the last request got no answer.
func (r *record) silent() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unreached
}

// wait is why a request was sent again that had no answer by the end; empty:
// none was.
func (r *record) wait() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waiting
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
