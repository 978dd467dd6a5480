package script_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"offcut/agent/script"
)

func TestMain(m *testing.M) {
	script.Reexec()
	os.Exit(m.Run())
}

// tester runs programs. Its tools are echo, which gives its arguments back,
// fails, which fails, and slow, which takes its time.
type tester struct {
	t      *testing.T
	limits script.Limits
	calls  atomic.Int32
	most   atomic.Int32 // calls that ran at the same time
	now    atomic.Int32
}

func (r *tester) run(ctx context.Context, code string) (printed string, end script.End) {
	r.t.Helper()
	var out bytes.Buffer
	end, err := script.Run(ctx, script.Program{
		Code: code, Tools: []string{"echo", "fails", "slow"}, Limits: r.limits, Print: &out, Call: r.call,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if !utf8.Valid(out.Bytes()) || !utf8.ValidString(end.Error) {
		r.t.Error("what was printed is not valid UTF-8")
	}
	return out.String(), end
}

func (r *tester) call(ctx context.Context, c script.Call) script.Answer {
	r.calls.Add(1)
	defer r.now.Add(-1)
	if now := r.now.Add(1); now > r.most.Load() {
		r.most.Store(now)
	}
	switch c.Tool {
	case "echo":
		return script.Answer{Value: json.RawMessage(fmt.Sprintf(`{"n":%d,"got":%s}`, c.N, c.Arguments))}
	case "slow":
		select {
		case <-time.After(300 * time.Millisecond):
		case <-ctx.Done():
		}
		return script.Answer{}
	}
	return script.Answer{Error: "it did not work"}
}

func TestAProgramReturnsAndPrints(t *testing.T) {
	for name, test := range map[string]struct{ code, printed, failure string }{
		"a string as it is":               {`return "a\n\"b\""`, "a\n\"b\"", ""},
		"anything else as JSON":           {`return {a: [1, null, "x"], b: undefined}`, `{"a":[1,null,"x"]}`, ""},
		"a number":                        {`return 6 * 7`, "42", ""},
		"nothing":                         {`const a = 1`, "", ""},
		"null":                            {`return null`, "null", ""},
		"a large number":                  {`return 2n ** 70n`, "", "cannot be written as JSON: TypeError: "},
		"a circle":                        {`console.log("a"); const a = {}; a.a = a; return a`, "a\n", "cannot be written as JSON: TypeError: "},
		"what was logged comes first":     {`console.log("a", 1, {b: 2}, [3], null, undefined, true); console.error("c"); return "d"`, "a 1 {\"b\":2} [3] null undefined true\nc\nd", ""},
		"a tool's value":                  {`const r = await tools.echo({x: "é"}); return r.got.x + r.n`, "é1", ""},
		"a tool without arguments":        {`return (await tools.echo()).got`, "{}", ""},
		"modern language":                 {"class A { #x = 1; get x() { return this.#x ?? 0 } }\nconst {x, ...rest} = {x: new A().x, y: 2}; return `${x}${rest?.y}` + [3, 4].at(-1)", "124", ""},
		"an error, with its line":         {"console.log('before');\n\nconst a = undefined.x", "before\n", "TypeError: Cannot read property 'x' of undefined (line 3)"},
		"an error that is thrown on":      {"async function f() {\n throw new RangeError('no')\n}\nawait f()", "", "RangeError: no (line 2)"},
		"a string that is thrown":         {`throw "bad"`, "", "The program threw bad"},
		"what cannot be read":             {"const a = 1;\nconst = 2", "", "SyntaxError: Unexpected token = (line 2)"},
		"a brace too many":                {"} ; const a = async () => {", "", "SyntaxError: "},
		"a call that fails":               {"const a = 1;\nawait tools.fails({})", "", "Error: it did not work (line 2)"},
		"a call that fails, caught":       {"try { await tools.fails({}) } catch (e) { return e.message + (e instanceof Error) }", "it did not worktrue", ""},
		"a call that fails and nobody is": {"tools.fails({}); return 1", "", "A promise was rejected, and nothing took care of it: Error: it did not work (line 1)"},
		"a tool that there is not":        {"await tools.nothing({})", "", "TypeError: Object has no member 'nothing' (line 1)"},
		"arguments that are none":         {"await tools.echo('x')", "", "TypeError: tools.echo takes one object"},
		"half a character, returned":      {`return "😀".slice(0, 1)`, "\uFFFD", ""},
		"half a character, in JSON":       {`return ["😀".slice(1), "\\ud83d", "\ud83d\ude00"]`, `["\ufffd","\\ud83d","😀"]`, ""},
		"half a character, logged":        {`console.log("x" + "😀"[0])`, "x\uFFFD\n", ""},
		"half a character, thrown":        {`throw new Error("😀"[0])`, "", "Error: \uFFFD (line 1)"},
		"half a character, to a tool":     {`return await tools.echo({["😀"[1]]: "😀"[0]})`, `{"n":1,"got":{"�":"�"}}`, ""},
		"a NUL":                           {`return "a\0b"`, "a\x00b", ""},
		"a value that throws":             {`throw {toString() { throw 1 }, toJSON() { throw 2 }}`, "", "The program threw "},
		"an error that lies":              {`throw Object.defineProperty(new Error("a"), "stack", {get() { throw new Error("b") }})`, "", "The program threw what cannot be printed."},
		"its own JSON":                    {`JSON.parse = JSON.stringify = () => 1; return (await tools.echo({a: 2})).got`, `{"a":2}`, ""},
		"no way out": {
			`return [typeof require, typeof process, typeof fetch, typeof setTimeout, typeof Deno].join()`,
			"undefined,undefined,undefined,undefined,undefined", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &tester{t: t}
			printed, end := r.run(t.Context(), test.code)
			if printed != test.printed || (end.Error == "") != (test.failure == "") || !strings.Contains(end.Error, test.failure) {
				t.Errorf("printed %q, failed with %q", printed, end.Error)
			}
			if end.Stopped {
				t.Error("it was stopped")
			}
		})
	}
}

func TestAHostileProgramEndsWithASentenceAndKeepsWhatItLogged(t *testing.T) {
	short := script.Limits{Time: time.Second}
	for name, test := range map[string]struct {
		code, says string
		limits     script.Limits
	}{
		"a loop":                         {"let n = 0; while (true) { n++ }", "ran for more than 1s of its own time. What it waits for tools is not counted. (line 2)", short},
		"a loop that catches":            {"while (true) { try { while (true) {} } catch { } finally { continue } }", "ran for more than 1s", short},
		"a loop of promises":             {"const f = () => Promise.resolve().then(f); await f()", "ran for more than 1s", script.Limits{Time: time.Second, Memory: 1 << 30}}, // the race detector's own takes much
		"a loop beside a call":           {"tools.slow({}); while (true) {}", "ran for more than 1s", short},
		"a loop after a call":            {"await tools.slow({}); for (;;) ;", "ran for more than 1s", short},
		"a regular expression":           {`/^(?=(a+)+$)(\w+\s?)+\1$/.test("a".repeat(60) + "!")`, "It could not be interrupted", short},
		"a list":                         {"const a = []; while (true) a.push(new Array(1000).fill(1.5))", "used more than 256 MiB of memory", script.Limits{}},
		"a string":                       {"let s = 'x'; while (true) s += s + 'é'", "used more than 256 MiB of memory", script.Limits{}},
		"much at once":                   {"const a = []; while (true) a.push('é'.repeat(2 ** 27))", "used more than 256 MiB of memory", script.Limits{}},
		"an array at once":               {"new Array(2 ** 30).fill(0).map(String)", "used more than 256 MiB of memory", script.Limits{}},
		"a promise that never settles":   {"await new Promise(() => {})", "waits for a promise that never settles", script.Limits{}},
		"and after a call":               {"await tools.echo({}); await new Promise(() => {})", "waits for a promise that never settles", script.Limits{}},
		"deep recursion":                 {"const f = () => f() + 1; f()", "call each other too deeply. Use a loop, or an array as a stack. (line 2)", script.Limits{}},
		"deep recursion in the language": {"eval('('.repeat(1e6))", "call each other too deeply", script.Limits{}},
		"deep recursion that catches":    {"const f = () => { try { f() } catch { f() } }; f()", "call each other too deeply", script.Limits{}},
		"a flood of calls":               {"while (true) tools.echo({})", "made more than 200 tool calls", script.Limits{}},
		"a flood that waits":             {"while (true) try { await tools.echo({}) } catch {}", "made more than 200 tool calls", script.Limits{}},
		"a flood of words":               {"while (true) console.log('x'.repeat(1000))", "ran for more than 1s", short},
		"a long word":                    {"throw new Error('x'.repeat(2e6))", "stands above, 2000016 bytes", script.Limits{}},
		"a getter that loops":            {"throw {get stack() { while (true); }, toJSON() { while (true); }}", "ran for more than 1s", short},
	} {
		t.Run(name, func(t *testing.T) {
			r := &tester{t: t, limits: test.limits}
			begun := time.Now()
			printed, end := r.run(t.Context(), "console.log('logged before');\n"+test.code)
			if !strings.Contains(end.Error, test.says) || !strings.HasPrefix(printed, "logged before\n") {
				t.Errorf("failed with %q after %.100q", end.Error, printed)
			}
			if took := time.Since(begun); took > 25*time.Second {
				t.Errorf("it took %s", took)
			}
			if r.calls.Load() > script.DefaultCalls {
				t.Errorf("%d calls were made", r.calls.Load())
			}
		})
	}
}

func TestCallsRunAtTheSameTime(t *testing.T) {
	r := &tester{t: t}
	printed, end := r.run(t.Context(), `await Promise.all([1, 2, 3].map(n => tools.slow({n}))); return "done"`)
	if printed != "done" || end.Error != "" || r.most.Load() != 3 {
		t.Errorf("%q, %q; %d at the same time", printed, end.Error, r.most.Load())
	}
	printed, end = r.run(t.Context(), `await Promise.all(Array.from({length: 40}, (_, n) => tools.slow({n}))); return "done"`)
	if printed != "done" || end.Error != "" || r.most.Load() > 8 {
		t.Errorf("%q, %q; %d at the same time", printed, end.Error, r.most.Load())
	}
}

func TestTheTimeOfCallsIsNotTheProgramsOwn(t *testing.T) {
	r := &tester{t: t, limits: script.Limits{Time: time.Second}}
	printed, end := r.run(t.Context(), `for (let i = 0; i < 6; i++) await tools.slow({}); return "done"`)
	if printed != "done" || end.Error != "" || end.Duration < 1500*time.Millisecond {
		t.Errorf("%q, %q after %s", printed, end.Error, end.Duration)
	}
}

func TestAProgramWaitsForTheCallsThatItLeftOpen(t *testing.T) {
	r := &tester{t: t}
	printed, end := r.run(t.Context(), `tools.slow({}).then(() => console.log("later")); return "now"`)
	if printed != "later\nnow" || end.Error != "" {
		t.Errorf("%q, %q", printed, end.Error)
	}
}

func TestAFailedProgramEndsItsCalls(t *testing.T) {
	var out bytes.Buffer
	var cause error
	end, err := script.Run(t.Context(), script.Program{
		Code: `tools.long({}); await tools.short({}); throw new Error("no")`, Tools: []string{"long", "short"}, Print: &out,
		Call: func(ctx context.Context, c script.Call) script.Answer {
			if c.Tool == "long" {
				<-ctx.Done()
				cause = context.Cause(ctx)
			}
			return script.Answer{}
		},
	})
	if err != nil || end.Error != "Error: no (line 1)" || !errors.Is(cause, script.ErrEnded) {
		t.Errorf("%+v, %v; the call ended with %v", end, err, cause)
	}
}

func TestStopEndsAProgramAtOnce(t *testing.T) {
	for name, code := range map[string]string{"a loop": "while (true) {}", "a call": "await tools.slow({}); await tools.slow({})"} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			time.AfterFunc(200*time.Millisecond, stop)
			begun := time.Now()
			r := &tester{t: t}
			_, end := r.run(ctx, code)
			if took := time.Since(begun); !end.Stopped || took > time.Second+200*time.Millisecond {
				t.Errorf("%+v after %s", end, took)
			}
		})
	}
}

func TestProgramsAreShutInWhereTheMachineCan(t *testing.T) {
	r := &tester{t: t}
	_, end := r.run(t.Context(), "return 1")
	if _, err := os.Stat("/proc/sys/user/max_user_namespaces"); err == nil && !end.Confined {
		t.Skip("this machine gives no namespaces")
	}
	if !end.Confined || end.Kind != "namespaces+landlock" {
		t.Errorf("%+v", end)
	}
}

func TestProgramsDoNotDisturbEachOther(t *testing.T) {
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			r := &tester{t: t, limits: script.Limits{Time: 20 * time.Second}}
			code := fmt.Sprintf("return %d", i)
			if i == 0 {
				code = "const a = []; while (true) a.push(new Array(1000).fill(1.5))"
			}
			if printed, end := r.run(t.Context(), code); i > 0 && (printed != fmt.Sprint(i) || end.Error != "") {
				t.Errorf("%q, %q", printed, end.Error)
			}
		})
	}
	all.Wait()
}
