package portable

import (
	"fmt"
	"io/fs"
	"unicode/utf8"

	"offcut/models"
)

// maxAttachedPath bounds the path of an attached file, in bytes: what systems take.
const maxAttachedPath = 4096

// maxNames bounds ids and names in a file, in bytes.
const maxNames = 256

// checker knows of the messages before the one that it looks at.
type checker struct {
	wrong    *faults
	turns    map[string]bool // those that are over
	turn     string
	called   map[string]bool // the calls of the turn, true once they are answered
	answered map[string]bool // all calls
}

func checkMessages(messages []Message, wrong *faults) {
	c := checker{wrong: wrong, turns: map[string]bool{}, called: map[string]bool{}, answered: map[string]bool{}}
	if first := messages[0].Role; first == models.RoleAssistant || first == models.RoleTool {
		wrong.add(place(0, "role"), models.Errorf(models.ErrInvalid, "fault_first_role",
			"is %q: a conversation begins with a message of the role user", models.Arg("is", first)))
	}
	for i, m := range messages {
		c.order(i, m)
		c.words(i, m)
		c.metadata(i, m)
		c.pairing(i, m)
	}
}

// order: the messages of a turn stand together.
func (c *checker) order(i int, m Message) {
	switch {
	case m.TurnID == "":
		c.wrong.add(place(i, "turn_id"), models.Errorf(models.ErrInvalid, "fault_missing", "is missing"))
	case i > 0 && m.TurnID == c.turn:
	case c.turns[m.TurnID]:
		c.wrong.add(place(i, "turn_id"), models.Errorf(models.ErrInvalid, "fault_turn_again", "goes back to a turn that was over"))
	}
	if m.TurnID != c.turn {
		c.turns[c.turn], c.turn, c.called = true, m.TurnID, map[string]bool{}
	}
}

func (c *checker) words(i int, m Message) {
	switch m.Role {
	case models.RolePerson:
		if err := models.ValidateMessage(m.Content, len(m.Attachments)); err != nil {
			c.wrong.add(place(i, "content"), refused(err))
		}
	case models.RoleAssistant, models.RoleTool:
	default:
		c.wrong.add(place(i, "role"), models.Errorf(models.ErrInvalid, "fault_role", "is %.40q and is to be user, assistant or tool", models.Arg("is", m.Role)))
	}
	switch m.State {
	case models.StateQueued, models.StateRunning, models.StateAwaitingApproval:
	default:
		if !m.State.Final() {
			c.wrong.add(place(i, "state"), models.Errorf(models.ErrInvalid, "fault_state", "is %.40q, which is no state of a message", models.Arg("is", m.State)))
		}
	}
	if year := m.CreatedAt.Year(); year < 1970 || year > 9999 {
		c.wrong.add(place(i, "created_at"), models.Errorf(models.ErrInvalid, "fault_age", "is missing or no time of this age"))
	}
	for n, a := range m.Attachments {
		where := fmt.Sprintf("%s[%d]", place(i, "attachments"), n)
		switch {
		case m.Role != models.RolePerson:
			c.wrong.add(where, misplaced(m))
		case !fs.ValidPath(a.Path) || len(a.Path) > maxAttachedPath || len(a.Type) > maxNames || len(a.SHA256) > maxNames || a.Size < 0:
			c.wrong.add(where, models.Errorf(models.ErrInvalid, "fault_attachment", "has no path in a workspace, or a size or a type that cannot be"))
		}
	}
	for member, value := range map[string]string{"model": m.Model, "finish_reason": string(m.FinishReason), "tool_call_id": m.ToolCallID} {
		if len(value) > maxNames {
			c.wrong.add(place(i, member), tooLong())
		}
	}
}

// metadata: the ids in it stand in addresses.
func (c *checker) metadata(i int, m Message) {
	if m.Metadata == nil {
		return
	}
	check := func(member, id string, needed bool) {
		if len(id) > maxNames || (id != "" || needed) && !models.PlainID(id) {
			c.wrong.add(place(i, "metadata."+member), notPlain())
		}
	}
	check("output_id", m.Metadata.OutputID, false)
	for n, kept := range m.Metadata.Nested {
		check(fmt.Sprintf("nested[%d].output_id", n), kept.OutputID, false)
	}
	for n, call := range m.Metadata.Calls {
		check(fmt.Sprintf("calls[%d].id", n), call.ID, true)
		check(fmt.Sprintf("calls[%d].output_id", n), call.OutputID, false)
	}
}

// pairing: a call has an id of its own, and a result follows its call.
func (c *checker) pairing(i int, m Message) {
	for n, call := range m.ToolCalls {
		where := fmt.Sprintf("%s[%d]", place(i, "tool_calls"), n)
		_, before := c.answered[call.ID]
		switch {
		case m.Role != models.RoleAssistant:
			c.wrong.add(where, misplaced(m))
		case call.ID == "" || call.Name == "" || len(call.ID) > maxNames || utf8.RuneCountInString(call.Name) > maxNames:
			c.wrong.add(where, models.Errorf(models.ErrInvalid, "fault_call", "has no id or name, or one of more than %d bytes", models.Arg("most", maxNames)))
		case !models.PlainID(call.ID):
			c.wrong.add(where+".id", notPlain())
		case before:
			c.wrong.add(where+".id", models.Errorf(models.ErrInvalid, "fault_call_again", "is that of a call before it"))
		default:
			c.answered[call.ID], c.called[call.ID] = false, true
		}
	}
	switch {
	case m.Role != models.RoleTool:
		if m.ToolCallID != "" {
			c.wrong.add(place(i, "tool_call_id"), misplaced(m))
		}
	case !c.called[m.ToolCallID]:
		c.wrong.add(place(i, "tool_call_id"), models.Errorf(models.ErrInvalid, "fault_orphan", "answers no call of its turn"))
	case c.answered[m.ToolCallID]:
		c.wrong.add(place(i, "tool_call_id"), models.Errorf(models.ErrInvalid, "fault_answered", "answers a call that was answered before"))
	default:
		c.answered[m.ToolCallID] = true
	}
}
