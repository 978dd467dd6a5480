package contextwin_test

import (
	"fmt"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/contextwin"
	"offcut/models"
)

// worked is a history of one question and of so many calls with their results.
func worked(calls int) []models.Message {
	history := []models.Message{user("go", models.StateDone)}
	for i := range calls {
		id := fmt.Sprint("call_", i)
		came := result(id, text(200))
		came.Metadata = &models.ResultMetadata{ExitCode: models.Ptr(0), ExecutionMS: models.Ptr(int64(3)), Sandbox: models.Ptr(true)}
		history = append(history, assistant("", id), came)
	}
	for i := range history {
		history[i].ID, history[i].TurnID, history[i].CreatedAt = fmt.Sprint("msg_", i), "trn_1", noon.Add(time.Duration(i)*time.Second)
	}
	return history
}

// BenchmarkFitOf10000Messages is what the window adds to the first request of a
// turn, and to each one after it: where all fits, and where much has to go.
func BenchmarkFitOf10000Messages(b *testing.B) {
	history := worked(5000)
	for name, tokens := range map[string]int{"all fits": 10_000_000, "much has to go": 128_000, "most has to go": 8_000} {
		limits := contextwin.Limits{ContextTokens: tokens}
		b.Run(name+"/first", func(b *testing.B) {
			for b.Loop() {
				contextwin.Open(contextwin.Options{Limits: limits}).Fit(b.Context(), agent.Request{Messages: history})
			}
		})
		b.Run(name+"/next", func(b *testing.B) {
			w := contextwin.Open(contextwin.Options{Limits: limits})
			w.Fit(b.Context(), agent.Request{Messages: history})
			for b.Loop() {
				w.Fit(b.Context(), agent.Request{Messages: history})
			}
		})
	}
}
