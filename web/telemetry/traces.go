package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"

	"offcut/agent"
	"offcut/models"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Traces makes a span of each turn, and within it of each request to a model,
// each tool call and each copy that is kept. Names and attributes are those of
// OpenTelemetry's conventions for generative AI
// (https://opentelemetry.io/docs/specs/semconv/gen-ai/); what these do not have
// begins with offcut.
type Traces struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	contents bool
}

// NewTraces sends spans by OTLP over HTTP to where the variables
// OTEL_EXPORTER_OTLP_… say. contents: the texts of messages, arguments and
// results go along.
func NewTraces(ctx context.Context, version string, contents bool, log *slog.Logger) (*Traces, error) {
	client, err := newCollector(os.Getenv, version)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, err
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "offcut"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv(), // OTEL_SERVICE_NAME beats the name above
	)
	if err != nil {
		return nil, err
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces cannot be sent", "error", err) }))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return &Traces{provider: provider, tracer: provider.Tracer("offcut", trace.WithInstrumentationVersion(version)), contents: contents}, nil
}

// Close sends what is left.
func (t *Traces) Close(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// Turn begins the span of a turn; the function ends it, with the turn as it
// ended.
func (t *Traces) Turn(ctx context.Context, turn models.Turn) (context.Context, func(models.Turn)) {
	ctx, span := t.tracer.Start(ctx, "invoke_agent offcut", trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "invoke_agent"),
		attribute.String("gen_ai.agent.name", "offcut"),
		attribute.String("gen_ai.conversation.id", turn.SessionID),
		attribute.String("offcut.turn.id", turn.ID),
		attribute.String("offcut.request.id", turn.RequestID),
	))
	return ctx, func(ended models.Turn) {
		span.SetAttributes(
			attribute.String("gen_ai.request.model", ended.Model),
			attribute.String("offcut.turn.state", string(ended.State)),
			attribute.Int("offcut.turn.continuations", ended.Continuations),
			attribute.Int("offcut.turn.retries", ended.Retries),
		)
		span.SetAttributes(usage(ended.Usage)...)
		if ended.State == models.StateError || ended.State == models.StateInterrupted {
			fail(span, string(ended.ErrorCode))
		}
		span.End()
	}
}

func usage(u models.Usage) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.Int64("gen_ai.usage.input_tokens", u.InputTokens),
		attribute.Int64("gen_ai.usage.output_tokens", u.OutputTokens),
	}
}

// fail says in one word what went wrong. The sentence of an error may quote what
// was said.
func fail(span trace.Span, kind string) {
	if kind == "" {
		kind = "_OTHER" // the conventions' word
	}
	span.SetAttributes(attribute.String("error.type", kind))
	span.SetStatus(codes.Error, "")
}

// Model makes a span of each request to a model; name and provider are those of
// the configuration.
func (t *Traces) Model(model agent.Model, name, provider string) agent.Model {
	return tracedModel{model, t, name, provider}
}

type tracedModel struct {
	agent.Model
	traces         *Traces
	name, provider string
}

func (m tracedModel) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) (agent.Reply, error) {
	ctx, span := m.traces.tracer.Start(ctx, "chat "+m.name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "chat"),
		attribute.String("gen_ai.provider.name", m.provider),
		attribute.String("gen_ai.request.model", m.name),
		attribute.Bool("gen_ai.request.stream", true),
	))
	defer span.End()
	span.SetAttributes(held(req)...)
	retries, begun := 0, false
	if tell := req.OnRetry; tell != nil {
		req.OnRetry = func(r agent.Retry) {
			retries++
			span.AddEvent("retry", trace.WithAttributes(attribute.Int("offcut.retry.attempt", r.Attempt)))
			tell(r)
		}
	}
	reply, err := m.Model.Stream(ctx, req, func(d agent.Delta) {
		if !begun {
			begun = true
			span.AddEvent("first token")
		}
		emit(d)
	})
	span.SetAttributes(usage(reply.Usage)...)
	span.SetAttributes(
		attribute.String("gen_ai.response.model", reply.Model),
		attribute.StringSlice("gen_ai.response.finish_reasons", []string{string(reply.FinishReason)}),
		attribute.Int("offcut.retries", retries),
	)
	if m.traces.contents {
		span.SetAttributes(said("gen_ai.input.messages", req.Messages), said("gen_ai.output.messages", reply))
	}
	if err != nil {
		var refused *agent.ModelError
		kind := ""
		if errors.As(err, &refused) {
			kind = string(refused.Code)
		}
		fail(span, kind)
	}
	return reply, err
}

// said is a value as JSON.
func said(key string, value any) attribute.KeyValue {
	text, _ := json.Marshal(value) // plain values
	return attribute.String(key, string(text))
}
