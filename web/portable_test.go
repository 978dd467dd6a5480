package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"mime/multipart"
	"reflect"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/models"
	"offcut/models/portable"
)

// told is a session with a result whose copy was kept, and a hidden message.
func (s *server) told(t *testing.T) (session, output string) {
	t.Helper()
	session, output = s.withOutput(lines(20))
	s.script.Then(agenttest.Cut("An answer that leaves a fence open\n```go\nfunc f() {"), agenttest.Says(" }"))
	s.says(ann, session, "A question with ``` and\n## a heading")
	return session, output
}

func TestASessionIsExportedAndComesBack(t *testing.T) {
	s := start(t)
	session, output := s.told(t)
	s.wants(200, ann, "PATCH", "/sessions/"+session, `{"title":"../Über \"x\" 发票"}`)

	file := s.api(ann, "GET", "/sessions/"+session+"/export?format=json&include=hidden", nil)
	_, params, err := mime.ParseMediaType(file.header.Get("Content-Disposition"))
	if err != nil || params["filename"] != "offcut-Über-x-发票.json" {
		t.Errorf("the file is called %q: %v", params["filename"], err)
	}
	var made struct {
		Format   string
		Version  int
		Messages []map[string]any
		Outputs  []map[string]any
	}
	if err := json.Unmarshal(file.body, &made); err != nil || made.Format != "offcut-session" || made.Version != 1 {
		t.Fatalf("%v: %s", err, clip(file.body))
	}
	if len(made.Outputs) != 1 || made.Outputs[0]["id"] != output {
		t.Errorf("outputs %v", made.Outputs)
	}
	if _, some := made.Outputs[0]["text"]; some {
		t.Error("the bytes of a kept output are in the file")
	}
	hidden := func(body []byte) bool { return bytes.Contains(body, []byte("Output token limit hit")) }
	if !hidden(file.body) || hidden(s.api(ann, "GET", "/sessions/"+session+"/export", nil).body) {
		t.Error("hidden messages are not where they were asked for, or where they were not")
	}

	back := s.wants(201, bob, "POST", "/import", string(file.body))
	if back["owner"] != bob || back["id"] == session || back["title"] != "../Über \"x\" 发票" {
		t.Errorf("imported as %v", back)
	}
	id := back["id"].(string)
	messages := s.wants(200, bob, "GET", "/sessions/"+id+"/messages?include=hidden&limit=200", nil)["items"].([]any)
	if len(messages) != len(made.Messages) {
		t.Fatalf("%d of %d messages came back", len(messages), len(made.Messages))
	}
	for i, one := range messages {
		m, was := one.(map[string]any), made.Messages[i]
		if m["content"] != was["content"] || m["role"] != was["role"] || m["created_at"] != was["created_at"] || m["id"] == was["id"] || m["turn_id"] == was["turn_id"] {
			t.Errorf("message %d came back as %v, and was %v", i, m, was)
		}
	}
	s.wants(404, bob, "GET", "/sessions/"+id+"/outputs/"+output, nil)
	rests := func(as string, message any) []any {
		return s.wants(200, as, "GET", "/turns/"+message.(map[string]any)["turn_id"].(string), nil)["rests_on"].([]any)
	}
	if was, is := rests(ann, made.Messages[0]), rests(bob, messages[0]); len(was) != 1 || !reflect.DeepEqual(was, is) {
		t.Errorf("the answer rests on %v, and rested on %v", is, was)
	}
	was, is := s.signedIn(ann).get("/s/"+session).page(t).Find("[data-testid=answer-coverage]"), s.signedIn(bob).get("/s/"+id).page(t).Find("[data-testid=answer-coverage]")
	if was.Length() == 0 || is.Length() != was.Length() {
		t.Errorf("%d lines under answers became %d", was.Length(), is.Length())
	}
	s.wants(404, bob, "GET", "/sessions/"+session+"/export", nil)
	if items := s.wants(200, bob, "GET", "/sessions?q=heading", nil)["items"].([]any); len(items) != 1 {
		t.Errorf("what was imported is found in %d sessions", len(items))
	}
	if page := s.signedIn(bob).get("/s/" + id).page(t); page.Find("[data-testid=tool-card]").Length() != 1 {
		t.Error("the imported session does not show its tool")
	}
	// It goes on, and the model is sent each call with its result.
	s.script.Then(agenttest.Says("It goes on."))
	if turn := s.says(bob, id, "Go on"); turn["state"] != "done" {
		t.Errorf("the imported session does not go on: %v", turn)
	}
}

func TestMarkdownHoldsWhateverWasSaid(t *testing.T) {
	s := start(t)
	session, output := s.told(t)
	text := string(s.api(ann, "GET", "/sessions/"+session+"/export?format=md", nil).body)
	for _, want := range []string{
		"> A question with ``` and\n> ## a heading\n", // within the quotation
		"func f() { }\n```\n",                         // the fence that was left open is closed
		output, "**print**",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%.4000s", want, text)
		}
	}
	if strings.Contains(text, "Output token limit hit") || !strings.Contains(string(s.api(ann, "GET", "/sessions/"+session+"/export?format=md&include=hidden", nil).body), "Output token limit hit") {
		t.Error("hidden messages are not where they were asked for, or where they were not")
	}
	s.wants(400, ann, "GET", "/sessions/"+session+"/export?format=pdf", nil)
	s.wants(400, ann, "GET", "/sessions/"+session+"/export?include=secrets", nil)
}

func TestMarkdownSaysHowTurnsEnded(t *testing.T) {
	s := start(t)
	session := s.newSession(ann)
	s.script.Then(agenttest.Says("fine"),
		agenttest.Fails(&agent.ModelError{Code: models.CodeProviderRefused, Message: "the model's server refused the request: “no *such* model”"}),
		agenttest.Breaks("half an ans"))
	for _, question := range []string{"one", "two", "three"} {
		s.says(ann, session, question)
	}
	text := string(s.api(ann, "GET", "/sessions/"+session+"/export?format=md", nil).body)
	_, text, _ = strings.Cut(text, "> one")
	one, text, _ := strings.Cut(text, "> two")
	two, three, _ := strings.Cut(text, "> three")
	if strings.Contains(one, "ended") {
		t.Errorf("of a turn that ended well it says %q", one)
	}
	if !strings.Contains(two, "*This turn ended with an error.") || !strings.Contains(two, `“no \*such\* model”`) {
		t.Errorf("of a turn that failed it says %q", two)
	}
	if strings.Count(three, "The turn was interrupted.") != 1 || !strings.Contains(three, "broke off") {
		t.Errorf("of a turn that broke off it says %q", three)
	}
	page := s.signedIn(ann).get("/s/"+session+"/export?format=md", "Accept-Language", "zh")
	if !strings.Contains(string(page.body), "本轮已中断。") {
		t.Error("in Chinese it does not say that a turn was interrupted")
	}
}

func TestABadFileIsRefusedInTheLanguageOfThePage(t *testing.T) {
	s := start(t)
	b := s.signedIn(ann)
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	must(t, parts.WriteField("_csrf", b.cookie("offcut_csrf")))
	file, err := parts.CreateFormFile("file", "x.json")
	must(t, err)
	_, err = file.Write([]byte(`{"format":"offcut-session","version":1,"session":[],"messages":[]}`))
	must(t, err)
	must(t, parts.Close())
	a := b.send("POST", "/history/import", &form, "Content-Type", parts.FormDataContentType(), "Accept-Language", "zh")
	if text := a.page(t).Find("main").Text(); a.status != 422 || !strings.Contains(text, "session 是列表，应为对象") {
		t.Errorf("status %d: %q", a.status, text)
	}
}

func TestABadFileIsRefusedWhole(t *testing.T) {
	s := start(t)
	for name, body := range map[string]string{
		"nothing":       "",
		"no JSON":       "hello",
		"cut":           `{"format":"offcut-session","version":1,"messages":[{"role"`,
		"a list":        `[]`,
		"another":       `{"messages":[]}`,
		"no UTF-8":      "{\"format\":\"\xff\"}",
		"half a letter": `{"format":"\ud800"}`,
		"a bad message": `{"format":"offcut-session","version":1,"messages":[{"turn_id":"t","role":"tool","tool_call_id":"c","content":"x","state":"done","created_at":"2026-03-01T09:30:00Z"}]}`,
	} {
		problem := s.wants(422, ann, "POST", "/import", body)
		if code := problem["code"]; code != "bad_file" && code != "invalid_utf8" {
			t.Errorf("%s: %v", name, problem)
		}
		if problem["code"] == "bad_file" && (problem["place"] == nil || problem["reason"] == nil || problem["count"] == nil) {
			t.Errorf("%s: it is not said where and why: %v", name, problem)
		}
	}
	s.wants(413, ann, "POST", "/import", strings.Repeat(" ", models.MaxUploadBytes+1))
	if items := s.wants(200, ann, "GET", "/sessions", nil)["items"].([]any); len(items) != 0 {
		t.Errorf("%d sessions were made", len(items))
	}
}

func TestAFileIsImportedByAForm(t *testing.T) {
	s := start(t)
	session, _ := s.told(t)
	file := s.api(ann, "GET", "/sessions/"+session+"/export", nil).body
	answer := s.importByForm(file)
	if answer.status != 303 || !strings.Contains(answer.header.Get("Location"), "/s/ses") {
		t.Errorf("status %d to %q: %s", answer.status, answer.header.Get("Location"), clip(answer.body))
	}
}

// A session is not answered by another model than its own without a word.
func TestAnImportedSessionOfAModelThatIsNotThereAsksForAnother(t *testing.T) {
	s := start(t)
	session, _ := s.told(t)
	var file map[string]any
	s.must(json.Unmarshal(s.api(ann, "GET", "/sessions/"+session+"/export", nil).body, &file))
	file["session"].(map[string]any)["model"] = "nope"
	data, err := json.Marshal(file)
	s.must(err)
	answer := s.importByForm(data)
	if answer.status != 303 {
		t.Fatalf("status %d: %s", answer.status, clip(answer.body))
	}
	if text := s.signedIn(ann).get(answer.header.Get("Location")).page(t).Find("[data-testid=model-gone]").Text(); !strings.Contains(text, "nope") {
		t.Errorf("the page says %q of the model", text)
	}
	file["session"].(map[string]any)["model"] = strings.Repeat("n", 257)
	data, err = json.Marshal(file)
	s.must(err)
	s.wants(422, ann, "POST", "/import", string(data))
}

// importByForm is ann choosing a file on the page of all sessions.
func (s *server) importByForm(file []byte) answer {
	s.t.Helper()
	b := s.signedIn(ann)
	token, _ := b.get("/history").page(s.t).Find("input[name=_csrf]").Attr("value")
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	s.must(form.WriteField("_csrf", token))
	part, err := form.CreateFormFile("file", "x.json")
	s.must(err)
	_, err = part.Write(file)
	s.must(err)
	s.must(form.Close())
	return b.send("POST", "/history/import", &body, "Content-Type", form.FormDataContentType())
}

// What was exported comes back however long it is: a session with large results
// is more than other requests may hold.
func TestALongSessionComesBack(t *testing.T) {
	s := start(t)
	var messages []portable.Message
	for i := range 20 {
		messages = append(messages, portable.Message{
			TurnID: fmt.Sprint(i), Role: models.RolePerson, Content: strings.Repeat("word ", 100_000), State: models.StateDone, CreatedAt: time.Now(),
		})
	}
	file, err := json.Marshal(struct {
		portable.Header
		Messages []portable.Message `json:"messages"`
	}{portable.Header{Format: portable.Format, Version: portable.Version}, messages})
	must(t, err)
	if len(file) <= maxJSONBytes {
		t.Fatalf("%d bytes are no more than other requests hold", len(file))
	}
	made := s.wants(201, ann, "POST", "/import", file)
	if items := s.wants(200, ann, "GET", "/sessions/"+made["id"].(string)+"/messages", nil)["items"].([]any); len(items) != len(messages) {
		t.Errorf("%d messages came back", len(items))
	}
	if a := s.importByForm(file); a.status != 303 {
		t.Errorf("by the form: %d %s", a.status, clip(a.body))
	}
}
