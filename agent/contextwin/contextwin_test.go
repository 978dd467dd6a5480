package contextwin_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"offcut/agent"
	"offcut/agent/contextwin"
	"offcut/models"
)

func user(content string, state models.State) models.Message {
	return models.Message{Role: models.RolePerson, Content: content, State: state}
}

func assistant(content string, calls ...string) models.Message {
	m := models.Message{Role: models.RoleAssistant, Content: content, State: models.StateDone, FinishReason: models.FinishStop}
	for _, id := range calls {
		m.ToolCalls = append(m.ToolCalls, models.ToolCall{ID: id, Name: "look", Arguments: "{}"})
	}
	return m
}

func result(id, content string) models.Message {
	return models.Message{Role: models.RoleTool, ToolCallID: id, Content: content, State: models.StateDone, Metadata: &models.ResultMetadata{}}
}

func thinking(state models.State, finish models.FinishReason) models.Message {
	return models.Message{Role: models.RoleAssistant, Reasoning: "hm", State: state, FinishReason: finish}
}

// short writes a history as one line.
func short(messages []models.Message) string {
	var parts []string
	for _, m := range messages {
		switch m.Role {
		case models.RoleTool:
			parts = append(parts, "result "+m.ToolCallID)
		case models.RoleAssistant:
			s := "assistant"
			for _, c := range m.ToolCalls {
				s += " +" + c.ID
			}
			parts = append(parts, s)
		default:
			parts = append(parts, string(m.Role))
		}
	}
	return strings.Join(parts, ", ")
}

func TestWhatIsSentIsWellFormed(t *testing.T) {
	done := models.StateDone
	for name, test := range map[string]struct {
		history []models.Message
		want    string
	}{
		"as it is":                      {[]models.Message{user("q", done), assistant("", "a", "b"), result("a", ""), result("b", ""), assistant("x")}, "user, assistant +a +b, result a, result b, assistant"},
		"a call without a result":       {[]models.Message{user("q", done), assistant("", "a", "b"), result("b", ""), user("q", done)}, "user, assistant +a +b, result a, result b, user"},
		"results in another order":      {[]models.Message{assistant("", "a", "b"), result("b", ""), result("a", "")}, "assistant +a +b, result a, result b"},
		"a result behind other things":  {[]models.Message{assistant("", "a"), user("q", done), result("a", "")}, "assistant +a, result a, user"},
		"a result without its call":     {[]models.Message{user("q", done), result("a", ""), assistant("x")}, "user, assistant"},
		"two results of one call":       {[]models.Message{assistant("", "a"), result("a", "1"), result("a", "2")}, "assistant +a, result a"},
		"an id used twice":              {[]models.Message{assistant("", "a"), result("a", ""), assistant("x", "a")}, "assistant +a, result a, assistant"},
		"a call without an id":          {[]models.Message{assistant("x", "")}, "assistant"},
		"an empty reply":                {[]models.Message{user("q", done), assistant(""), user("q", done)}, "user, user"},
		"queued and removed messages":   {[]models.Message{user("q", done), user("w", models.StateQueued), user("r", models.StateStopped)}, "user"},
		"thinking that was cut":         {[]models.Message{thinking(done, models.FinishLength)}, "assistant"},
		"thinking that was stopped":     {[]models.Message{thinking(models.StateStopped, "")}, "assistant"},
		"thinking that came to nothing": {[]models.Message{thinking(done, models.FinishStop)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			before := fmt.Sprintf("%+v", test.history)
			got := contextwin.Pair(test.history)
			if short(got) != test.want {
				t.Errorf("sent %q, want %q", short(got), test.want)
			}
			if fmt.Sprintf("%+v", test.history) != before {
				t.Error("the history was changed")
			}
		})
	}
}

func TestAMissingResultSaysThatEffectsAreUnknown(t *testing.T) {
	got := contextwin.Pair([]models.Message{assistant("", "a")})
	if m := got[1]; !strings.Contains(m.Content, "effects are unknown") || !m.Metadata.IsError {
		t.Errorf("%+v", m)
	}
}

// FuzzPair makes any history out of bytes, and holds what is sent against the
// rules of the providers.
func FuzzPair(f *testing.F) {
	f.Add([]byte{0, 1, 9, 17, 2, 10, 3, 200, 77, 1, 1, 2, 2})
	f.Add([]byte("any history at all, with calls and results"))
	f.Fuzz(func(t *testing.T, data []byte) {
		history := historyOf(data)
		got := contextwin.Pair(history)
		wellFormed(t, got)
		if again := contextwin.Pair(got); short(again) != short(got) {
			t.Errorf("not stable: %q, then %q", short(got), short(again))
		}
	})
}

func historyOf(data []byte) []models.Message {
	states := []models.State{models.StateQueued, models.StateRunning, models.StateDone, models.StateStopped, models.StateInterrupted, models.StateError}
	var history []models.Message
	for _, b := range data {
		id := fmt.Sprint(b >> 5)
		state := states[int(b)%len(states)]
		text := strings.Repeat("x", int(b>>3)%2)
		switch b % 5 {
		case 0:
			history = append(history, user(text, state))
		case 1:
			m := assistant(text, id, fmt.Sprint(b>>4))
			m.State = state
			history = append(history, m)
		case 2:
			history = append(history, assistant(text))
		case 3:
			history = append(history, result(id, text))
		case 4:
			history = append(history, thinking(state, models.FinishLength))
		}
	}
	return history
}

func wellFormed(t *testing.T, messages []models.Message) {
	t.Helper()
	var open []string
	seen := map[string]bool{}
	for i, m := range messages {
		if m.Role == models.RoleTool {
			if len(open) == 0 || open[0] != m.ToolCallID {
				t.Fatalf("message %d: result of %q, open calls %q", i, m.ToolCallID, open)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			t.Fatalf("message %d: calls %q have no result", i, open)
		}
		if m.Content == "" && len(m.ToolCalls) == 0 {
			t.Fatalf("message %d is empty", i)
		}
		for _, c := range m.ToolCalls {
			if seen[c.ID] || c.ID == "" {
				t.Fatalf("message %d: id %q again", i, c.ID)
			}
			seen[c.ID] = true
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		t.Fatalf("calls %q have no result at the end", open)
	}
}

func TestTheWindowThatIsLeft(t *testing.T) {
	req := agent.Request{System: strings.Repeat("s", 400), Messages: []models.Message{user(strings.Repeat("q", 3600), models.StateDone)}}
	for name, test := range map[string]struct {
		limits contextwin.Limits
		want   int
	}{
		"not known":         {contextwin.Limits{}, -1},
		"of 2,000 tokens":   {contextwin.Limits{ContextTokens: 2000}, 2000 - 1000 - 8},
		"less the reply":    {contextwin.Limits{ContextTokens: 2000, MaxOutputTokens: 500}, 2000 - 1000 - 8 - 500},
		"never less than 0": {contextwin.Limits{ContextTokens: 100}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			messages, left := contextwin.Open(contextwin.Options{Limits: test.limits}).Fit(t.Context(), req)
			if left != test.want || !slices.EqualFunc(messages, req.Messages, func(a, b models.Message) bool { return a.Content == b.Content }) {
				t.Errorf("%d left, want %d", left, test.want)
			}
		})
	}
}

func TestTheEstimateCountsAllThatIsSent(t *testing.T) {
	base := agent.Request{Messages: []models.Message{assistant("text", "a"), result("a", "body")}}
	least := contextwin.Estimate(base)
	for name, change := range map[string]func(*agent.Request){
		"instructions": func(r *agent.Request) { r.System = strings.Repeat("x", 400) },
		"tools":        func(r *agent.Request) { r.Tools = []agent.ToolSpec{{Description: strings.Repeat("x", 400)}} },
		"reasoning":    func(r *agent.Request) { r.Messages[0].Reasoning = strings.Repeat("x", 400) },
		"arguments": func(r *agent.Request) {
			r.Messages[0].ToolCalls = []models.ToolCall{{ID: "a", Name: "look", Arguments: strings.Repeat("x", 400)}}
		},
		"metadata": func(r *agent.Request) {
			r.Messages[1].Metadata = &models.ResultMetadata{RetentionError: strings.Repeat("x", 400)}
		},
	} {
		req := base
		req.Messages = slices.Clone(base.Messages)
		change(&req)
		if n := contextwin.Estimate(req); n < least+95 {
			t.Errorf("%s: %d after %d", name, n, least)
		}
	}
}
