package telemetry

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"offcut/agent"
	"offcut/models"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// MetricsConfig is what metrics are made of.
type MetricsConfig struct {
	Version string
	// Figures are the sums of all time, by tool and model: as few as there are
	// of these. They outlive a restart, and so do the counters made of them.
	Figures func(ctx context.Context) ([]models.Figures, error)
	// NoticeShare is the share of a tool's results of which more are not to be
	// cut without a notice.
	NoticeShare func(tool string) float64
}

// Metrics counts. Its labels are names of the configuration, of routes and of
// tools of which the store keeps a bounded number: nothing that a model or a
// request makes up becomes one.
type Metrics struct {
	registry   *prometheus.Registry
	requests   *prometheus.HistogramVec
	firstToken *prometheus.HistogramVec
	turns      *prometheus.CounterVec
	running    prometheus.Gauge
}

// Upper bounds of durations, in seconds: of requests, and of a model's first
// token.
var (
	requestBuckets    = []float64{.005, .02, .1, .5, 2, 10, 60}
	firstTokenBuckets = []float64{.1, .25, .5, 1, 2, 4, 8, 15, 30, 60, 120}
)

// NewMetrics makes metrics in a registry of their own.
func NewMetrics(cfg MetricsConfig) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "offcut_http_request_duration_seconds", Help: "How long requests took, by the pattern of their route.", Buckets: requestBuckets,
		}, []string{"route", "method", "code"}),
		firstToken: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "offcut_model_first_token_seconds", Help: "How long a model's first token took, waits before retries included.", Buckets: firstTokenBuckets,
		}, []string{"model"}),
		turns: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "offcut_turns_total", Help: "Turns that ended since the start, by how they did.",
		}, []string{"state"}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "offcut_running_turns", Help: "Turns that run now.",
		}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "offcut_build_info", Help: "The version that runs.", ConstLabels: prometheus.Labels{"version": cfg.Version},
	})
	build.Set(1)
	for _, state := range []models.State{models.StateDone, models.StateStopped, models.StateInterrupted, models.StateError} {
		m.turns.WithLabelValues(string(state))
	}
	m.registry.MustRegister(m.requests, m.firstToken, m.turns, m.running, build, figures{cfg},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// methods are those that become labels.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// Request counts a request that was answered, under its route's pattern; empty:
// it had none. Live connections, which last, are left out.
func (m *Metrics) Request(route, method string, status int, took time.Duration) {
	if status == http.StatusSwitchingProtocols {
		return
	}
	if route == "" {
		route = other
	}
	if !slices.Contains(methods, method) {
		method = other
	}
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Observe(took.Seconds())
}

const other = "(other)"

// Turn counts a turn that begins; the function is called with it as it ended.
// One that is left waiting is not over.
func (m *Metrics) Turn(ctx context.Context, _ models.Turn) (context.Context, func(models.Turn)) {
	m.running.Inc()
	return ctx, func(ended models.Turn) {
		m.running.Dec()
		if ended.State.Final() {
			m.turns.WithLabelValues(string(ended.State)).Inc()
		}
	}
}

// Model measures a model, under its name in the configuration.
func (m *Metrics) Model(model agent.Model, name string) agent.Model {
	return measured{model, m.firstToken.WithLabelValues(name)}
}

type measured struct {
	agent.Model
	firstToken prometheus.Observer
}

func (m measured) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) (agent.Reply, error) {
	start, begun := time.Now(), false
	return m.Model.Stream(ctx, req, func(d agent.Delta) {
		if !begun {
			begun = true
			m.firstToken.Observe(time.Since(start).Seconds())
		}
		emit(d)
	})
}
