package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/models"
)

// strict is a tool that has to be given some arguments, and remembers those on
// which it ran.
type strict struct {
	spec  agent.ToolSpec
	print string
	mu    sync.Mutex
	ran   []string
}

func (s *strict) Spec() agent.ToolSpec { return s.spec }

func (s *strict) Run(_ context.Context, c agent.Call) (agent.ToolResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ran = append(s.ran, string(c.Arguments))
	return agenttest.Text(s.print), nil
}

func newStrict(spec agent.ToolSpec, needs ...string) *strict {
	spec.Parameters = json.RawMessage(fmt.Sprintf(`{"type": "object", "required": ["%s"]}`, strings.Join(needs, `","`)))
	if len(needs) == 0 {
		spec.Parameters = json.RawMessage(`{"type":"object"}`)
	}
	spec.Fits = func(arguments json.RawMessage) error {
		var object map[string]any
		if err := json.Unmarshal(arguments, &object); err != nil {
			return err
		}
		for _, name := range needs {
			if _, ok := object[name]; !ok {
				return fmt.Errorf("%s is missing", name)
			}
		}
		return nil
	}
	return &strict{spec: spec, print: "done"}
}

func writeTool() *strict {
	return newStrict(agent.ToolSpec{Name: "write_file", HasEffects: true}, "path", "content")
}

func commandTool() *strict {
	return newStrict(agent.ToolSpec{Name: "run_command", HasEffects: true, UnsafeWhenCut: true}, "command")
}

func readTool() *strict { return newStrict(agent.ToolSpec{Name: "read_file"}, "path") }

const (
	reduce = "\n(output truncated, please reduce your output)"
	told   = "(The arguments of this call were cut off. It ran on what had come of them: see what is missing before you go on.)"
)

func TestArgumentsThatWereCutRunWhereThatIsNoGuess(t *testing.T) {
	for name, test := range map[string]struct {
		tool      *strict
		arguments string
		ran       string // the arguments on which it ran; empty: it did not run
		says      string // why not
	}{
		"a file's content, in the middle":     {writeTool(), `{"path":"a.txt","content":"one\ntw`, `{"path":"a.txt","content":"one\ntw"}`, ""},
		"half an escape is dropped":           {writeTool(), `{"path":"a.txt","content":"one\`, `{"path":"a.txt","content":"one"}`, ""},
		"behind the last string":              {writeTool(), `{"path":"a.txt","content":"one"`, `{"path":"a.txt","content":"one"}`, ""},
		"a command that was whole":            {commandTool(), `{"command":"make"`, `{"command":"make"}`, ""},
		"a number of a tool without effects":  {readTool(), `{"path":"a","limit":12`, `{"path":"a","limit":12}`, ""},
		"a command, in the middle":            {commandTool(), `{"command":"rm -rf build/tm`, "", "were cut off inside a string, and to run half of it may do harm"},
		"a number of a tool with effects":     {writeTool(), `{"path":"a","content":"b","mode":64`, "", "were cut off behind a digit, and may have held a larger number"},
		"before what the tool needs":          {writeTool(), `{"path":"a.txt"`, "", "what came of them is not enough (content is missing)"},
		"before anything came":                {writeTool(), `{`, "", "what came of them is not enough (path is missing)"},
		"an array":                            {commandTool(), `{"command":"a","more":["a","b"`, "", "are not a JSON object"},
		"a string in an array":                {readTool(), `{"path":"a","more":["a","b`, "", "are not a JSON object"},
		"a key":                               {writeTool(), `{"path":"a","content":"b","mo`, "", "are not a JSON object"},
		"behind a colon":                      {writeTool(), `{"path":"a","content":`, "", "are not a JSON object"},
		"behind a comma":                      {commandTool(), `{"command":"make",`, "", "are not a JSON object"},
		"a literal":                           {commandTool(), `{"command":"make","background":tru`, "", "are not a JSON object"},
		"a tool that does not know its needs": {&strict{spec: agent.ToolSpec{Name: "other"}}, `{"a":"b`, "", "it cannot be told whether what came of them is enough"},
	} {
		for _, finish := range []models.FinishReason{models.FinishLength, models.FinishStop, models.FinishToolCalls} {
			t.Run(name+", "+string(finish), func(t *testing.T) {
				tool := test.tool
				tool.ran = nil
				step := agenttest.Step{Calls: []models.ToolCall{agenttest.Call("c", tool.spec.Name, test.arguments)}, Finish: finish}
				j, script, end := run(t, []agenttest.Step{step, agenttest.Says("end")}, tool)
				if end.State != models.StateDone || j.hidden() != map[bool]int{true: 1}[finish == models.FinishLength] {
					t.Fatalf("%+v after %d hidden messages", end, j.hidden())
				}
				stored, result := j.stored[0].ToolCalls[0], j.results()[0]
				if test.ran == "" {
					refusedAsCut(t, tool, test.arguments, stored, result, test.says)
					return
				}
				if !slices.Equal(tool.ran, []string{test.ran}) || stored.Arguments != test.ran {
					t.Errorf("ran on %q and stored %q, want %q", tool.ran, stored.Arguments, test.ran)
				}
				if sent := script.Requests()[1].Messages[1].ToolCalls[0]; sent.ArgumentsOrEmpty() != test.ran {
					t.Errorf("sent again %q", sent.ArgumentsOrEmpty())
				}
				if m := result.Metadata; m.IsError || !m.ArgumentsTruncated || result.Content != "done\n"+told {
					t.Errorf("result %+v: %q", m, result.Content)
				}
			})
		}
	}
}

func refusedAsCut(t *testing.T, tool *strict, received string, stored models.ToolCall, result models.Message, says string) {
	t.Helper()
	if len(tool.ran) > 0 {
		t.Errorf("ran on %q", tool.ran)
	}
	if stored.Arguments != received || stored.ArgumentsOrEmpty() != "{}" {
		t.Errorf("stored %q, sent again as %q", stored.Arguments, stored.ArgumentsOrEmpty())
	}
	if !result.Metadata.IsError || result.Metadata.ArgumentsTruncated {
		t.Errorf("result %+v", result.Metadata)
	}
	if !strings.Contains(result.Content, says) || !strings.HasSuffix(result.Content, "\nReceived:\n"+received+reduce) {
		t.Errorf("the result is %q", result.Content)
	}
}

func TestArgumentsThatAreNoJSONNeverRunAsNone(t *testing.T) {
	for name, arguments := range map[string]string{
		"words":             `write a.txt`,
		"single quotes":     `{'path': 'a'}`,
		"text behind":       `{"path":"a","content":"b"} and then`,
		"an impossible end": `{"path":"a"]`,
		"a list":            `["a"]`,
		"null":              `null`,
		"a raw line break":  "{\"path\":\"a\nb\"",
	} {
		t.Run(name, func(t *testing.T) {
			tool := writeTool()
			j, _, _ := run(t, []agenttest.Step{agenttest.Calls("write_file", arguments), agenttest.Says("end")}, tool)
			result := j.results()[0].Content
			if len(tool.ran) > 0 || !j.results()[0].Metadata.IsError {
				t.Errorf("ran on %q", tool.ran)
			}
			if !strings.Contains(result, `It takes: {"type":"object","required":["path","content"]}`) || !strings.HasSuffix(result, "\nReceived:\n"+arguments) {
				t.Errorf("the result is %q", result)
			}
		})
	}
}

func TestWholeArgumentsOfACutReplyRunAsTheyAre(t *testing.T) {
	tool := readTool()
	calls := agenttest.CutCalls(agenttest.Call("a", "read_file", `{"path":"a"}`), agenttest.Call("b", "read_file", `{"path":"b`))
	j, _, _ := run(t, []agenttest.Step{calls, agenttest.Says("end")}, tool)
	first, second := j.results()[0], j.results()[1]
	if first.Metadata.ArgumentsTruncated || first.Content != "done" {
		t.Errorf("the whole one: %+v %q", first.Metadata, first.Content)
	}
	if !second.Metadata.ArgumentsTruncated || !strings.HasSuffix(second.Content, told) {
		t.Errorf("the cut one: %+v %q", second.Metadata, second.Content)
	}
}

func TestNoArgumentsAreStoredAsAnEmptyObject(t *testing.T) {
	tool := newStrict(agent.ToolSpec{Name: "look"})
	j, _, _ := run(t, []agenttest.Step{agenttest.Calls("look", " "), agenttest.Says("end")}, tool)
	if stored := j.stored[0].ToolCalls[0].Arguments; stored != "{}" || !slices.Equal(tool.ran, []string{"{}"}) {
		t.Errorf("stored %q, ran on %q", stored, tool.ran)
	}
}

func TestArgumentsOfACutReplyThatNeverCameAreNotNone(t *testing.T) {
	tool := newStrict(agent.ToolSpec{Name: "look"})
	j, _, _ := run(t, []agenttest.Step{agenttest.CutCalls(agenttest.Call("", "look", "")), agenttest.Says("end")}, tool)
	if r := j.results()[0]; len(tool.ran) > 0 || !r.Metadata.IsError || !strings.HasSuffix(r.Content, "\nReceived:\n"+reduce) {
		t.Errorf("ran on %q: %q", tool.ran, r.Content)
	}
}

func TestTheArgumentsOfAReplyThatBrokeOffStayAsTheyCame(t *testing.T) {
	tool := writeTool()
	broken := agenttest.Breaks("")
	broken.Calls = []models.ToolCall{agenttest.Call("c", "write_file", `{"path":"a","content":"b`)}
	j, _, _ := run(t, []agenttest.Step{broken}, tool)
	if stored := j.stored[0].ToolCalls[0].Arguments; len(tool.ran) > 0 || stored != `{"path":"a","content":"b` {
		t.Errorf("ran on %q, stored %q", tool.ran, stored)
	}
}

func TestTheResultOfACutCallEndsWithTheLine(t *testing.T) {
	for printed, want := range map[string]string{"": told, "a": "a\n" + told, "a\n": "a\n" + told} {
		tool := readTool()
		tool.print = printed
		j, _, _ := run(t, []agenttest.Step{agenttest.CutCalls(agenttest.Call("", "read_file", `{"path":"b`)), agenttest.Says("end")}, tool)
		if got := j.results()[0].Content; got != want {
			t.Errorf("printed %q: %q", printed, got)
		}
	}
}

func TestAStoppedCallOnCutArgumentsEndsWithTheLineToo(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	tool := &stopping{strict: readTool(), stop: func() { stop(agent.ErrStopped) }}
	j := &journal{}
	loop := newLoop(agenttest.NewScript(agenttest.CutCalls(agenttest.Call("", "read_file", `{"path":"b`))), j, tool)
	_ = loop.Run(ctx, question())
	r := j.results()[0]
	if !r.Metadata.ArgumentsTruncated || !strings.HasPrefix(r.Content, "done\n[The call was started") || !strings.HasSuffix(r.Content, "\n"+told) {
		t.Errorf("%+v: %q", r.Metadata, r.Content)
	}
}

// stopping is a tool in whose run somebody presses stop.
type stopping struct {
	*strict
	stop func()
}

func (s *stopping) Run(ctx context.Context, c agent.Call) (agent.ToolResult, error) {
	s.stop()
	return s.strict.Run(ctx, c)
}
