package runner

import (
	"context"
	"maps"

	"offcut/agent"
	"offcut/agent/contextwin"
	"offcut/models"
)

// transit follows how many bytes of each result the model is sent, so that a
// reply can prove it, and only what changed is written.
type transit struct {
	proved map[string]int64 // by call; see models.Proof
	asked  map[string]int64 // what the request holds that waits for its reply
}

// takeOverSent begins with what earlier turns have proved.
func (j *journal) takeOverSent(ctx context.Context) error {
	proved, err := j.r.cfg.Store.Sent(ctx, j.turn.SessionID)
	if err != nil {
		return j.storageError("read what was sent", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.transit = transit{proved: proved}
	return nil
}

// stored notes a result that no request held yet.
func (t *transit) stored(callID string) {
	if t.proved == nil {
		t.proved = map[string]int64{}
	}
	t.proved[callID] = models.SentWhole - 1
}

// asking notes what a request holds. Results that were sent before and are not
// in it are what a summary stands for now.
func (t *transit) asking(req agent.Request) {
	held := make(map[string]int64, len(t.proved))
	for _, m := range req.Messages {
		if m.Role == models.RoleTool {
			held[m.ToolCallID] = contextwin.Left(m)
		}
	}
	t.asked = map[string]int64{}
	for callID, before := range t.proved {
		now, in := held[callID]
		if !in && before < models.SentWhole {
			continue
		}
		if now != before {
			t.asked[callID] = now
		}
	}
}

// proof is what changes with the reply to what was asked last.
func (t *transit) proof() map[string]int64 { return t.asked }

// prove takes it as stored.
func (t *transit) prove() {
	maps.Copy(t.proved, t.asked)
	t.asked = nil
}
