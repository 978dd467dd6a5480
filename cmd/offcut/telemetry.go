package main

import (
	"context"
	"fmt"
	"time"

	"offcut/agent"
	"offcut/agent/retain"
	"offcut/models"
	"offcut/models/store"
	"offcut/web/telemetry"
)

// flushGrace is how long the last spans may take to be sent when the server
// stops.
const flushGrace = 3 * time.Second

// watched is what tells monitoring of the program.
type watched struct {
	metrics *telemetry.Metrics
	traces  *telemetry.Traces // nil: nowhere to send them
}

// watch makes metrics, and traces where there is an address to send them to.
func (a *App) watch(ctx context.Context, db *store.Store) (watched, error) {
	w := watched{metrics: telemetry.NewMetrics(telemetry.MetricsConfig{
		Version: version, Figures: db.FiguresEver, NoticeShare: a.cfg.NoticeShare,
	})}
	if !a.cfg.Traces.Enabled {
		return w, nil
	}
	var err error
	if w.traces, err = telemetry.NewTraces(ctx, version, a.cfg.Traces.Contents, a.log); err != nil {
		return w, fmt.Errorf("traces cannot be sent: %w", err)
	}
	a.closing(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), flushGrace)
		defer cancel()
		if err := w.traces.Close(ctx); err != nil {
			a.log.Warn("the last traces could not be sent", "error", err) // the program has ended well all the same
		}
		return nil
	})
	return w, nil
}

// model watches a model under its name in the configuration.
func (w watched) model(model agent.Model, name, provider string) agent.Model {
	if w.traces != nil {
		model = w.traces.Model(model, name, provider)
	}
	return w.metrics.Model(model, name)
}

func (w watched) tools(tools []agent.Tool) []agent.Tool {
	if w.traces == nil {
		return tools
	}
	return w.traces.Tools(tools)
}

// more watches tools that are found when a turn begins.
func (w watched) more(tools func(context.Context) []agent.Tool) func(context.Context) []agent.Tool {
	return func(ctx context.Context) []agent.Tool { return w.tools(tools(ctx)) }
}

func (w watched) copies(db retain.Store) retain.Store {
	if w.traces == nil {
		return db
	}
	return w.traces.Copies(db)
}

// turn watches a turn that begins.
func (w watched) turn(ctx context.Context, turn models.Turn) (context.Context, func(models.Turn)) {
	ctx, counted := w.metrics.Turn(ctx, turn)
	if w.traces == nil {
		return ctx, counted
	}
	ctx, traced := w.traces.Turn(ctx, turn)
	return ctx, func(ended models.Turn) {
		counted(ended)
		traced(ended)
	}
}
