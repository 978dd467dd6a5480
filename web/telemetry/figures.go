package telemetry

import (
	"context"
	"time"

	"offcut/models"

	"github.com/prometheus/client_golang/prometheus"
)

// figures collects what the store has counted, when it is asked for.
type figures struct{ cfg MetricsConfig }

// figuresTimeout bounds the reading of the figures: less than scrapers wait.
const figuresTimeout = 5 * time.Second

// A counted is a metric that is one of the figures.
type counted struct {
	desc  *prometheus.Desc
	value func(models.Figures) int64
}

func counter(name, help, label string, value func(models.Figures) int64) counted {
	return counted{prometheus.NewDesc("offcut_"+name, help, []string{label}, nil), value}
}

var (
	byTool = []counted{
		counter("tool_calls_total", "Results of tool calls.", "tool", func(f models.Figures) int64 { return f.Calls }),
		counter("tool_truncated_total", "Results that the model was not shown whole at once.", "tool", func(f models.Figures) int64 { return f.Truncated }),
		counter("tool_hidden_bytes_total", "Bytes of results that the model was not shown at once.", "tool", models.Figures.Hidden),
		counter("tool_recovered_bytes_total", "Hidden bytes that the model read later.", "tool", func(f models.Figures) int64 { return f.Recovered }),
		counter("tool_consulted_total", "Cut results whose copy was read or searched later.", "tool", func(f models.Figures) int64 { return f.Consulted }),
		counter("tool_reruns_total", "Calls that asked again for what had been cut.", "tool", func(f models.Figures) int64 { return f.Reruns }),
		counter("tool_incomplete_total", "Kept copies that are not all that the tool returned.", "tool", func(f models.Figures) int64 { return f.Incomplete }),
		counter("tool_failed_saves_total", "Copies that could not be stored.", "tool", func(f models.Figures) int64 { return f.FailedSaves }),
		counter("tool_repaired_arguments_total", "Calls that ran on arguments that had been cut.", "tool", func(f models.Figures) int64 { return f.Repaired }),
		counter("tool_refused_arguments_total", "Calls that did not run on arguments that had been cut.", "tool", func(f models.Figures) int64 { return f.Refused }),
	}
	byModel = []counted{
		counter("continuations_total", "Replies that were continued after the output limit.", "model", func(f models.Figures) int64 { return f.Continuations }),
		counter("cap_hits_total", "Turns that ended at the bound of continuations or requests.", "model", func(f models.Figures) int64 { return f.CapHits }),
		counter("retries_total", "Requests to the provider that were sent again.", "model", func(f models.Figures) int64 { return f.Retries }),
		counter("answers_total", "Turns that came to an answer.", "model", func(f models.Figures) int64 { return f.Answers }),
		counter("answers_on_unread_total", "Answers that rest on outputs which the model did not have whole.", "model", func(f models.Figures) int64 { return f.Unread }),
		counter("answers_naming_gap_total", "Of these, the ones that say so themselves.", "model", func(f models.Figures) int64 { return f.GapsNamed }),
		counter("answers_doubted_total", "Of these, the ones that say without reserve that something is absent.", "model", func(f models.Figures) int64 { return f.Doubted }),
	}
	noticeDesc = prometheus.NewDesc("offcut_tool_truncation_notice", "1 where a larger share of the tool's results was cut than its threshold.", []string{"tool"}, nil)
	layerDesc  = prometheus.NewDesc("offcut_layer_bytes_total", "Bytes of results that came to a layer, and that it let through.", []string{"layer", "direction"}, nil)
)

// Describe names all metrics.
func (c figures) Describe(out chan<- *prometheus.Desc) {
	for _, m := range append(append([]counted{}, byTool...), byModel...) {
		out <- m.desc
	}
	out <- noticeDesc
	out <- layerDesc
}

// Collect reads them. Where the database cannot be read they are missing, and
// the answer says so; the other metrics are there all the same.
func (c figures) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), figuresTimeout)
	defer cancel()
	ever, err := c.cfg.Figures(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(layerDesc, err)
		return
	}
	collect(out, byTool, ever, func(f models.Figures) string { return f.Tool })
	collect(out, byModel, ever, func(f models.Figures) string { return f.Model })
	var total models.Figures
	tools := map[string]models.Figures{}
	for _, f := range ever {
		sum := tools[f.Tool]
		sum.Calls, sum.Truncated = sum.Calls+f.Calls, sum.Truncated+f.Truncated
		tools[f.Tool] = sum
		total.Produced, total.Captured, total.Retained = total.Produced+f.Produced, total.Captured+f.Captured, total.Retained+f.Retained
		total.Shown, total.Sent = total.Shown+f.Shown, total.Sent+f.Sent
	}
	for tool, sum := range tools {
		if tool != "" {
			out <- prometheus.MustNewConstMetric(noticeDesc, prometheus.GaugeValue, oneIf(sum.OverNotice(c.cfg.NoticeShare(tool))), tool)
		}
	}
	for _, l := range total.Layers() {
		out <- prometheus.MustNewConstMetric(layerDesc, prometheus.CounterValue, float64(l.In), string(l.Layer), "in")
		out <- prometheus.MustNewConstMetric(layerDesc, prometheus.CounterValue, float64(l.Out), string(l.Layer), "out")
	}
}

// collect sums each metric by its label; what has none does not count for it.
func collect(out chan<- prometheus.Metric, metrics []counted, all []models.Figures, label func(models.Figures) string) {
	for _, m := range metrics {
		sums := map[string]int64{}
		for _, f := range all {
			if name := label(f); name != "" {
				sums[name] += m.value(f)
			}
		}
		for name, n := range sums {
			out <- prometheus.MustNewConstMetric(m.desc, prometheus.CounterValue, float64(n), name)
		}
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
