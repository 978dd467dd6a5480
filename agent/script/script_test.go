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
	begun  atomic.Int32
	calls  atomic.Int32
	most   atomic.Int32 // calls that ran at the same time
	now    atomic.Int32
}

func (r *tester) run(ctx context.Context, code string) (printed string, end script.End) {
	r.t.Helper()
	r.begun.Store(0)
	var out head
	end, err := script.Run(ctx, script.Program{
		Code: code, Tools: []string{"echo", "fails", "slow"}, Limits: r.limits, Print: &out, Begin: r.begin,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if !utf8.ValidString(whole(out.String() + end.Error)) {
		r.t.Error("what was printed is no UTF-8")
	}
	return out.String(), end
}

// head is the beginning of what is printed: of a flood the rest is not held.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), max(0, 8<<20-h.Len()))])
	return len(p), nil
}

// whole is a text without the halves of characters in it.
func whole(text string) string {
	var out []byte
	for i := 0; i < len(text); i++ {
		if text[i] == 0xED && i+2 < len(text) && text[i+1] >= 0xA0 {
			i += 2
			continue
		}
		out = append(out, text[i])
	}
	return string(out)
}

func (r *tester) begin(ctx context.Context, c script.Call) func() script.Answer {
	if c.N != int(r.begun.Add(1)) {
		r.t.Errorf("call %d began out of its turn", c.N)
	}
	return func() script.Answer { return r.call(ctx, c) }
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
	case "fails":
		if string(c.Arguments) == `{"huge":true}` {
			return script.Answer{Error: strings.Repeat("\x01", 12e6)} // six times as long as JSON
		}
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
		"a loop that is not known":        {"\nfor await (const v of []) {}", "", "SyntaxError: for await is not known here. Use for (const promise of list) { const value = await promise; … } (line 2)"},
		"a name twice":                    {"let a\nlet a", "", "SyntaxError: Identifier 'a' has already been declared (line 2)"},
		"a bracket too few":               {"return (((", "", "SyntaxError: The program is not finished at its end, in line 1, or has a } too many"},
		"a quote too few":                 {"const a = 1\nreturn `b", "", "SyntaxError: The program is not finished at its end, in line 2, or"},
		"a brace too many":                {"} ; const a = async () => {", "", "SyntaxError: "},
		"a brace too many at the end":     {"return 1\n}", "", "SyntaxError: The program is not finished at its end, in line 2, or has a } too many"},
		"a call that fails":               {"const a = 1;\nawait tools.fails({})", "", "Error: it did not work (line 2)"},
		"a call that fails, caught":       {"try { await tools.fails({}) } catch (e) { return e.message + (e instanceof Error) }", "it did not worktrue", ""},
		"a call that fails and nobody is": {"tools.fails({}); return 1", "", "A promise was rejected, and nothing took care of it: Error: it did not work (line 1)"},
		"a tool that there is not":        {"await tools.nothing({})", "", "TypeError: There is no tools.nothing. The tools are: echo, fails, slow. (line 1)"},
		"a tool by another name":          {"\nawait tools['no-thing']({})", "", "TypeError: There is no tools.no-thing. The tools are: echo, fails, slow. (line 2)"},
		"and its call is caught":          {"try { await tools.nothing({}) } catch (e) { return e.name + ': ' + e.message }", "TypeError: There is no tools.nothing. The tools are: echo, fails, slow.", ""},
		"a computed name, caught":         {"const f = async name => tools[name]({}); return await f('no' + 'thing').catch(e => e.message)", "There is no tools.nothing. The tools are: echo, fails, slow.", ""},
		"by a name of its own":            {"const own = tools; try { own.nothing() } catch (e) { return e.message }", "Object has no member 'nothing'", ""},
		"tools that are its own":          {"const f = tools => tools.nothing(); return [f({nothing: () => 7}), (await tools.echo({a: 1})).got.a, tools.nothing?.()]", "[7,1,null]", ""},
		"a tool that it adds":             {"tools.mine = () => 8; return [tools.mine(), tools['mi' + 'ne'](), tools.toString()]", `[8,8,"[object Object]"]`, ""},
		"a tool that is looked for":       {"return [typeof tools.nothing, 'echo' in tools, Object.keys(tools)]", `["undefined",true,["echo","fails","slow"]]`, ""},
		"another object's method":         {"tools.nothing; ({}).other()", "", "TypeError: Object has no member 'other' (line 1)"},
		"arguments that are none":         {"await tools.echo('x')", "", "TypeError: tools.echo takes one object"},
		"arguments that are a list":       {"await tools.echo([1])", "", "TypeError: tools.echo takes one object"},
		"arguments that are no object":    {"await tools.echo({toJSON: () => 1})", "", "TypeError: The arguments of tools.echo are no object as JSON. The tool was not called"},
		"a call after a refused one":      {"try { tools.echo('x') } catch {} return (await tools.echo({})).n", "1", ""},
		"half a character, returned":      {`return "😀".slice(0, 1) + "é😀"`, "\xed\xa0\xbdé😀", ""},
		"half a character, in JSON":       {`return ["😀".slice(1), "\\ud83d", "\ud83d\ude00"]`, `["\ude00","\\ud83d","😀"]`, ""},
		"half a character, logged":        {`console.log("x" + "😀"[1])`, "x\xed\xb8\x80\n", ""},
		"half a character, thrown":        {`throw new Error("😀"[0])`, "", "Error: \xed\xa0\xbd (line 1)"},
		"half a character, to a tool":     {`return await tools.echo({["😀"[1]]: "a"})`, "", "TypeError: The arguments of tools.echo hold half of a character"},
		"what reads like half of one":     {`return (await tools.echo({a: "\\ud83d", b: "\u0001"})).got`, `{"a":"\\ud83d","b":"\u0001"}`, ""},
		"a NUL":                           {`return "a\0b"`, "a\x00b", ""},
		"a value that throws":             {`throw {toString() { throw 1 }, toJSON() { throw 2 }}`, "", "The program threw "},
		"an error that lies":              {`throw Object.defineProperty(new Error("a"), "stack", {get() { throw new Error("b") }})`, "", "The program threw what cannot be printed."},
		"its own JSON":                    {`JSON.parse = JSON.stringify = () => 1; return (await tools.echo({a: 2})).got`, `{"a":2}`, ""},
		"what the bridge is made of": {
			`Object.prototype.arguments = Object.prototype.toJSON = null; Object.prototype.n = 7; Array.from = Promise.resolve = Promise.prototype.then = null;
			Error = console.log = String = undefined; Function.prototype.call = () => { throw 1 };
			return (await tools.echo({a: 1})).got`, `{"a":1}`, "",
		},
		"no tools of its own": {`tools.other = () => 1; delete tools.echo; tools = {echo: () => "mine"}; return tools.echo()`, "mine", ""},
		"no way out by a constructor": {
			`const F = tools.echo.constructor.constructor; return [F === Function, F("return typeof process + typeof require")(), Object.keys(F("return this")()).join()]`,
			`[true,"undefinedundefined","console,tools"]`, "",
		},
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

func TestWhatIsLoggedCanBeRead(t *testing.T) {
	for name, test := range map[string]struct{ code, printed string }{
		"an error":                {"const e = new RangeError('no');\nconsole.log('caught', e, {e})", `caught RangeError: no (line 1) {"e":"RangeError: no (line 1)"}`},
		"a map":                   {`console.log(new Map([["a", 1], ["b", new Map([[1, 2]])]]), {m: new Map()})`, `[["a",1],["b",[[1,2]]]] {"m":[]}`},
		"a set":                   {`console.log(new Set([1, {a: 2}]))`, `[1,{"a":2}]`},
		"a date":                  {`console.log(new Date(0), new Date(NaN), {d: new Date(0)})`, `Thu Jan 01 1970 00:00:00 GMT+0000 (UTC) Invalid Date {"d":"1970-01-01T00:00:00.000Z"}`},
		"numbers":                 {`console.log(1n, 0.1, NaN, {a: 2n ** 70n, b: NaN, c: -Infinity})`, `1n 0.1 NaN {"a":"1180591620717411303424n","b":"NaN","c":"-Infinity"}`},
		"functions":               {`console.log(function f() {}, () => 1, {f() {}}, class A {})`, `[Function: f] [Function] {"f":"[Function: f]"} [Function: A]`},
		"a symbol":                {`console.log(Symbol("a"), [Symbol("b")])`, `Symbol(a) ["Symbol(b)"]`},
		"a regular expression":    {`console.log(/a+/g, {r: /b/})`, `/a+/g {"r":"/b/"}`},
		"a circle":                {`const a = {n: 1}; a.self = a; a.list = [a, {a}]; console.log(a)`, `{"n":1,"self":"[Circular]","list":["[Circular]",{"a":"[Circular]"}]}`},
		"a circle by a map":       {`const m = new Map(); m.set("m", m); console.log(m)`, `[["m","[Circular]"]]`},
		"the same twice":          {`const a = {n: 1}; console.log([a, a, {a}])`, `[{"n":1},{"n":1},{"a":{"n":1}}]`},
		"what was not awaited":    {`const p = tools.echo({}); console.log(p, {p}); await p; console.log(p)`, "[Promise: not settled yet, await it] {\"p\":\"[Promise: not settled yet, await it]\"}\n[Promise: fulfilled, await it]"},
		"a value of its own JSON": {`console.log({toJSON: () => ({a: 1})}, {toJSON() {}})`, `{"a":1} undefined`},
		"a getter that throws":    {`console.log({get a() { throw new Error("no") }}); console.log("and on")`, "[Object that cannot be printed: Error: no (line 1)]\nand on"},
		"a toJSON that throws":    {`console.log([{toJSON() { throw "no" }}])`, "[Array that cannot be printed: The program threw no (line 1)]"},
		"a toJSON without end":    {"const f = () => ({toJSON: () => [f()]});\nconsole.log(f())", strings.Repeat("[", 1000) + `"[nested deeper than 1000]"` + strings.Repeat("]", 1000)},
		"nothing":                 {`console.log()`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if printed, end := (&tester{t: t}).run(t.Context(), test.code); printed != test.printed+"\n" || end.Error != "" {
				t.Errorf("printed %q, failed with %q", printed, end.Error)
			}
		})
	}
}

func TestAHostileProgramEndsWithASentenceAndKeepsWhatItLogged(t *testing.T) {
	short := script.Limits{Time: 3 * time.Second} // until it has logged, on a machine that does much else
	for name, test := range map[string]struct {
		code, says string
		limits     script.Limits
	}{
		"a loop":                         {"let n = 0; while (true) { n++ }", "ran for more than 3s of its own time. What it waits for tools is not counted. (line 2)", short},
		"a loop that catches":            {"while (true) { try { while (true) {} } catch { } finally { continue } }", "ran for more than 3s", short},
		"a loop of promises":             {"const f = () => Promise.resolve().then(f); await f()", "ran for more than 3s", script.Limits{Time: 3 * time.Second, Memory: 1 << 30}}, // the race detector's own takes much
		"a loop beside a call":           {"tools.slow({}); while (true) {}", "ran for more than 3s", short},
		"a loop after a call":            {"await tools.slow({}); for (;;) ;", "ran for more than 3s", short},
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
		"a flood of words":               {"while (true) console.log('x'.repeat(1000))", "ran for more than 3s", short},
		"a long word":                    {"throw new Error('x'.repeat(2e6))", "stands above, 2000016 bytes", script.Limits{}},
		"a getter that throws":           {"return {get a() { throw new Error('no') }}", "what it returned cannot be written as JSON: Error: no (line 2)", script.Limits{}},
		"a toJSON without end":           {"const f = () => ({a: {toJSON: f}}); return f()", "ran for more than 3s", short},
		"a toJSON that loops":            {"return {toJSON() { while (true); }}", "ran for more than 3s", short},
		"arguments that loop":            {"await tools.echo({get a() { while (true); }})", "ran for more than 3s", short},
		"a proxy that loops":             {"return new Proxy({}, {ownKeys() { while (true); }})", "ran for more than 3s", short},
		"long arguments":                 {"await tools.echo({a: 'x'.repeat(9e6)})", "The arguments of tools.echo have 9000008 bytes; at most 8388608 are possible (line 2)", script.Limits{}},
		"many long arguments":            {"const a = 'x'.repeat(8e6); for (let i = 0; i < 9; i++) tools.slow({a})", "may have 32 MiB together: await some before you make more. tools.slow was not called (line 2)", script.Limits{}},
		"another program's code":         {"[].constructor.constructor('while (true);')()", "ran for more than 3s", short},
		"a getter that loops":            {"throw {get stack() { while (true); }, toJSON() { while (true); }}", "ran for more than 3s", short},
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

func TestMarkupIsNoLongerThanItIs(t *testing.T) {
	r := &tester{t: t}
	printed, end := r.run(t.Context(), `return (await tools.echo({a: "<&>".repeat(6e5)})).got.a.length`) // escaped it were over the bound
	if printed != "1800000" || end.Error != "" {
		t.Errorf("%q, %+v", printed, end)
	}
}

func TestAnErrorThatDoesNotFitIsToldInShort(t *testing.T) {
	r := &tester{t: t}
	printed, end := r.run(t.Context(), `try { await tools.fails({huge: true}) } catch (e) { return e.message }`)
	if !strings.HasPrefix(printed, "What the tool returned is too large for a script") || end.Error != "" {
		t.Errorf("%.200q, %.200q", printed, end.Error)
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
	r := &tester{t: t, limits: script.Limits{Time: 3 * time.Second}}
	printed, end := r.run(t.Context(), `for (let i = 0; i < 11; i++) await tools.slow({}); return "done"`)
	if printed != "done" || end.Error != "" || end.Duration < 3*time.Second {
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
		Begin: func(ctx context.Context, c script.Call) func() script.Answer {
			return func() script.Answer {
				if c.Tool == "long" {
					<-ctx.Done()
					cause = context.Cause(ctx)
				}
				return script.Answer{}
			}
		},
	})
	if err != nil || end.Error != "Error: no (line 1)" || !errors.Is(cause, script.ErrEnded) {
		t.Errorf("%+v, %v; the call ended with %v", end, err, cause)
	}
}

// A program that is stopped ends neither by its own time nor with its calls,
// which here would go on for a minute.
func TestStopEndsAProgramAtOnce(t *testing.T) {
	for name, code := range map[string]string{"a loop": "tools.begun({}); while (true) {}", "a call": "await Promise.all([tools.begun({}), tools.long({})])"} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			var stopped time.Time
			end, err := script.Run(ctx, script.Program{
				Code: code, Tools: []string{"begun", "long"}, Print: &head{}, Limits: script.Limits{Time: time.Minute},
				Begin: func(ctx context.Context, c script.Call) func() script.Answer {
					return func() script.Answer {
						if c.Tool == "begun" {
							stopped = time.Now()
							stop()
						}
						<-ctx.Done()
						return script.Answer{}
					}
				},
			})
			if took := time.Since(stopped); err != nil || !end.Stopped || took > time.Second {
				t.Errorf("%+v, %v, after %s", end, err, took)
			}
		})
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
