package retain

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"

	"offcut/agent"
	"offcut/models"
)

// memory is a Store in memory. Its failures are set by the test.
type memory struct {
	mu      sync.Mutex
	outputs map[string]*stored
	results map[string]models.Message // by call
	// What the next calls fail with.
	createErr, writeErr error
	writes, reads       int
}

type stored struct {
	row     models.RetainedOutput
	streams map[models.OutputStream][]byte
}

func newMemory() *memory { return &memory{outputs: map[string]*stored{}} }

func (m *memory) find(sessionID, id string) (*stored, error) {
	if s, ok := m.outputs[id]; ok && s.row.SessionID == sessionID {
		return s, nil
	}
	return nil, models.Errorf(models.ErrNotFound, "output_not_found", "no such output in this session")
}

func (m *memory) CreateOutput(_ context.Context, o models.RetainedOutput) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.createErr != nil {
		return m.createErr
	}
	m.outputs[o.ID] = &stored{row: o, streams: map[models.OutputStream][]byte{}}
	return nil
}

func (m *memory) WriteOutput(_ context.Context, o models.RetainedOutput, w models.OutputWrite) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.writeErr != nil {
		return m.writeErr
	}
	s, err := m.find(o.SessionID, o.ID)
	if err != nil {
		return err
	}
	m.writes++
	s.row = o
	s.streams[models.StreamText] = append(s.streams[models.StreamText], w.Text...)
	s.streams[models.StreamRaw] = append(s.streams[models.StreamRaw], w.Raw...)
	if w.SetSpill {
		s.streams[models.StreamSpill] = append([]byte(nil), w.Spill...)
	}
	return nil
}

func (m *memory) Output(_ context.Context, sessionID, id string) (models.RetainedOutput, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(sessionID, id)
	if err != nil {
		return models.RetainedOutput{}, err
	}
	return s.row, nil
}

func (m *memory) ReadOutput(_ context.Context, sessionID, id string, stream models.OutputStream, offset int64, n int) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	s, err := m.find(sessionID, id)
	if err != nil {
		return nil, err
	}
	data := s.streams[stream]
	from := min(offset, int64(len(data)))
	return data[from:min(from+int64(n), int64(len(data)))], nil
}

func (m *memory) DropOutput(_ context.Context, sessionID, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.find(sessionID, id); err != nil {
		return err
	}
	delete(m.outputs, id)
	return nil
}

func (m *memory) RunningOutputs(context.Context) ([]models.RetainedOutput, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var running []models.RetainedOutput
	for _, s := range m.outputs {
		if s.row.Running {
			running = append(running, s.row)
		}
	}
	return running, nil
}

func (m *memory) Call(_ context.Context, sessionID, callID string) (models.ToolCall, *models.Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	result, ok := m.results[callID]
	if !ok || result.SessionID != sessionID {
		return models.ToolCall{}, nil, models.Errorf(models.ErrNotFound, "call_not_found", "no such call")
	}
	return models.ToolCall{ID: callID, Name: "list_files"}, &result, nil
}

// only is the one output that is stored.
func (m *memory) only(t *testing.T) *stored {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.outputs) != 1 {
		t.Fatalf("%d outputs are stored, not one", len(m.outputs))
	}
	for _, s := range m.outputs {
		return s
	}
	return nil
}

func (m *memory) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.outputs)
}

const testSession = "ses_1"

func testCall(tool string) agent.Call {
	return agent.Call{ID: "call_1", SessionID: testSession, TurnID: "trn_1", Tool: tool, Live: func(string, int64) {}}
}

// pages is a copy as it is read page by page.
func pages(t *testing.T, store ReadStore, id string, limit int) string {
	t.Helper()
	return pagesBetween(t, store, id, 0, math.MaxInt64, limit)
}

// pagesBetween is a part of a copy as it is read page by page, to the end of
// the page on which end is.
func pagesBetween(t *testing.T, store ReadStore, id string, at, end int64, limit int) string {
	t.Helper()
	var text strings.Builder
	r := NewReader(store)
	for more := true; more && at < end; {
		page, err := r.Page(t.Context(), testSession, id, at, limit)
		if err != nil {
			t.Fatalf("page at %d: %v", at, err)
		}
		if page.HasMore && page.NextOffset <= at {
			t.Fatalf("page at %d does not get on", at)
		}
		if text.Len() == 0 {
			text.Grow(int(min(page.TotalBytes, end) - at))
		}
		text.WriteString(page.Text)
		at, more = page.NextOffset, page.HasMore
	}
	return text.String()
}
