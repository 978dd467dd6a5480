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

	mu      sync.Mutex
	seen    map[string]bool
	texts   []string          // each message once, as it was first sent so
	waiting string            // why the request that is on its way was sent again; empty: it was not
	failed  *agent.ModelError // why the last request got no answer; nil: it got one
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
	if again.Last != nil && again.Attempt >= maxPatience && !r.line.patient(again.Unreached) {
		again.Last()
	}
}

func (r *record) ended(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // what the request waited for is still known
	}
	failed := unanswered(err)
	r.mu.Lock()
	r.waiting, r.failed = "", failed
	r.mu.Unlock()
	if failed == nil {
		r.line.answered()
	}
}

// unanswered is the error of a request to which nothing of an answer came; nil of
// others, and of one that was too long: that is its scenario's.
func unanswered(err error) *agent.ModelError {
	var failed *agent.ModelError
	if !errors.As(err, &failed) || failed.Broken || failed.Code == models.CodeContextOverflow {
		return nil
	}
	return failed
}

// failure is why the last request got no answer; nil: it got one.
func (r *record) failure() *agent.ModelError {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
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
