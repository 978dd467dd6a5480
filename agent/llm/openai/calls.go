package openai

import (
	"encoding/json"
	"strings"

	"offcut/agent"
	"offcut/agent/llm"
	"offcut/models"
)

// callList joins the fragments of tool calls, whose servers number them,
// number all of them 0, name them by id only in the first fragment, or do
// neither.
type callList struct {
	calls   []*openCall
	byIndex map[number]int // the provider's number → position in calls
}

type openCall struct {
	id, name  word
	arguments strings.Builder
	end       llm.Joiner // half a character that waits for the next fragment
}

// add joins one fragment and says what it added.
func (l *callList) add(f fragment) agent.CallDelta {
	at := l.position(f)
	call := l.calls[at]
	if call.id == "" {
		call.id = f.ID
	}
	if call.name == "" {
		call.name = f.Function.Name
	}
	more := call.end.Add(string(f.Function.Arguments))
	call.arguments.WriteString(more)
	return agent.CallDelta{Index: at, Name: string(call.name), Arguments: more}
}

// position finds the call that f belongs to, or opens one.
func (l *callList) position(f fragment) int {
	if f.Index != nil {
		at, known := l.byIndex[*f.Index]
		if known && !l.calls[at].endedBefore(f) {
			return at
		}
		return l.open(f.Index)
	}
	if f.ID != "" {
		for at, call := range l.calls {
			if call.id == f.ID {
				return at
			}
		}
		return l.open(nil)
	}
	last := len(l.calls) - 1
	if last < 0 || l.calls[last].endedBefore(f) {
		return l.open(nil)
	}
	return last
}

func (l *callList) open(index *number) int {
	l.calls = append(l.calls, &openCall{})
	at := len(l.calls) - 1
	if index != nil {
		if l.byIndex == nil {
			l.byIndex = map[number]int{}
		}
		l.byIndex[*index] = at
	}
	return at
}

// endedBefore reports whether f cannot be a part of c, because it has another
// id, or names a tool although c is another or has all its arguments.
func (c *openCall) endedBefore(f fragment) bool {
	if f.ID != "" && c.id != "" {
		return f.ID != c.id
	}
	if f.Function.Name == "" || c.name == "" {
		return false
	}
	return f.Function.Name != c.name || json.Valid([]byte(c.arguments.String()))
}

// toolCalls are the calls as far as they came. Of a whole reply, a call
// without arguments is a call with none; of a cut one, they were lost.
func (l *callList) toolCalls(whole bool) []models.ToolCall {
	var out []models.ToolCall
	for _, c := range l.calls {
		args := unwrapped(c.arguments.String() + c.end.Rest())
		if whole && strings.TrimSpace(args) == "" {
			args = "{}"
		}
		out = append(out, models.ToolCall{ID: string(c.id), Name: string(c.name), Arguments: args})
	}
	return out
}

// unwrapped takes away a second layer of JSON: arguments that are a string
// which holds the object.
func unwrapped(args string) string {
	var inner string
	if !strings.HasPrefix(strings.TrimSpace(args), `"`) || json.Unmarshal([]byte(args), &inner) != nil {
		return args
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(inner), &object) != nil {
		return args
	}
	return inner
}
