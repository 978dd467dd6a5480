package dump

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/models"
)

const key = `sk-a/b+c"d\e&é-1234567890`

func inTemp(t *testing.T, secrets ...string) *Dumps {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	return New("data", secrets)
}

func refusal(turn string, at time.Time) agent.Refusal {
	return agent.Refusal{
		At: at, SessionID: "ses_1", TurnID: turn,
		Settings: map[string]any{"baseURL": "http://x/?key=" + url.QueryEscape(key), "contextTokens": 128000},
		Request: agent.Request{
			Model: "gpt", System: "You are.",
			Messages: []models.Message{
				{Role: models.RolePerson, Content: "hello " + key},
				{Role: models.RoleAssistant, ToolCalls: []models.ToolCall{{ID: "c1", Name: "run", Arguments: `{"x":1}`}}},
				{Role: models.RoleTool, ToolCallID: "c1", Content: "out", Metadata: &models.ResultMetadata{}},
			},
			Tools: []agent.ToolSpec{{Name: "run", Description: "Runs.", Parameters: json.RawMessage(`{"type":"object"}`)}},
		},
		Err: &agent.ModelError{
			Code: models.CodeProviderRefused, Status: 400, Message: "The model's server refused the request (400).",
			Answer: `{"error":{"message":"bad ` + key + `"}}`,
		},
	}
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestARefusalIsWrittenForItsOwnerAlone(t *testing.T) {
	d := inTemp(t, key)
	path := must(d.Save(refusal("trn_1", noon)))(t)
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if mode := must(os.Stat(name))(t).Mode().Perm(); mode != want {
			t.Errorf("%s has mode %o", name, mode)
		}
	}
	var c content
	if err := json.Unmarshal(must(os.ReadFile(path))(t), &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Messages) != 4 || c.Messages[0].Role != "system" || c.Messages[1].Content != "hello [redacted]" {
		t.Errorf("messages %+v", c.Messages)
	}
	if c.Messages[3].Content != agent.ToolText(models.Message{Content: "out", Metadata: &models.ResultMetadata{}}) {
		t.Errorf("a result as %q", c.Messages[3].Content)
	}
	if c.Answer != `{"error":{"message":"bad [redacted]"}}` || c.Model["contextTokens"] != 128000.0 || len(c.Tools) != 1 {
		t.Errorf("answer %q, model %v, tools %v", c.Answer, c.Model, c.Tools)
	}
	list := must(d.List())(t)
	if len(list) != 1 || list[0].TurnID != "trn_1" || list[0].Model != "gpt" || list[0].Status != 400 || !list[0].At.Equal(noon) || list[0].Bytes == 0 {
		t.Errorf("listed %+v", list)
	}
}

func TestASecretThatIsAWordOfTheFileLeavesItReadable(t *testing.T) {
	d := inTemp(t, "messages", "error_code", "e")
	must(d.Save(refusal("trn_1", noon)))(t)
	if list := must(d.List())(t); len(list) != 1 || list[0].Status != 400 {
		t.Errorf("listed %+v", list)
	}
}

func TestTheLastTwentyAreKept(t *testing.T) {
	d := inTemp(t)
	path := must(d.Save(refusal("trn_0", noon)))(t)
	stranger := filepath.Join(filepath.Dir(path), "notes.json")
	if err := os.WriteFile(stranger, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= models.KeptDumps; i++ {
		must(d.Save(refusal(fmt.Sprintf("trn_%d", i), noon.Add(time.Duration(i)*time.Second))))(t)
	}
	list := must(d.List())(t)
	if len(list) != models.KeptDumps || list[0].TurnID != "trn_20" || list[models.KeptDumps-1].TurnID != "trn_1" {
		t.Errorf("%d are kept, from %+v to %+v", len(list), list[0], list[len(list)-1])
	}
	if _, err := os.Stat(stranger); err != nil {
		t.Error("what is no dump was removed:", err)
	}
	if _, ok := d.OfTurn("trn_0"); ok {
		t.Error("the oldest one is still found by its turn")
	}
	if found, ok := d.OfTurn("trn_7"); !ok || !strings.HasSuffix(found.Path, "-trn_7.json") {
		t.Errorf("of a turn: %+v", found)
	}
}

func TestOneIsOpenedByItsNameAlone(t *testing.T) {
	d := inTemp(t)
	path := must(d.Save(refusal("trn_1", noon)))(t)
	found, file, err := d.Open(filepath.Base(path))
	if err != nil || found.Path != path {
		t.Fatal(found, err)
	}
	if content := must(io.ReadAll(file))(t); int64(len(content)) != found.Bytes {
		t.Errorf("%d bytes of %d", len(content), found.Bytes)
	}
	_ = file.Close()
	link := filepath.Join(filepath.Dir(path), "20261130T120001.000000Z-trn_2.json")
	if err := os.Symlink("/etc/hostname", link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "..", "../x.json", "/etc/passwd", "20261130T120002.000000Z-trn_3.json", filepath.Base(link)} {
		if _, _, err := d.Open(name); !errors.Is(err, models.ErrNotFound) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestAFolderThatSomebodyLaidThereIsNotUsed(t *testing.T) {
	for name, lay := range map[string]func(path, elsewhere string) error{
		"a link": func(path, elsewhere string) error { return os.Symlink(elsewhere, path) },
		"a file": func(path, _ string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			d, elsewhere := inTemp(t), t.TempDir()
			if err := lay(d.folder.path, elsewhere); err != nil {
				t.Fatal(err)
			}
			if path, err := d.Save(refusal("trn_1", noon)); err == nil || path != "" {
				t.Errorf("written to %q", path)
			}
			if left := must(os.ReadDir(elsewhere))(t); len(left) != 0 {
				t.Errorf("%v was written through it", left)
			}
		})
	}
	t.Run("one that others may read is closed", func(t *testing.T) {
		d := inTemp(t)
		if err := os.Mkdir(d.folder.path, 0o755); err != nil { //nolint:gosec // that is the fault
			t.Fatal(err)
		}
		must(d.Save(refusal("trn_1", noon)))(t)
		if mode := must(os.Stat(d.folder.path))(t).Mode().Perm(); mode != 0o700 {
			t.Errorf("mode %o", mode)
		}
	})
}

func TestALongConversationLosesItsOldestMessagesInTheFile(t *testing.T) {
	d := inTemp(t)
	r := refusal("trn_1", noon)
	r.Request.Messages = nil
	for range 3 {
		r.Request.Messages = append(r.Request.Messages, models.Message{Role: models.RolePerson, Content: strings.Repeat("x", maxMessages/2-10)})
	}
	path := must(d.Save(r))(t)
	var c content
	if err := json.Unmarshal(must(os.ReadFile(path))(t), &c); err != nil {
		t.Fatal(err)
	}
	if c.Omitted != 1 || len(c.Messages) != 3 { // with the instructions
		t.Errorf("%d left out, %d there", c.Omitted, len(c.Messages))
	}
}

func TestWhereNothingWasRefusedThereIsNothing(t *testing.T) {
	d := inTemp(t)
	if list, err := d.List(); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
	if _, _, err := d.Open("20261130T120000.000000Z-trn_1.json"); !errors.Is(err, models.ErrNotFound) {
		t.Error(err)
	}
}
