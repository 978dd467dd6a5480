package demo_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/llm/demo"
	"offcut/agent/llm/openai"
	"offcut/models"
)

// session talks to the demo model through the real client.
type session struct {
	t        *testing.T
	model    agent.Model
	messages []models.Message
}

func begin(t *testing.T) *session {
	t.Helper()
	server, err := demo.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return &session{t: t, model: openai.New(openai.Config{BaseURL: server.BaseURL(), APIKey: server.Key(), Model: "demo"})}
}

func (s *session) request() agent.Request {
	var tools []agent.ToolSpec
	for _, name := range []string{"run_command", "read_file", "write_file", "edit_file", "list_files", "search_files", "read_tool_output", "search_tool_output", "run_script"} {
		tools = append(tools, agent.ToolSpec{Name: name, Parameters: json.RawMessage(`{"type":"object"}`)})
	}
	return agent.Request{System: "x", Messages: s.messages, Tools: tools}
}

func (s *session) ask(text string) agent.Reply {
	s.messages = append(s.messages, models.Message{Role: models.RolePerson, Content: text})
	return s.step()
}

func (s *session) step() agent.Reply {
	s.t.Helper()
	reply, err := s.model.Stream(s.t.Context(), s.request(), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.messages = append(s.messages, models.Message{Role: models.RoleAssistant, Content: reply.Content, ToolCalls: reply.ToolCalls})
	return reply
}

// result answers the call at that place of the last reply.
func (s *session) result(reply agent.Reply, at int, meta models.ResultMetadata, body string) {
	s.messages = append(s.messages, models.Message{Role: models.RoleTool, ToolCallID: reply.ToolCalls[at].ID, Metadata: &meta, Content: body})
}

func (s *session) wantCalls(reply agent.Reply, want ...string) {
	s.t.Helper()
	var got []string
	for _, c := range reply.ToolCalls {
		got = append(got, c.Name+" "+c.Arguments)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		s.t.Errorf("calls\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (s *session) wantWords(reply agent.Reply, want ...string) {
	s.t.Helper()
	for _, w := range want {
		if !strings.Contains(reply.Content, w) {
			s.t.Errorf("%q does not say %q", reply.Content, w)
		}
	}
	if len(reply.ToolCalls) > 0 || reply.FinishReason != models.FinishStop {
		s.t.Errorf("it does not rest: %v, %s", reply.ToolCalls, reply.FinishReason)
	}
}

var kept = models.ResultMetadata{
	Truncated: true, ExitCode: models.Ptr(0), ExecutionMS: models.Ptr(int64(12)), OutputID: "out_abc",
	TotalBytes: models.Ptr(int64(1_288_895)), Complete: models.Ptr(true),
	Shown: []models.Range{{Start: 0, End: 8192}, {Start: 1_272_511, End: 1_288_895}}, Retention: models.RetentionKept,
}

func TestACommandIsRunAndItsLastLineQuoted(t *testing.T) {
	s := begin(t)
	reply := s.ask("Run `seq 1 200000` and tell me the last line")
	s.wantCalls(reply, `run_command {"command":"seq 1 200000"}`)
	if !strings.Contains(reply.Content, "demo model") {
		t.Errorf("it does not say what it is: %q", reply.Content)
	}
	s.result(reply, 0, kept, "1\n2\n[marker]\n199999\n200000\n")
	reply = s.step()
	s.wantWords(reply, "exit code 0", "12 ms", "The last line is:", "\n200000\n", "24,576 of its 1,288,895 bytes", "out_abc")
	if strings.Contains(reply.Content, "demo model") {
		t.Error("it says twice what it is")
	}
}

func TestTheLastKeptOutputIsSearched(t *testing.T) {
	s := begin(t)
	reply := s.ask("Run `seq 1 200000`")
	s.result(reply, 0, kept, "1\n[marker]\n200000\n")
	s.step()
	reply = s.ask("Find “199999” in the last kept output")
	s.wantCalls(reply, `search_tool_output {"output_id":"out_abc","pattern":"199999"}`)
	s.result(reply, 0, models.ResultMetadata{}, "1288880 199999: 199999\n")
	s.wantWords(s.step(), "`199999`", "1288880")
}

func TestWhereNothingIsKeptAnExampleIsMadeFirst(t *testing.T) {
	s := begin(t)
	reply := s.ask("Find “199999” in the last kept output")
	s.wantCalls(reply, `run_command {"command":"seq 1 200000"}`)
	s.result(reply, 0, kept, "1\n")
	reply = s.step()
	s.wantCalls(reply, `search_tool_output {"output_id":"out_abc","pattern":"199999"}`)
	s.result(reply, 0, models.ResultMetadata{}, "found")
	s.wantWords(s.step(), "found")
}

func TestAFileIsWrittenAndReadAtALine(t *testing.T) {
	s := begin(t)
	reply := s.ask("Write `notes.txt`, then read it at line 2")
	if len(reply.ToolCalls) != 1 || reply.ToolCalls[0].Name != "write_file" || !strings.Contains(reply.ToolCalls[0].Arguments, `"path":"notes.txt"`) {
		t.Fatalf("calls %v", reply.ToolCalls)
	}
	s.result(reply, 0, models.ResultMetadata{}, "wrote 3 lines")
	reply = s.step()
	s.wantCalls(reply, `read_file {"line":2,"path":"notes.txt"}`)
	s.result(reply, 0, models.ResultMetadata{FileHasMore: models.Ptr(true), NextLine: models.Ptr(int64(3))}, "This is line 2\n")
	s.wantWords(s.step(), "wrote 3 lines", "This is line 2", "goes on at line 3")
}

func TestSeveralCommandsRunInParallel(t *testing.T) {
	s := begin(t)
	reply := s.ask("Run `echo a` and `echo b`")
	s.wantCalls(reply, `run_command {"command":"echo a"}`, `run_command {"command":"echo b"}`)
	s.result(reply, 0, models.ResultMetadata{ExitCode: models.Ptr(0)}, "a\n")
	s.result(reply, 1, models.ResultMetadata{ExitCode: models.Ptr(3)}, "(no output)")
	s.wantWords(s.step(), "`echo a` ended with exit code 0", "`echo b` ended with exit code 3", "printed nothing")
}

func TestTheEndOfWhatWasShownIsNotTakenForTheEnd(t *testing.T) {
	s := begin(t)
	reply := s.ask("Run `head -c 300000 /dev/urandom`")
	meta := models.ResultMetadata{
		ExitCode: models.Ptr(0), Truncated: true, OutputID: "out_dump", TotalBytes: models.Ptr(int64(1_556_250)), Complete: models.Ptr(true),
		Shown: []models.Range{{Start: 0, End: 4096}}, Retention: models.RetentionKept,
	}
	s.result(reply, 0, meta, "first\n"+strings.Repeat("row\n", 50)+"last shown")
	said := s.step().Content
	if strings.Contains(said, "ends so") || strings.Contains(said, "last shown") || !strings.Contains(said, "I was shown its beginning:\n\n```text\nfirst\n") {
		t.Errorf("it says %q", said)
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	for _, tt := range []struct {
		name string
		meta models.ResultMetadata
		body string
		want string
	}{
		{"an incomplete copy", models.ResultMetadata{ExitCode: models.Ptr(0), OutputID: "o", Truncated: true, TotalBytes: models.Ptr(int64(8_388_608)), Complete: models.Ptr(false), OmittedBytes: models.Ptr(int64(5_000_000))}, "x", "5,000,000 bytes are missing"},
		{"a copy that was not saved", models.ResultMetadata{Truncated: true, Retention: models.RetentionFailed}, "x", "could not be kept"},
		{"a tail that was not shown", models.ResultMetadata{OutputID: "o", Truncated: true, TotalBytes: models.Ptr(int64(100)), Shown: []models.Range{{Start: 0, End: 50}}}, "x", "not shown its last line"},
		{"an error", models.ResultMetadata{IsError: true}, "refused by policy", "refused by policy"},
		{"a time limit", models.ResultMetadata{TimedOut: true}, "x", "time limit"},
		{"a signal", models.ResultMetadata{Signal: "SIGKILL"}, "x", "SIGKILL"},
		{"a fence in the output", models.ResultMetadata{}, "```", "````"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := begin(t)
			reply := s.ask("Run `x` and tell me the last line")
			s.result(reply, 0, tt.meta, tt.body)
			s.wantWords(s.step(), tt.want)
		})
	}
}

func TestItRunsAScriptAndQuotesWhatItReturned(t *testing.T) {
	s := begin(t)
	reply := s.ask("Run a script: `return 6 * 7`")
	s.wantCalls(reply, `run_script {"code":"return 6 * 7"}`)
	s.result(reply, 0, models.ResultMetadata{Nested: []models.NestedOutput{{Tool: "run_command", OutputID: "out_1"}, {Tool: "run_command", OutputID: "out_2"}}}, "42")
	s.wantWords(s.step(), "The script ran. It gave back:", "42", "kept beside that: 2")
	s.wantCalls(s.ask("Find “5” in the last kept output"), `search_tool_output {"output_id":"out_2","pattern":"5"}`)
}

func TestUnknownRequestsAreToldWhatIsUnderstood(t *testing.T) {
	s := begin(t)
	s.wantWords(s.ask("Hello!"), "demo model", "only a script", "Run `seq 1 200000`", "OFFCUT_MODEL")
}

func TestItCountsAndRepeats(t *testing.T) {
	s := begin(t)
	s.wantWords(s.ask("count to 12"), "1 2 3", "11 12")
	s.wantWords(s.ask("say: **hi**"), "**hi**")
}

func TestAStopEndsTheAnswer(t *testing.T) {
	s := begin(t)
	s.messages = []models.Message{{Role: models.RolePerson, Content: "count to 1000 slowly"}}
	took := agenttest.Quickest(time.Second, func() time.Duration {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		if _, err := s.model.Stream(ctx, s.request(), func(agent.Delta) { cancel() }); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		return time.Since(start)
	})
	if took > time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestOthersOfTheMachineAreRefused(t *testing.T) {
	server, err := demo.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, key := range []string{"", "Bearer ", "Bearer wrong"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.BaseURL()+"/chat/completions", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", key)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("key %q: %s", key, resp.Status)
		}
	}
}

func TestAnOlderPartIsSummarisedAndTheListOfOutputsStillHelps(t *testing.T) {
	s := begin(t)
	asked := agent.Request{System: agent.SummaryTask + "\n…", Messages: []models.Message{{Role: models.RolePerson, Content: "Summary so far:\nThe user asked, oldest first:\n- Say: one\n\nMessages:\n" +
		`{"role":"user","content":"Run ` + "`ls`" + ` please\nand more"}` + "\n" + `{"role":"tool","tool":"run_command","content":"{\"role\":\"user\"}"}` + "\n"}}}
	reply, err := s.model.Stream(t.Context(), asked, nil)
	if err != nil || reply.Content != "The user asked, oldest first:\n- Say: one\n- Run ls please" || len(reply.ToolCalls) > 0 {
		t.Errorf("%q %v %v", reply.Content, reply.ToolCalls, err)
	}
	s.messages = []models.Message{{Role: models.RolePerson, Content: agent.SummaryHead + "\n\n" + reply.Content + "\n\nThey are:\n" + `{"output_id":"out_old","tool":"run_command"}` + "\n"}}
	reply = s.ask("Find “x” in the last kept output")
	s.wantCalls(reply, `search_tool_output {"output_id":"out_old","pattern":"x"}`)
	if strings.Contains(reply.Content, "I am the demo model") {
		t.Error("it says again what it is")
	}
}
