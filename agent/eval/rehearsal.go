package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"offcut/agent"
	"offcut/models"
)

// rehearsal is a model that plays a scenario's walkthrough: it proves that the
// question can be answered, with the tools that there are, by whoever reads.
type rehearsal struct {
	steps []Step

	mu      sync.Mutex
	next    int
	offset  *int64 // of the page that the step before goes on with
	site    string
	outputs []string
	took    map[string]string
}

// asked are what the templates of a question can name.
type asked struct{ Site string }

// values are what the templates of a walkthrough can name.
type values struct {
	Site    string
	Output  string
	Outputs []string
	Took    map[string]string
}

// Stream makes the next step. What the step before took is taken first.
func (r *rehearsal) Stream(_ context.Context, req agent.Request, emit func(agent.Delta)) (agent.Reply, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(req.Tools) == 0 { // a summary of what was said
		return says(req, "The earlier questions were answered.", models.FinishStop, emit), nil
	}
	r.read(req.Messages)
	if r.next >= len(r.steps) {
		return says(req, "The walkthrough is over.", models.FinishStop, emit), nil
	}
	step := r.steps[r.next]
	v := r.values()
	r.next++
	if step.Say != "" {
		text, err := filled(step.Say, v)
		if err != nil {
			return r.stuck(err)
		}
		if step.Cut {
			return says(req, text, models.FinishLength, emit), nil
		}
		return says(req, text, models.FinishStop, emit), nil
	}
	if !slices.ContainsFunc(req.Tools, func(t agent.ToolSpec) bool { return t.Name == step.Call }) {
		return r.stuck(fmt.Errorf("there is no tool %q", step.Call))
	}
	arguments, err := r.arguments(step, v)
	if err != nil {
		return r.stuck(err)
	}
	return agent.Reply{ToolCalls: []models.ToolCall{{Name: step.Call, Arguments: arguments}}, FinishReason: models.FinishToolCalls, Usage: usageOf(req, arguments)}, nil
}

// stuck ends the turn: a step names what no step before has taken.
func (r *rehearsal) stuck(err error) (agent.Reply, error) {
	return agent.Reply{}, &agent.ModelError{Code: models.CodeProviderError, Message: fmt.Sprintf("walkthrough[%d]: %v", r.next-1, err), Err: err}
}

func says(req agent.Request, text string, why models.FinishReason, emit func(agent.Delta)) agent.Reply {
	emit(agent.Delta{Text: text})
	return agent.Reply{Content: text, FinishReason: why, Usage: usageOf(req, text)}
}

// usageOf is an estimate of what a provider would count: what a model is sent is
// shortened by what its provider counted before.
func usageOf(req agent.Request, text string) models.Usage {
	sent := len(req.System)
	for _, m := range req.Messages {
		sent += len(agent.ToolText(m))
	}
	for _, t := range req.Tools {
		sent += len(t.Description) + len(t.Parameters)
	}
	return models.Usage{InputTokens: int64(sent / agent.BytesPerToken), OutputTokens: int64(len(text)/agent.BytesPerToken + 1)}
}

func (r *rehearsal) values() values {
	v := values{Site: r.site, Outputs: r.outputs, Took: r.took}
	if n := len(r.outputs); n > 0 {
		v.Output = r.outputs[n-1]
	}
	return v
}

// arguments are those of a step's call, as JSON. A template that makes a whole
// number makes a number.
func (r *rehearsal) arguments(step Step, v values) (string, error) {
	with := maps.Clone(step.With)
	if with == nil {
		with = map[string]any{}
	}
	for key, value := range with {
		text, ok := value.(string)
		if !ok {
			continue
		}
		made, err := filled(text, v)
		if err != nil {
			return "", err
		}
		with[key] = made
		if n, err := strconv.ParseInt(made, 10, 64); err == nil && made != text {
			with[key] = n
		}
	}
	if r.offset != nil {
		with["offset"] = *r.offset
	}
	raw, err := json.Marshal(with)
	return string(raw), err
}

// read takes what the last result has for the walkthrough.
func (r *rehearsal) read(messages []models.Message) {
	last := messages[len(messages)-1]
	if last.Role != models.RoleTool {
		return
	}
	r.offset = nil
	var meta models.ResultMetadata
	if last.Metadata != nil {
		meta = *last.Metadata
	}
	for _, id := range append([]string{meta.OutputID}, nestedIDs(meta)...) {
		if id != "" && !slices.Contains(r.outputs, id) {
			r.outputs = append(r.outputs, id)
		}
	}
	if r.next == 0 {
		return
	}
	step := r.steps[r.next-1]
	all := r.take(step, agent.ToolText(last))
	if step.Follow && !all && meta.HasMore != nil && *meta.HasMore {
		r.offset = meta.NextOffset
		r.next--
	}
}

func nestedIDs(meta models.ResultMetadata) []string {
	var ids []string
	for _, nested := range meta.Nested {
		ids = append(ids, nested.OutputID)
	}
	return ids
}

// take names what a result holds of what the step wants; it reports whether that
// is all.
func (r *rehearsal) take(step Step, text string) bool {
	if r.took == nil {
		r.took = map[string]string{}
	}
	all := true
	for name, pattern := range step.Take {
		if m := pattern.FindStringSubmatch(text); m != nil {
			r.took[name] = strings.TrimSpace(m[1])
		} else if _, before := r.took[name]; !before {
			all = false
		}
	}
	return all
}
