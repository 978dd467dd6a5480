package runner

import (
	"log/slog"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/events"
	"offcut/models"
	"offcut/models/store"
)

// BenchmarkAnswerOf5000Chunks sends an answer of 5,000 pieces through the loop,
// the database and the broker to one watcher.
func BenchmarkAnswerOf5000Chunks(b *testing.B) {
	const chunks = 5000
	s, err := store.Open(b.Context(), b.TempDir(), store.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	owner := models.NewID(models.PrefixUser)
	if err := s.CreateUser(b.Context(), models.User{ID: owner, Name: "ada", Role: models.RoleUser, CreatedAt: time.Now()}); err != nil {
		b.Fatal(err)
	}
	pieces := make([]string, chunks)
	for i := range pieces {
		pieces[i] = "piece of a longer answer "
	}
	script, broker := agenttest.NewScript(), events.NewBroker()
	r := New(Config{
		Store: s, Broker: broker,
		Models:    func(string) (agent.Model, ModelInfo, error) { return script, ModelInfo{}, nil },
		Workspace: func(string) (string, error) { return b.TempDir(), nil },
	})
	for b.Loop() {
		session := models.NewID(models.PrefixSession)
		if err := s.CreateSession(b.Context(), models.Session{ID: session, OwnerID: owner, CreatedAt: time.Now(), UpdatedAt: time.Now()}); err != nil {
			b.Fatal(err)
		}
		sub, ok := broker.Subscribe(session, broker.Seq(session))
		if !ok {
			b.Fatal("cannot subscribe")
		}
		script.Then(agenttest.Streams(pieces, 0))
		if _, err := r.Send(b.Context(), models.NewTurn{SessionID: session, OwnerID: owner, Content: "go"}); err != nil {
			b.Fatal(err)
		}
		size := 0
		for e := range sub.Events() {
			size += len(e.Text)
			if e.Kind == events.KindTurn && e.State.Final() {
				break
			}
		}
		sub.Close()
		if size < chunks*len(pieces[0]) {
			b.Fatalf("%d bytes came of %d", size, chunks*len(pieces[0]))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/chunks, "ns/chunk")
}
