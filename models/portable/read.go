package portable

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"offcut/models"
)

// Fault is what is wrong at one place of a file.
type Fault struct {
	// Place is where, such as messages[3].role.
	Place string `json:"place"`
	// Reason is a part of a sentence: is …, has ….
	Reason string `json:"reason"`
}

// maxFaults is how many faults are named; all are counted.
const maxFaults = 20

// faults collects what is wrong with a file.
type faults struct {
	named []Fault
	first *models.Error // the reason of the first
	count int
}

func (f *faults) add(place string, reason *models.Error) {
	f.count++
	if f.first == nil {
		f.first = reason
	}
	if len(f.named) < maxFaults {
		f.named = append(f.named, Fault{place, reason.Message})
	}
}

// err is nil where nothing is wrong.
func (f *faults) err() error {
	if f.count == 0 {
		return nil
	}
	return Bad(f.named[0].Place, f.first, f.count).With("faults", f.named)
}

// Bad is the refusal of a file with so many faults: the first of them is at
// place; empty: it is the whole file.
func Bad(place string, reason *models.Error, count int) *models.Error {
	place = cmp.Or(place, "the file")
	return models.Errorf(models.ErrInvalid, "bad_file", "nothing was imported: %s %s; faults in the file: %d",
		models.Arg("place", place), models.Arg("reason", reason), models.Arg("count", count)).
		With("place", place).With("reason", reason.Message).With("count", count)
}

// File is a session that was read.
type File struct {
	Header
	Messages []Message
}

// MaxMessages bounds the messages of a file: five times the longest conversations
// that people have.
const MaxMessages = 50_000

// Read reads a file, which is valid JSON and valid Unicode. One that cannot be
// taken is models.ErrInvalid with the places and the number of its faults.
func Read(data []byte) (File, error) {
	var file File
	var wrong faults
	decode(data, &file.Header, "", &wrong)
	switch {
	case wrong.count > 0:
		return File{}, wrong.err()
	case file.Format != Format:
		wrong.add("format", models.Errorf(models.ErrInvalid, "fault_format",
			"is %.40q and is to be %q: it is no session that was exported", models.Arg("is", file.Format), models.Arg("wanted", Format)))
		return File{}, wrong.err()
	case file.Version != Version:
		wrong.add("version", models.Errorf(models.ErrInvalid, "fault_version",
			"is %d and this program knows %d", models.Arg("is", file.Version), models.Arg("wanted", Version)))
		return File{}, wrong.err()
	}
	if err := models.ValidateTitle(file.Session.Title); err != nil {
		wrong.add("session.title", refused(err))
	}
	if len(file.Session.Model) > maxNames {
		wrong.add("session.model", tooLong())
	}
	file.readMessages(data, &wrong)
	if wrong.count == 0 {
		checkMessages(file.Messages, &wrong)
	}
	return file, wrong.err()
}

// readMessages reads the messages of a file one after the other.
func (f *File) readMessages(data []byte, wrong *faults) {
	var file struct {
		Messages each `json:"messages"`
	}
	file.Messages.take = func(one []byte) bool {
		if len(f.Messages) == MaxMessages {
			wrong.add("messages", models.Errorf(models.ErrInvalid, "fault_many", "has more than %d, which is all that can be imported", models.Arg("most", MaxMessages)))
			return false
		}
		var m Message
		decode(one, &m, place(len(f.Messages), ""), wrong)
		f.Messages = append(f.Messages, m)
		return true
	}
	decode(data, &file, "", wrong)
	if len(f.Messages) == 0 && wrong.count == 0 {
		wrong.add("messages", models.Errorf(models.ErrInvalid, "fault_empty", "is empty: there is nothing to import"))
	}
}

// each is a list in JSON whose elements are taken one by one, so that only one of
// them is held beside the text. take reports whether it wants more.
type each struct{ take func(one []byte) bool }

// UnmarshalJSON implements json.Unmarshaler.
func (e *each) UnmarshalJSON(list []byte) error {
	elements := json.NewDecoder(bytes.NewReader(list))
	if begin, err := elements.Token(); err != nil || begin != json.Delim('[') {
		return json.Unmarshal(list, &[]json.RawMessage{}) // says what it is instead
	}
	for elements.More() {
		var one json.RawMessage
		if err := elements.Decode(&one); err != nil {
			return err
		}
		if !e.take(one) {
			return nil
		}
	}
	return nil
}

func place(i int, member string) string {
	if member != "" {
		member = "." + member
	}
	return fmt.Sprintf("messages[%d]%s", i, member)
}

// decode notes a member of the wrong type.
func decode(data []byte, into any, where string, wrong *faults) {
	err := json.Unmarshal(data, into)
	var mistyped *json.UnmarshalTypeError
	var badTime *time.ParseError
	switch {
	case err == nil:
	case errors.As(err, &mistyped):
		wrong.add(member(where, mistyped.Field), models.WrongType(mistyped))
	case errors.As(err, &badTime):
		wrong.add(where, models.Errorf(models.ErrInvalid, "fault_time", "has a time that is not written as in RFC 3339: %.40q", models.Arg("is", badTime.Value)))
	default:
		wrong.add(where, models.Errorf(models.ErrInvalid, "fault_unreadable", "cannot be read"))
	}
}

// member is the place of a member of what stands at where.
func member(where, name string) string {
	return strings.Trim(where+"."+name, ".")
}

// refused is why a text cannot be stored.
func refused(err error) *models.Error {
	why := models.Errorf(models.ErrInvalid, "fault_invalid", "it is not valid")
	_ = errors.As(err, &why)
	return models.Errorf(models.ErrInvalid, "fault_refused", "cannot be taken: %s", models.Arg("why", why))
}

// misplaced is the fault of a member that belongs to messages of another role.
func misplaced(m Message) *models.Error {
	return models.Errorf(models.ErrInvalid, "fault_misplaced", "stands with a message of role %.40q", models.Arg("role", m.Role))
}

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

func tooLong() *models.Error {
	return models.Errorf(models.ErrInvalid, "fault_long", "has more than %d bytes", models.Arg("most", maxNames))
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

func notPlain() *models.Error {
	return models.Errorf(models.ErrInvalid, "fault_id", "is no id: one has at most %d letters, digits, _ and -", models.Arg("most", maxNames))
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

// Turns are the messages as they are stored, by turn. A turn whose question is
// not in the file, because it was hidden, is a part of the one before it.
func (f File) Turns() [][]models.Message {
	var turns [][]models.Message
	current := ""
	for _, m := range f.Messages {
		if m.TurnID != current && m.Role == models.RolePerson {
			turns = append(turns, nil)
		}
		current = m.TurnID
		last := len(turns) - 1
		turns[last] = append(turns[last], m.Stored())
	}
	return turns
}
