package agent_test

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/models"
)

// changing is a tool that has effects.
type changing struct{ agent.Tool }

func (c changing) Spec() agent.ToolSpec {
	spec := c.Tool.Spec()
	spec.HasEffects = true
	return spec
}

// numbered are n calls of a tool, which are given their number.
func numbered(tool string, n int) []models.ToolCall {
	var calls []models.ToolCall
	for i := range n {
		calls = append(calls, agenttest.Call("", tool, `{"n":`+strconv.Itoa(i)+`}`))
	}
	return calls
}

func number(c agent.Call) int {
	var args struct{ N int }
	_ = json.Unmarshal(c.Arguments, &args)
	return args.N
}

// Each change reads all of a file and writes all of it, as edits do.
func TestChangesOfOneReplyAreAllThereAndInOrder(t *testing.T) {
	const calls = 12
	var mu sync.Mutex
	var file []int
	edit := changing{agenttest.ToolFunc("edit", func(_ context.Context, c agent.Call) (agent.ToolResult, error) {
		mu.Lock()
		old := slices.Clone(file)
		mu.Unlock()
		time.Sleep(time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		file = append(old, number(c))
		return agenttest.Text(strconv.Itoa(number(c))), nil
	})}
	j, _, _ := run(t, []agenttest.Step{agenttest.CallsAll(numbered("edit", calls)...), agenttest.Says("end")}, edit)
	if len(file) != calls || !slices.IsSorted(file) {
		t.Errorf("the file has the changes %v of %d", file, calls)
	}
	for i, r := range j.results() {
		if r.Content != strconv.Itoa(i) {
			t.Errorf("result %d is %q", i, r.Content)
		}
	}
}

func TestAChangeStandsBetweenWhatWasAskedBeforeAndBehindIt(t *testing.T) {
	var mu sync.Mutex
	content := "old"
	look := agenttest.ToolFunc("look", func(_ context.Context, c agent.Call) (agent.ToolResult, error) {
		time.Sleep(time.Duration(5-number(c)) * time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		return agenttest.Text(content), nil
	})
	change := changing{agenttest.ToolFunc("change", func(context.Context, agent.Call) (agent.ToolResult, error) {
		time.Sleep(5 * time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		content = "new"
		return agenttest.Text("changed"), nil
	})}
	calls := slices.Concat(numbered("look", 3), numbered("change", 1), numbered("look", 2))
	j, _, _ := run(t, []agenttest.Step{agenttest.CallsAll(calls...), agenttest.Says("end")}, look, change)
	var got []string
	for _, r := range j.results() {
		got = append(got, r.Content)
	}
	if want := []string{"old", "old", "old", "changed", "new", "new"}; !slices.Equal(got, want) {
		t.Errorf("results %q, want %q", got, want)
	}
}

// Each call waits until all of them have begun.
func TestCallsWithoutEffectsRunAtTheSameTime(t *testing.T) {
	const calls = 4
	var begun sync.WaitGroup
	begun.Add(calls)
	look := agenttest.ToolFunc("look", func(ctx context.Context, _ agent.Call) (agent.ToolResult, error) {
		begun.Done()
		all := make(chan struct{})
		go func() { begun.Wait(); close(all) }()
		select {
		case <-all:
			return agenttest.Text("together"), nil
		case <-time.After(5 * time.Second):
			return agenttest.Text("alone"), nil
		}
	})
	j, _, _ := run(t, []agenttest.Step{agenttest.CallsAll(numbered("look", calls)...), agenttest.Says("end")}, look)
	for _, r := range j.results() {
		if r.Content != "together" {
			t.Errorf("a call ran %s", r.Content)
		}
	}
}
