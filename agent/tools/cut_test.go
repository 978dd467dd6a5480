package tools

import (
	"context"
	"os"
	"strings"
	"testing"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/contextwin"
	"offcut/models"
)

// kept is a journal that keeps the replies and results of a turn.
type kept struct {
	agent.Journal
	messages []models.Message
}

func (k *kept) UsedCallIDs(context.Context, []string) (map[string]bool, error) { return nil, nil }
func (k *kept) Asking(agent.Request)                                           {}
func (k *kept) Delta(string, agent.Delta)                                      {}
func (k *kept) Hidden(context.Context, models.Message) error                   { return nil }
func (k *kept) CallEnded(models.ToolCall, models.Message)                      {}

func (k *kept) Reply(_ context.Context, m models.Message, _ models.Usage) error {
	k.messages = append(k.messages, m)
	return nil
}

func (k *kept) CallStarted(ctx context.Context, _ string, _ models.ToolCall, _ bool) (context.Context, func(string, int64), agent.Background) {
	return ctx, func(string, int64) {}, nil
}

func (k *kept) Results(_ context.Context, results []models.Message) error {
	k.messages = append(k.messages, results...)
	return nil
}

// cutCall is a turn in which the model calls a tool in a reply that is cut: the
// call as it was stored, and its result.
func (b *bench) cutCall(tool, received string) (models.ToolCall, models.Message) {
	b.t.Helper()
	var box []agent.Tool
	for _, t := range b.tools {
		box = append(box, t)
	}
	k := &kept{}
	loop := agent.Loop{
		Model: agenttest.NewScript(agenttest.CutCalls(agenttest.Call("", tool, received)), agenttest.Says("end")),
		Tools: agent.NewToolbox(box...), Window: contextwin.Open(contextwin.Options{Limits: contextwin.Limits{}}), Journal: k, Limits: agent.DefaultLimits(),
		Turn: b.turn, Workspace: b.workspace,
	}
	if err := loop.Run(b.ctx, []models.Message{{ID: "q", Role: models.RolePerson, Content: "go", State: models.StateDone}}); err != nil {
		b.t.Fatal(err)
	}
	return k.messages[0].ToolCalls[0], k.messages[1]
}

func TestAFileWhoseContentWasCutHoldsWhatCame(t *testing.T) {
	b := newBench(t)
	call, result := b.cutCall("write_file", `{"path":"a.txt","content":"one\ntwo\nthr\u00`)
	if got := b.read("a.txt"); got != "one\ntwo\nthr" || call.Arguments != `{"path":"a.txt","content":"one\ntwo\nthr"}` {
		t.Errorf("the file holds %q, the call %q", got, call.Arguments)
	}
	if m := result.Metadata; m.IsError || !m.ArgumentsTruncated {
		t.Errorf("%+v", m)
	}
}

func TestWhatACutCallDoesNotDo(t *testing.T) {
	for name, test := range map[string]struct{ tool, received string }{
		"half a command":             {"run_command", `{"command":"touch made; rm -rf build/tm`},
		"half a script":              {"run_script", `{"code":"await tools.run_command({command: 'touch made'}); await tools.wri`},
		"half a time":                {"run_command", `{"command":"touch made","timeout_s":12`},
		"a file without its content": {"write_file", `{"path":"made"`},
		"an edit without its text":   {"edit_file", `{"path":"kept","old_string":"o`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("kept", "old")
			call, result := b.cutCall(test.tool, test.received)
			if _, err := os.Stat(b.path("made")); err == nil || b.read("kept") != "old" || call.Arguments != test.received {
				t.Errorf("it was done, and stored as %q", call.Arguments)
			}
			if !result.Metadata.IsError || !strings.HasSuffix(result.Content, test.received+"\n(output truncated, please reduce your output)") {
				t.Errorf("%q", result.Content)
			}
		})
	}
}

// The line stands behind the preview, and no figure of the preview counts it.
func TestALongResultOfACutCallEndsWithTheLine(t *testing.T) {
	b := newBench(t)
	_, result := b.cutCall("run_command", `{"command":"seq 1 20000"`)
	m := result.Metadata
	if !m.Truncated || !m.ArgumentsTruncated || m.OutputID == "" || *m.TotalBytes != 108_894 {
		t.Fatalf("%+v", m)
	}
	body := strings.TrimSuffix(result.Content, "(The arguments of this call were cut off. It ran on what had come of them: see what is missing before you go on.)")
	if body == result.Content || !strings.HasSuffix(body, "\n19999\n20000\n") {
		t.Errorf("the result ends with %q", result.Content[len(result.Content)-200:])
	}
	if last := m.Shown[len(m.Shown)-1]; last.End != 108_894 {
		t.Errorf("shown %v", m.Shown)
	}
}
