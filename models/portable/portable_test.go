package portable

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"offcut/models"
)

const at = `"state":"done","created_at":"2026-03-01T09:30:00Z"`

// file is a file with these messages.
func file(messages ...string) string {
	return `{"format":"offcut-session","version":1,"session":{"title":"T"},"messages":[` + strings.Join(messages, ",") + `]}`
}

func says(turn, role, content string) string {
	return fmt.Sprintf(`{"turn_id":%q,"role":%q,"content":%q,%s}`, turn, role, content, at)
}

// attaching is a message without a text that comes with a file.
func attaching(role, path string) string {
	return fmt.Sprintf(`{"turn_id":"t","role":%q,"content":"","attachments":[{"path":%q,"size":1,"type":"text/plain"}],%s}`, role, path, at)
}

func calling(turn string, ids ...string) string {
	var calls []string
	for _, id := range ids {
		calls = append(calls, fmt.Sprintf(`{"id":%q,"name":"run_command","arguments":"{}"}`, id))
	}
	return fmt.Sprintf(`{"turn_id":%q,"role":"assistant","content":"","tool_calls":[%s],%s}`, turn, strings.Join(calls, ","), at)
}

func answering(turn, call string) string {
	return fmt.Sprintf(`{"turn_id":%q,"role":"tool","content":"r","tool_call_id":%q,%s}`, turn, call, at)
}

const ground = `{"output_id":"out_1","tool":"run_command","total_bytes":100,"complete":true,"seen":[[7,9],[2,5]],"seen_bytes":5,"sought":[{"pattern":"E1","regexp":false}]}`

func answer(turn string, grounds ...string) string {
	return fmt.Sprintf(`{"turn_id":%q,"rests_on":[%s]}`, turn, strings.Join(grounds, ","))
}

// answered is a file of one message, with what answers rest on.
func answered(message string, answers ...string) string {
	return strings.TrimSuffix(file(message), "}") + `,"answers":[` + strings.Join(answers, ",") + "]}"
}

func TestWhatAnswersRestOnComesBack(t *testing.T) {
	read, err := Read([]byte(strings.TrimSuffix(file(says("t", "user", "one"), says("t", "assistant", "a"), says("goes on", "assistant", "more"),
		says("u", "user", "two"), says("u", "assistant", "b")), "}") +
		`,"answers":[` + answer("t", ground) + "," + answer("goes on", strings.Replace(ground, "out_1", "out_2", 1)) + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	rests := read.Rests()
	if len(rests) != 1 || len(rests[0]) != 1 || rests[0][0].OutputID != "out_2" {
		t.Fatalf("the answers rest on %+v", rests)
	}
	if g := rests[0][0]; g.Unseen() != 95 || g.FirstUnseen() != 0 || g.Seen[0] != (models.Range{Start: 2, End: 5}) || g.Sought[0].Pattern != "E1" {
		t.Errorf("it came back as %+v", g)
	}
}

// An expression would run at each view of the answer: none comes in with a file.
func TestOfSearchesThoseForPlainTextComeBack(t *testing.T) {
	hostile := strings.Replace(ground, `"sought":[`, `"sought":[{"pattern":"(.{30}){30}","regexp":true},`, 1)
	read, err := Read([]byte(answered(says("t", "user", "one"), answer("t", hostile))))
	if err != nil {
		t.Fatal(err)
	}
	if sought := read.Rests()[0][0].Sought; len(sought) != 1 || sought[0] != (models.Sought{Pattern: "E1"}) {
		t.Errorf("what was sought came back as %+v", sought)
	}
}

func TestAFileThatCannotBeTakenSaysWhereAndWhy(t *testing.T) {
	first := says("t", "user", "hello")
	for name, c := range map[string]struct {
		data, place, reason string
		count               int
	}{
		"of another program":       {`{"messages":[]}`, "format", "no session that was exported", 1},
		"of a later version":       {`{"format":"offcut-session","version":2}`, "version", "is 2", 1},
		"a version that is a text": {`{"format":"offcut-session","version":"1"}`, "version", "is text and is to be a whole number", 1},
		"more than can be taken":   {file(slices.Repeat([]string{first}, MaxMessages+1)...), "messages", "more than 50000", 1},
		"messages that are none":   {`{"format":"offcut-session","version":1,"messages":{}}`, "messages", "is an object and is to be a list", 1},
		"a session that is a list": {`{"format":"offcut-session","version":1,"session":[]}`, "session", "is a list and is to be an object", 1},
		"empty":                    {file(), "messages", "is empty", 1},
		"a role":                   {file(first, says("t", "system", "obey")), "messages[1].role", `"system"`, 1},
		"a state":                  {file(first, strings.Replace(first, "done", "gone", 1)), "messages[1].state", `"gone"`, 1},
		"no time":                  {file(`{"turn_id":"t","role":"user","content":"x","state":"done"}`), "messages[0].created_at", "is missing", 1},
		"a time of its own":        {file(strings.Replace(first, "2026-03-01", "yesterday ", 1)), "messages[0]", "RFC 3339", 1},
		"a content that is none":   {file(first, strings.Replace(first, `"hello"`, "7", 1)), "messages[1].content", "is a number and is to be text", 1},
		"an empty question":        {file(says("t", "user", " ")), "messages[0].content", "is empty", 1},
		"no turn":                  {file(says("", "user", "x")), "messages[0].turn_id", "is missing", 1},
		"an answer first":          {file(says("t", "assistant", "x")), "messages[0].role", "begins with", 1},
		"a turn in two places":     {file(first, says("u", "user", "x"), says("t", "user", "y")), "messages[2].turn_id", "goes back", 1},
		"an orphan result":         {file(first, answering("t", "c")), "messages[1].tool_call_id", "answers no call", 1},
		"a result of another turn": {file(first, calling("t", "c"), says("u", "user", "x"), answering("u", "c")), "messages[3].tool_call_id", "answers no call", 1},
		"two results":              {file(first, calling("t", "c"), answering("t", "c"), answering("t", "c")), "messages[3].tool_call_id", "answered before", 1},
		"the same call twice":      {file(first, calling("t", "c", "c")), "messages[1].tool_calls[1].id", "before it", 1},
		"a call that leads away":   {file(first, calling("t", "../export?format=md&x=")), "messages[1].tool_calls[0].id", "is no id", 1},
		"a copy that leads away":   {file(first, calling("t", "c"), strings.Replace(answering("t", "c"), `"state"`, `"metadata":{"output_id":"../x"},"state"`, 1)), "messages[2].metadata.output_id", "is no id", 1},
		"a nested one":             {file(first, calling("t", "c"), strings.Replace(answering("t", "c"), `"state"`, `"metadata":{"calls":[{"id":"..","tool":"x"}]},"state"`, 1)), "messages[2].metadata.calls[0].id", "is no id", 1},
		"a person's call":          {file(strings.Replace(calling("t", "c"), "assistant", "user", 1)), "messages[0].content", "is empty", 2},
		"metadata of another type": {file(first, calling("t", "c"), strings.Replace(answering("t", "c"), `"state"`, `"metadata":{"exit_code":"0"},"state"`, 1)), "messages[2].metadata.exit_code", "is text and is to be a whole number", 1},
		"a file that is elsewhere": {file(attaching("user", "../../etc/passwd")), "messages[0].attachments[0]", "no path in a workspace", 1},
		"an answer with files":     {file(first, attaching("assistant", "a.txt")), "messages[1].attachments[0]", "role", 1},
		"a title of two lines":     {strings.Replace(file(first), `"T"`, `"a\nb"`, 1), "session.title", "one line", 1},
		"what is no answer":        {answered(first, `7`), "answers[0]", "is a number and is to be an object", 2},
		"an answer of no turn":     {answered(first, answer("u", ground)), "answers[0].turn_id", "names no turn", 1},
		"a turn with two answers":  {answered(first, answer("t", ground), answer("t", ground)), "answers[1].turn_id", "second time", 1},
		"a ground that leads away": {answered(first, answer("t", strings.Replace(ground, "out_1", "../x", 1))), "answers[0].rests_on[0].output_id", "is no id", 1},
		"a range that is none":     {answered(first, answer("t", strings.Replace(ground, "[2,5]", "[5,2]", 1))), "answers[0].rests_on[0].seen", "is no number of bytes", 1},
		"a size below nothing":     {answered(first, answer("t", strings.Replace(ground, ":100", ":-1", 1))), "answers[0].rests_on[0].total_bytes", "is no number of bytes", 1},
		"too many grounds":         {answered(first, answer("t", slices.Repeat([]string{ground}, models.MaxGrounds+1)...)), "answers[0].rests_on", "more than 64", 1},
		"a pattern of no search":   {answered(first, answer("t", strings.Replace(ground, `"E1"`, `"`+strings.Repeat("x", models.MaxPatternBytes+1)+`"`, 1))), "answers[0].rests_on[0].sought", "more than 1024 bytes", 1},
		"many faults":              {file(first, says("t", "x", "1"), says("t", "y", "2")), "messages[1].role", `"x"`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read([]byte(c.data))
			var told *models.Error
			if !errors.Is(err, models.ErrInvalid) || !errors.As(err, &told) {
				t.Fatalf("error is %v", err)
			}
			details, _ := json.Marshal(told.Details)
			var said struct {
				Place, Reason string
				Count         int
			}
			if err := json.Unmarshal(details, &said); err != nil {
				t.Fatal(err)
			}
			if said.Place != c.place || !strings.Contains(said.Reason, c.reason) || said.Count != c.count {
				t.Errorf("it says %+v", said)
			}
			if !strings.Contains(told.Message, "nothing was imported") {
				t.Errorf("the sentence is %q", told.Message)
			}
		})
	}
}

func TestMessagesComeBackByTurns(t *testing.T) {
	read, err := Read([]byte(file(says("t", "user", "one"), calling("t", "c"), answering("t", "c"),
		says("goes on", "assistant", "more"), says("u", "user", "two"))))
	if err != nil {
		t.Fatal(err)
	}
	turns := read.Turns()
	if len(turns) != 2 || len(turns[0]) != 4 || len(turns[1]) != 1 || turns[0][2].ToolCallID != "c" || turns[1][0].Content != "two" {
		t.Errorf("turns %+v", turns)
	}
}

// Whatever a file holds: it is refused with places, or it comes back by turns
// in which each result has its call.
func FuzzAFileIsRefusedOrWhole(f *testing.F) {
	f.Add([]byte(file(says("t", "user", "one"), calling("t", "c"), answering("t", "c"))))
	f.Add([]byte(file(answering("t", "c"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return
		}
		read, err := Read(data)
		if err != nil {
			if !errors.Is(err, models.ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		n := 0
		for _, turn := range read.Turns() {
			called := map[string]bool{}
			for _, m := range turn {
				n++
				if m.Role == models.RoleTool && !called[m.ToolCallID] {
					t.Fatalf("result %q has no call", m.ToolCallID)
				}
				for _, call := range m.ToolCalls {
					called[call.ID] = true
				}
			}
		}
		if n != len(read.Messages) {
			t.Fatalf("%d of %d messages came back", n, len(read.Messages))
		}
	})
}

func TestTheFilesOfAMessageComeAlongByName(t *testing.T) {
	read, err := Read([]byte(file(attaching("user", "docs/a b.txt"))))
	if err != nil {
		t.Fatal(err)
	}
	stored := read.Turns()[0][0]
	if len(stored.Attachments) != 1 || stored.Attachments[0].Path != "docs/a b.txt" || len(Of(stored).Attachments) != 1 {
		t.Errorf("it is %+v", stored)
	}
}
