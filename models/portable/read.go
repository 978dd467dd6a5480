package portable

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"offcut/models"
)

// File is a session that was read.
type File struct {
	Header
	Messages []Message
	answers  []Answer
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
		file.readAnswers(data, &wrong)
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
			wrong.add("messages", tooMany(MaxMessages))
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

// Turns are the messages as they are stored, by turn. A turn whose question is
// not in the file, because it was hidden, is a part of the one before it.
func (f File) Turns() [][]models.Message {
	var turns [][]models.Message
	f.parts(func(turn int, m Message) {
		if turn == len(turns) {
			turns = append(turns, nil)
		}
		turns[turn] = append(turns[turn], m.Stored())
	})
	return turns
}

// parts hands over each message with the place of its turn.
func (f File) parts(take func(turn int, m Message)) {
	turn, current := -1, ""
	for _, m := range f.Messages {
		if m.TurnID != current && m.Role == models.RolePerson {
			turn++
		}
		current = m.TurnID
		take(turn, m)
	}
}
