package telemetry

import (
	"context"
	"slices"
	"strings"

	"offcut/agent"
	"offcut/agent/retain"
	"offcut/models"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Tool makes a span of each call of a tool. A tool whose calls somebody has to
// allow stays one: the span begins once they have.
func (t *Traces) Tool(tool agent.Tool) agent.Tool {
	traced := tracedTool{tool, t}
	if asker, asks := tool.(agent.Asker); asks {
		return tracedAsker{traced, asker}
	}
	return traced
}

// Tools is Tool of each.
func (t *Traces) Tools(tools []agent.Tool) []agent.Tool {
	traced := make([]agent.Tool, 0, len(tools))
	for _, tool := range tools {
		traced = append(traced, t.Tool(tool))
	}
	return traced
}

type tracedAsker struct {
	tracedTool
	asker agent.Asker
}

// Ask asks as the tool does, and traces what then runs in its place.
func (a tracedAsker) Ask(ctx context.Context, call agent.Call) (func(context.Context) (agent.Tool, error), error) {
	wait, err := a.asker.Ask(ctx, call)
	if wait == nil || err != nil {
		return wait, err
	}
	return func(ctx context.Context) (agent.Tool, error) {
		tool, err := wait(ctx)
		if tool == nil {
			return nil, err
		}
		return tracedTool{tool, a.traces}, err
	}, nil
}

type tracedTool struct {
	agent.Tool
	traces *Traces
}

func (t tracedTool) Run(ctx context.Context, call agent.Call) (agent.ToolResult, error) {
	ctx, span := t.traces.tracer.Start(ctx, "execute_tool "+call.Tool, trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "execute_tool"),
		attribute.String("gen_ai.tool.name", call.Tool),
		attribute.String("gen_ai.tool.type", "function"),
		attribute.String("gen_ai.tool.call.id", call.ID),
		attribute.String("gen_ai.conversation.id", call.SessionID),
		attribute.String("offcut.turn.id", call.TurnID),
	))
	defer span.End()
	result, err := t.Tool.Run(ctx, call)
	span.SetAttributes(truncation(result)...)
	if t.traces.contents {
		span.SetAttributes(
			attribute.String("gen_ai.tool.call.arguments", string(call.Arguments)),
			attribute.String("gen_ai.tool.call.result", result.Content),
		)
	}
	switch {
	case err != nil:
		fail(span, "")
	case result.IsError || result.Metadata.IsError:
		fail(span, "tool_error")
	}
	return result, err
}

// truncation says what became of a result.
func truncation(r agent.ToolResult) []attribute.KeyValue {
	meta := r.Metadata
	reasons := make([]string, 0, len(meta.Reasons))
	for _, reason := range meta.Reasons {
		reasons = append(reasons, string(reason))
	}
	p := models.PassageOf(models.Message{Content: r.Content, Metadata: &meta}, nil)
	attributes := []attribute.KeyValue{
		attribute.Bool("offcut.truncation.truncated", meta.Truncated),
		attribute.StringSlice("offcut.truncation.reasons", reasons),
		attribute.String("offcut.truncation.retention", string(meta.Retention)),
	}
	for _, l := range p.Layers() {
		if !requested(l.Layer) {
			attributes = append(attributes, layer(l)...)
		}
	}
	if meta.OutputID != "" {
		attributes = append(attributes, attribute.String("offcut.output.id", meta.OutputID))
	}
	if meta.Complete != nil {
		attributes = append(attributes, attribute.Bool("offcut.truncation.complete", *meta.Complete))
	}
	return attributes
}

func layer(l models.LayerBytes) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.Int64("offcut.truncation."+string(l.Layer)+".bytes_in", l.In),
		attribute.Int64("offcut.truncation."+string(l.Layer)+".bytes_out", l.Out),
	}
}

// requested reports whether a layer is one that a result passes with each request
// anew.
func requested(l models.Layer) bool { return l == models.LayerPruning || l == models.LayerTransport }

// held says what a request holds of results, as they were shortened for it, and
// whether a summary stands in it for older messages.
func held(req agent.Request) []attribute.KeyValue {
	var sum models.Passage
	sum.Sent = new(int64)
	pruned, summarised := 0, false
	for _, m := range req.Messages {
		summarised = summarised || m.ID == "" && strings.HasPrefix(m.Content, agent.SummaryHead)
		if m.Role != models.RoleTool {
			continue
		}
		p := models.PassageOf(m, nil)
		sent := p.Shown
		if p.Sent != nil {
			sent = *p.Sent
		}
		if slices.Contains(metadata(m).Reasons, models.ReasonPruning) {
			pruned++
		}
		sum.Shown += p.Shown
		*sum.Sent += sent
	}
	attributes := []attribute.KeyValue{
		attribute.Bool("offcut.request.summary", strings.HasPrefix(req.System, agent.SummaryTask)),
		attribute.Bool("offcut.truncation.summarised", summarised),
		attribute.Int("offcut.truncation.pruned_results", pruned),
	}
	for _, l := range sum.Layers() {
		if requested(l.Layer) {
			attributes = append(attributes, layer(l)...)
		}
	}
	return attributes
}

func metadata(m models.Message) models.ResultMetadata {
	if m.Metadata == nil {
		return models.ResultMetadata{}
	}
	return *m.Metadata
}

// Copies makes a span of each copy that is kept: of its last write, and of one
// that could not begin.
func (t *Traces) Copies(store retain.Store) retain.Store { return tracedCopies{store, t} }

type tracedCopies struct {
	retain.Store
	traces *Traces
}

func (c tracedCopies) CreateOutput(ctx context.Context, o models.RetainedOutput) error {
	err := c.Store.CreateOutput(ctx, o)
	if err != nil {
		c.end(c.begin(ctx, o), err)
	}
	return err
}

func (c tracedCopies) WriteOutput(ctx context.Context, o models.RetainedOutput, w models.OutputWrite) error {
	if o.Running {
		return c.Store.WriteOutput(ctx, o, w)
	}
	span := c.begin(ctx, o)
	err := c.Store.WriteOutput(ctx, o, w)
	c.end(span, err)
	return err
}

func (c tracedCopies) begin(ctx context.Context, o models.RetainedOutput) trace.Span {
	_, span := c.traces.tracer.Start(ctx, "retain "+o.Tool, trace.WithAttributes(
		attribute.String("gen_ai.conversation.id", o.SessionID),
		attribute.String("gen_ai.tool.call.id", o.CallID),
		attribute.String("offcut.output.id", o.ID),
		attribute.Int64("offcut.output.total_bytes", o.TotalBytes),
		attribute.Int64("offcut.output.captured_bytes", o.CapturedBytes),
		attribute.Int64("offcut.output.omitted_bytes", o.OmittedBytes),
		attribute.Bool("offcut.output.complete", o.Complete),
	))
	return span
}

func (c tracedCopies) end(span trace.Span, err error) {
	if err != nil {
		fail(span, "save_failed")
	}
	span.End()
}
