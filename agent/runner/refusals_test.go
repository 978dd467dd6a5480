package runner

import (
	"net/http"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/models"
)

// slowDumps write nothing until they are let.
type slowDumps chan struct{}

func (d slowDumps) Save(agent.Refusal) (string, error) {
	<-d
	return "", nil
}

// A refusal that takes long to write down neither holds the turn nor is lost at
// the program's end.
func TestATurnDoesNotWaitLongForItsDump(t *testing.T) {
	dumps := make(slowDumps)
	h := newHouse(t, func(c *Config) { c.Dumps = dumps },
		agenttest.Fails(&agent.ModelError{Code: models.CodeProviderRefused, Status: http.StatusBadRequest, Message: "no."}))
	turn := h.rest(h.send(h.session(), "go"))
	if turn.State != models.StateError {
		t.Errorf("%+v", turn)
	}
	closed := make(chan error, 1)
	go func() { closed <- h.runner.Shutdown(t.Context()) }()
	select {
	case err := <-closed:
		t.Error("the program ended before the dump was written", err)
	case <-time.After(100 * time.Millisecond):
	}
	close(dumps)
	h.must(<-closed)
}
