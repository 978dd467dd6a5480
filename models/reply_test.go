package models

import (
	"reflect"
	"testing"
)

func TestRepliesThatWereCutAreJoinedWithWhatWentOn(t *testing.T) {
	says := func(id, text, reasoning string, finish FinishReason) Message {
		return Message{ID: id, Role: RoleAssistant, Content: text, Reasoning: reasoning, FinishReason: finish, State: StateDone}
	}
	calling := func(m Message) Message {
		m.ToolCalls = []ToolCall{{ID: "call_" + m.ID}}
		return m
	}
	asked := Message{ID: "hidden", Role: RolePerson, IsMeta: true}
	person := Message{ID: "person", Role: RolePerson}
	result := Message{ID: "result", Role: RoleTool, ToolCallID: "call_b"}
	type part struct{ ID, Text, Reasoning string }
	tests := map[string]struct {
		messages []Message
		want     []part
	}{
		"a torn word": {
			[]Message{person, says("a", "mid-wo", "", FinishLength), says("b", "rd.", "", FinishStop)},
			[]part{{"a", "mid-word.", ""}},
		},
		"over the hidden messages": {
			[]Message{says("a", "x", "", FinishLength), asked, says("b", "y", "", FinishLength), asked, says("c", "z", "", FinishStop)},
			[]part{{"a", "xyz", ""}},
		},
		"tool calls end the text": {
			[]Message{says("a", "x", "", FinishLength), calling(says("b", "y", "", FinishLength)), result, says("c", "z", "", FinishStop)},
			[]part{{"a", "xy", ""}, {"c", "z", ""}},
		},
		"a reply that was not cut": {
			[]Message{says("a", "x", "", FinishStop), says("b", "y", "", FinishStop)},
			[]part{{"a", "x", ""}, {"b", "y", ""}},
		},
		"nothing was said before the cut": {
			[]Message{says("a", "", "", FinishLength), says("b", "y", "", FinishStop)},
			[]part{{"a", "", ""}, {"b", "y", ""}},
		},
		"a cut reply that said nothing more": {
			[]Message{says("a", "x", "", FinishLength), says("b", "", "", FinishLength), says("c", "z", "", FinishStop)},
			[]part{{"a", "xz", ""}},
		},
		"a torn thought": {
			[]Message{says("a", "", "I thi", FinishLength), says("b", "So.", "nk.", FinishStop)},
			[]part{{"a", "So.", "I think."}},
		},
		"a new thought about a torn text": {
			[]Message{says("a", "x", "First.", FinishLength), says("b", "y", "Then.", FinishStop)},
			[]part{{"a", "xy", "First.\n\nThen."}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []part
			for _, m := range JoinReplies(tt.messages) {
				if m.Role == RoleAssistant {
					got = append(got, part{m.ID, m.Content, m.Reasoning})
				}
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestAJoinedReplyEndedAsItsLastPart(t *testing.T) {
	cut := Message{ID: "a", Role: RoleAssistant, Content: "x", FinishReason: FinishLength, State: StateDone, Model: "one"}
	goesOn := Message{ID: "b", Role: RoleAssistant, State: StateRunning, Model: "two", ToolCalls: []ToolCall{{ID: "c"}}}
	m := cut.Continued(goesOn)
	if m.ID != "a" || m.State != StateRunning || m.FinishReason != "" || m.Model != "two" || len(m.ToolCalls) != 1 || m.CutOff() {
		t.Errorf("%+v", m)
	}
}
