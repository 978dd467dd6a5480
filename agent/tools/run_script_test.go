package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"offcut/agent"
	"offcut/agent/approve"
	"offcut/agent/retain"
	"offcut/models"
)

func (b *bench) script(code string) agent.ToolResult {
	b.t.Helper()
	return b.call("run_script", arguments{"code": code})
}

// whole reads a kept output by its pages, as the model does.
func (b *bench) whole(outputID string) string {
	b.t.Helper()
	var text strings.Builder
	for offset := int64(0); ; {
		page := b.ok("read_tool_output", arguments{"output_id": outputID, "offset": offset})
		text.WriteString(page.Content)
		if !*page.Metadata.HasMore {
			return text.String()
		}
		offset = *page.Metadata.NextOffset
	}
}

func (b *bench) outputs() []models.RetainedOutput {
	b.t.Helper()
	all, _, err := b.store.Outputs(b.t.Context(), "s1", models.Page{Limit: models.MaxPageLimit})
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

func TestAScriptReadsLongResultsAndReturnsANumberAndEachIsKept(t *testing.T) {
	b := newBench(t)
	for i := range 3 {
		b.write(fmt.Sprintf("%d.txt", i), strings.Repeat(fmt.Sprintf("line of file %d\n", i), 2000))
	}
	result := b.script(`
const texts = await Promise.all([0, 1, 2].map(n => tools.read_file({path: n + ".txt"})));
return texts.reduce((sum, r) => sum + r.text.split("\n").length - 1, 0)`)
	if result.Content != "6000" || result.IsError || len(result.Metadata.Nested) != 3 {
		t.Fatalf("%q, %s", result.Content, result.Metadata.Line())
	}
	for i, nested := range result.Metadata.Nested {
		if nested.Tool != "read_file" || *nested.TotalBytes != 30000 || !*nested.Complete {
			t.Errorf("nested %+v", nested)
		}
		if text := b.whole(nested.OutputID); text != b.read(fmt.Sprintf("%d.txt", i)) {
			t.Errorf("copy %d has %d bytes", i, len(text))
		}
	}
	for _, o := range b.outputs() {
		if o.Tool != "read_file" || !strings.Contains(o.CallID, "_s") || o.Running {
			t.Errorf("output %+v", o)
		}
	}
	if strings.Contains(result.Metadata.Line(), `"calls"`) {
		t.Error("the model is told of all calls again")
	}
}

func TestWhatAScriptDoesWithALongResultDoesNotLoseIt(t *testing.T) {
	for name, test := range map[string]struct{ code, body string }{
		"a slice":            {`return (await tools.read_file({path: "a"})).text.slice(0, 3)`, "aaa"},
		"nothing":            {`await tools.read_file({path: "a"})`, "(no output)"},
		"a throw":            {"console.log('so far');\nconst r = await tools.read_file({path: 'a'});\nthrow new Error('no ' + r.text.length)", "so far\nError: no 30000 (line 3)"},
		"a promise for ever": {`await tools.read_file({path: "a"}); console.log("half"); await new Promise(() => {})`, "half\nThe program waits for a promise that never settles"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("a", strings.Repeat("a", 30000))
			result := b.script(test.code)
			if !strings.HasPrefix(result.Content, test.body) || len(result.Metadata.Nested) != 1 {
				t.Fatalf("%q, %s", result.Content, result.Metadata.Line())
			}
			if text := b.whole(result.Metadata.Nested[0].OutputID); text != strings.Repeat("a", 30000) {
				t.Errorf("the copy has %d bytes", len(text))
			}
		})
	}
}

func TestTheValueOfACommandHasNoWordOfOffcuts(t *testing.T) {
	b := newBench(t)
	result := b.script(`
const r = await tools.run_command({command: "seq -f 'name-%05g' 20000"});
const odd = r.text.split("\n").filter(line => line && !/^name-\d{5}$/.test(line));
return {odd, keys: Object.keys(r), exit: r.exit_code, cut: r.truncated, id: r.output_id, all: r.total_bytes, whole: r.complete,
  bytes: r.text.length, first: r.text.slice(0, 10), last: r.text.trim().slice(-10)}`)
	var got struct {
		Odd, Keys   []string
		Exit        int
		Cut, Whole  bool
		ID          string
		All, Bytes  int64
		First, Last string
	}
	if err := json.Unmarshal([]byte(result.Content), &got); err != nil {
		t.Fatalf("%q: %v", result.Content, err)
	}
	if len(got.Odd) > 0 || got.Exit != 0 || !got.Cut || !got.Whole || got.All != 220000 || got.First != "name-00001" || got.Last != "name-20000" {
		t.Errorf("%+v", got)
	}
	if want := []string{"exit_code", "signal", "timed_out", "text", "truncated", "output_id", "total_bytes", "complete"}; !slices.Equal(got.Keys, want) {
		t.Errorf("the keys are %q", got.Keys)
	}
	if got.Bytes > retain.CommandPreviewBytes+1 || got.Bytes < 20000 {
		t.Errorf("the preview has %d bytes", got.Bytes)
	}
	if n := result.Metadata.Nested; len(n) != 1 || n[0].OutputID != got.ID || len(b.outputs()) != 1 {
		t.Errorf("nested %+v, beside %d outputs", n, len(b.outputs()))
	}
	if text := b.whole(got.ID); len(text) != 220000 {
		t.Errorf("the copy has %d bytes", len(text))
	}
}

func TestTheValuesOfSmallResults(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\ntwo\n")
	for code, want := range map[string]string{
		`return (await tools.run_command({command: "true"})).text`:                                               "(no output)", // of the script: the text is empty
		`return JSON.stringify((await tools.run_command({command: "true"})).text)`:                               `""`,
		`return (await tools.run_command({command: "exit 3"})).exit_code`:                                        "3",
		`return (await tools.run_command({command: "kill -9 $$"})).signal`:                                       "SIGKILL",
		`return (await tools.run_command({command: "sleep 9", timeout_s: 1})).timed_out`:                         "true",
		`return (await tools.run_command({command: "echo o; echo e >&2"})).text.length`:                          "4",
		`const r = await tools.read_file({path: "a.txt", limit: 1}); return [r.text, r.has_more]`:                `["one\n",true]`,
		`return await tools.write_file({path: "b.txt", content: "x"}).then(r => typeof r.text)`:                  "string",
		`try { await tools.read_file({path: "none"}) } catch (e) { return e.message }`:                           "There is no none. list_files shows what there is.",
		`try { await tools.run_command({command: "sleep 1", background: true}) } catch (e) { return e.message }`: "The command was not started: here a command cannot go on in the background. Run it without background.",
		`try { await tools.run_command({}) } catch (e) { return e.message.slice(0, 38) }`:                        "The arguments of run_command are wrong",
		`return typeof tools.run_script`:                                                                         "undefined",
	} {
		result := b.script(code)
		if result.IsError || result.Content != want && !strings.HasPrefix(result.Content, want) || len(result.Metadata.Nested) > 0 {
			t.Errorf("%s: %q, %s", code, result.Content, result.Metadata.Line())
		}
	}
	if n := len(b.outputs()); n > 0 {
		t.Errorf("%d copies of small results are kept", n)
	}
}

func TestAnEmptyOutcomeIsAnEmptyTextInAScript(t *testing.T) {
	b := newBench(t)
	b.write("empty", "")
	b.write("rows.json", `[{"a":"`+strings.Repeat("x", 30000)+`"}]`)
	id := b.ok("run_command", arguments{"command": "cat rows.json"}).Metadata.OutputID
	for _, test := range []struct {
		tool string
		args arguments
		list bool
		told string // what the model reads of the same call
	}{
		{"run_command", arguments{"command": "true"}, false, "(no output)"},
		{"read_file", arguments{"path": "empty"}, false, ""},
		{"list_files", arguments{"pattern": "*.none"}, true, "(nothing matches)"},
		{"search_files", arguments{"pattern": "absent"}, true, "(no match)\n(2 files searched)"},
		{"search_tool_output", arguments{"output_id": id, "pattern": "absent"}, true, "(no match)"},
		{"query_tool_output", arguments{"output_id": id, "filter": `.[] | select(.a == "none")`}, true, "(the filter gives no value)"},
	} {
		if told := b.ok(test.tool, test.args).Content; told != test.told {
			t.Errorf("%s: the model reads %q", test.tool, told)
		}
		args, err := json.Marshal(test.args)
		if err != nil {
			t.Fatal(err)
		}
		result := b.script("const r = await tools." + test.tool + "(" + string(args) + "); return [r.text, r.entries ?? null, (r.notes ?? []).join('\\n')]")
		var got [3]any
		if err := json.Unmarshal([]byte(result.Content), &got); err != nil {
			t.Fatalf("%s: %q: %v", test.tool, result.Content, err)
		}
		if got[0] != "" || (got[1] != nil) != test.list || test.list && (got[1] != 0.0 || got[2] != test.told) || !test.list && got[2] != "" {
			t.Errorf("%s: the script has %v", test.tool, got)
		}
	}
	b.write("a.txt", "hit\nhit\nhit\n")
	result := b.script(`const r = await tools.search_files({pattern: "hit", max: 2}); return [r.text, r.entries, r.truncated, r.notes[0]]`)
	if want := `["a.txt:1: hit\na.txt:2: hit",2,true,"(there are more matches; use a narrower pattern, path or glob)"]`; result.Content != want {
		t.Errorf("%s", result.Content)
	}
}

func TestWhatAScriptPrintsIsShownAndKeptLikeThatOfACommand(t *testing.T) {
	b := newBench(t)
	result := b.script(`console.log("first"); return "é".repeat(500000) + "END"`)
	meta := result.Metadata
	if result.IsError || !meta.Truncated || meta.OutputID == "" || *meta.TotalBytes != 1000009 || !*meta.Complete {
		t.Fatalf("%s", meta.Line())
	}
	if len(result.Content) > retain.CommandPreviewBytes+400 || !utf8.ValidString(result.Content) ||
		!strings.HasPrefix(result.Content, "first\né") || !strings.HasSuffix(result.Content, "éEND") {
		t.Errorf("the preview is %.40q … of %d bytes", result.Content, len(result.Content))
	}
	if o := b.outputs(); len(o) != 1 || o[0].Tool != "run_script" || !strings.HasPrefix(o[0].Title, "console.log") {
		t.Errorf("outputs %+v", o)
	}
	if text := b.whole(meta.OutputID); text != "first\n"+strings.Repeat("é", 500000)+"END" {
		t.Errorf("the copy has %d bytes", len(text))
	}
	thrown := b.script(`throw "x".repeat(1e6) + "END"`)
	if !thrown.IsError || !thrown.Metadata.Truncated || !strings.Contains(b.whole(thrown.Metadata.OutputID), strings.Repeat("x", 1e6)+"END") {
		t.Errorf("a long text that was thrown: %s", thrown.Metadata.Line())
	}
	flood := b.script("for (let i = 0; i < 20000; i++) console.log('x'.repeat(1000)); return 'the end'")
	if *flood.Metadata.Complete || *flood.Metadata.CapturedBytes != 20000*1001+7 || !strings.HasSuffix(flood.Content, "the end") {
		t.Errorf("%s", flood.Metadata.Line())
	}
}

func TestAFailedSaveOfANestedResultIsSaid(t *testing.T) {
	b := newBench(t, func(o *Options) { o.Keeper = retain.NewKeeper(failing{}, retain.Config{}) })
	b.write("a", strings.Repeat("a", 30000))
	result := b.script(`return (await tools.read_file({path: "a"})).text.length`)
	n := result.Metadata.Nested
	if result.Content != "30000" || len(n) != 1 || n[0].Retention != models.RetentionFailed || n[0].RetentionError == "" || n[0].OutputID != "" {
		t.Errorf("%q, %s", result.Content, result.Metadata.Line())
	}
}

// failing is a store that takes nothing.
type failing struct{ retain.Store }

func (failing) CreateOutput(context.Context, models.RetainedOutput) error {
	return errors.New("disk full")
}

func TestTheCallsOfAScriptAreToldAndStayWithItsResult(t *testing.T) {
	b := newBench(t)
	result := b.script(`await tools.run_command({command: "echo " + "x".repeat(300)}); try { await tools.read_file({path: "none"}) } catch {}; await tools.run_command({command: "exit 2"})`)
	calls := result.Metadata.Calls
	if len(calls) != 3 || len(b.made) != 6 || b.made[0].State != models.CallRunning || b.made[1].ID != b.made[0].ID {
		t.Fatalf("%+v, told %+v", calls, b.made)
	}
	for i, want := range []models.CallState{models.CallOK, models.CallError, models.CallError} {
		if calls[i].State != want || calls[i].ExecutionMS == nil || !strings.HasSuffix(calls[i].ID, fmt.Sprintf("_s%d", i+1)) {
			t.Errorf("call %d: %+v", i, calls[i])
		}
	}
	if len(calls[0].Arguments) > 300 || !json.Valid([]byte(calls[0].Arguments)) || *calls[2].ExitCode != 2 || !calls[1].IsError {
		t.Errorf("%+v", calls)
	}
}

// answers is a gate that gives the same answer to all, and notes who asked.
type answers struct {
	allowed bool
	asked   []string
}

func (a *answers) Ask(_ context.Context, q agent.Question) (func(context.Context) (agent.Answer, error), error) {
	a.asked = append(a.asked, q.Call.Tool+" "+q.Call.Parent)
	return func(context.Context) (agent.Answer, error) { return agent.Answer{Asked: true, Allowed: a.allowed}, nil }, nil
}

func TestTheCallsOfAScriptAskLikeTheModels(t *testing.T) {
	b := newBench(t, func(o *Options) { o.Policy.Mode = approve.Ask })
	gate := &answers{allowed: true}
	b.gate = gate
	b.write("a", "x")
	result := b.script(`await tools.read_file({path: "a"}); await tools.run_command({command: "true"}); return "ok"`)
	if result.Content != "ok" || len(gate.asked) != 2 || gate.asked[0] != "run_script " || !strings.HasPrefix(gate.asked[1], "run_command call") {
		t.Errorf("%q, asked %q", result.Content, gate.asked)
	}
	b.gate = &answers{}
	if result := b.script("return 1"); !result.IsError || !strings.Contains(result.Content, "denied it: run_script was not run") {
		t.Errorf("%q", result.Content)
	}
}

func TestAStoppedScriptEndsItsCallsAndKeepsWhatCame(t *testing.T) {
	b := newBench(t)
	ctx, stop := context.WithCancelCause(t.Context())
	b.ctx = ctx
	var stopped time.Time
	go func() { // once what the command printed is stored, which it is after a second
		defer func() {
			stopped = time.Now()
			stop(agent.ErrStopped)
		}()
		for range 1200 {
			if all, _, err := b.store.Outputs(t.Context(), "s1", models.Page{Limit: 1}); err != nil || len(all) > 0 && all[0].TotalBytes > 0 {
				return
			}
			time.Sleep(25 * time.Millisecond)
		}
	}()
	result := b.script(`console.log("begun"); await tools.run_command({command: "echo first; sleep 300", timeout_s: 300}); return 1`)
	if took := time.Since(stopped); took > 1500*time.Millisecond {
		t.Errorf("it took %s to stop", took)
	}
	meta := result.Metadata
	if !strings.HasPrefix(result.Content, "begun\n") || len(meta.Calls) != 1 || meta.Calls[0].State != models.CallStopped {
		t.Errorf("%q, %+v", result.Content, meta.Calls)
	}
	if len(meta.Nested) != 1 || *meta.Nested[0].Complete {
		t.Errorf("nested %+v", meta.Nested)
	}
}

func TestScriptsAreRefused(t *testing.T) {
	b := newBench(t)
	b.refused("run_script", arguments{"code": "  "}, "The program is empty")
	b.refused("run_script", arguments{}, "code")
	b.refused("run_script", arguments{"code": strings.Repeat("x", 1<<20+1)}, "at most 1048576 are possible")
}

func TestTheModelIsToldTheTypesOfTheTools(t *testing.T) {
	b := newBench(t)
	for _, spec := range b.box.Specs() {
		if spec.Name != "run_script" {
			continue
		}
		for _, line := range []string{
			"run_command({command: string, timeout_s?: number}): {exit_code: number|null, ",
			"read_file({path: string, line?: number, limit?: number, byte_offset?: number})\n",
			"edit_file({path: string, old_string: string, new_string: string, replace_all?: boolean})\n",
			"30 s of its own time",
		} {
			if !strings.Contains(spec.Description, line) {
				t.Errorf("it does not say %q", line)
			}
		}
		if strings.Contains(spec.Description, "run_script(") || strings.Contains(spec.Description, "{tools}") || len(spec.Description) > 4000 {
			t.Errorf("%d bytes: %s", len(spec.Description), spec.Description)
		}
		return
	}
	t.Error("it is not offered")
}

func TestNamesThatCannotStandBehindADotAreWrittenInBrackets(t *testing.T) {
	if said := signatures([]agent.ToolSpec{{Name: "files__read-all"}, {Name: "files__list"}}); !strings.HasSuffix(said, "[\"files__read-all\"](object)\nfiles__list(object)") {
		t.Errorf("%q", said)
	}
}

func TestTypesOfOtherSchemas(t *testing.T) {
	for schema, want := range map[string]string{
		`{}`: "{}",
		`{"type":"object","properties":{"b":{"type":"integer"},"a":{"type":["null","string"]}},"required":["b"]}`:                                                                               "{b: number, a?: string}",
		`{"properties":{"a":{"type":"array","items":{"type":"number"}},"b":{"enum":["x","y",1]},"c":true,"d":{}}}`:                                                                              `{a?: number[], b?: "x"|"y"|1, c?: unknown, d?: unknown}`,
		`{"properties":{"a":{"type":"object","properties":{"b":{"type":"array"}}}}}`:                                                                                                            "{a?: {b?: unknown[]}}",
		`{"properties":{"a b\n":{"type":"string"}}}`:                                                                                                                                            `{"a b\n"?: string}`,
		`{"properties":{"e":{"enum":["` + strings.Repeat("x", 5000) + `"]}}}`:                                                                                                                   "object",
		strings.Repeat(`{"type":"object","properties":{"a":`, 300) + "{}" + strings.Repeat("}}", 300):                                                                                           "{a?: {a?: {a?: object}}}",
		`{"properties":{"a":` + strings.Repeat(`{"type":"array","items":`, 300) + "{}" + strings.Repeat("}", 300) + "}}":                                                                        "{a?: unknown[][][]}",
		`{"properties":{"a":{"type":"object","properties":{` + strings.Repeat(`"a":{"type":"string"},`, 29) + `"b":{"type":"object","properties":{"` + strings.Repeat("y", 2000) + `":{}}}}}}}`: "{a?: {" + strings.Repeat("a?: string, ", 29) + "b?: object}}",
		`[]`: "object",
	} {
		if got := parameters(agent.ToolSpec{Parameters: json.RawMessage(schema)}); got != want {
			t.Errorf("%s: %s", schema, got)
		}
	}
}
