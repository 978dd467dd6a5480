package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mcpScript is one of the MCP servers by others that agent/mcp is tested with.
func mcpScript(t *testing.T, name string) string {
	t.Helper()
	script, err := filepath.Abs("../../agent/mcp/testdata/servers/node_modules/@modelcontextprotocol/" + name + "/dist/index.js")
	if err != nil {
		t.Fatal(err)
	}
	_, missing := os.Stat(script)
	if _, err := exec.LookPath("node"); err != nil || missing != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("node or its packages are missing; `make test` installs them")
		}
		t.Skip("needs node and its packages; `make test` installs them")
	}
	return script
}

// withMCP are the settings of both servers: files in dir, and everything.
func withMCP(t *testing.T, dir string) string {
	t.Helper()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("mcp-token-0123456789\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return withSettings(t, fmt.Sprintf(`mcpServers:
  files:
    command: node
    args: [%q, %q]
  every thing:
    command: node
    args: [%q]
    env: {SERVICE_TOKEN: "${file:%s}"}
  dead:
    command: /nowhere/server
  gone:
    url: http://127.0.0.1:1/mcp
tools:
  every_thing__echo:
    previewBytes: 1000
`, mcpScript(t, "server-filesystem"), dir, mcpScript(t, "server-everything"), token))
}

// callTool lets the model call a tool in a new session, and returns the result
// that it was sent.
func callTool(t *testing.T, s *server, p *provider, name string, arguments any) run {
	t.Helper()
	key := fmt.Sprintf("call this: %s %d", t.Name(), time.Now().UnixNano())
	p.on(key, calls(call(name, arguments)), says("Done."))
	r := run{session: s.ask(key)}
	results := p.lastSent(t, key).results()
	if len(results) != 1 {
		t.Fatalf("the model was sent %d results", len(results))
	}
	r.meta, r.body = results[0].result(t)
	return r
}

func TestLongResultsOfAnMCPServerAreKeptAndPaged(t *testing.T) {
	dir := t.TempDir()
	p := newProvider(t)
	s := start(t, p, withMCP(t, dir))
	var lines, items strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&lines, "line %d of the file\n", i)
	}
	for i := range 5_000 {
		fmt.Fprintf(&items, `{"id":%d,"name":"item %d"},`, i, i)
	}
	list := "[" + strings.TrimSuffix(items.String(), ",") + "]"
	for name, content := range map[string]string{"long.txt": lines.String(), "list.json": list} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	long := callTool(t, s, p, "files__read_text_file", args{"path": filepath.Join(dir, "long.txt")})
	output := s.output(long.session)
	if long.meta["truncated"] != true || long.meta["output_id"] != output.ID || output.Tool != "files__read_text_file" || !output.Complete {
		t.Fatalf("metadata %v, output %+v", long.meta, output)
	}
	if got := s.copyOf(long.session, output.ID); got != lines.String() {
		t.Errorf("the copy has %d bytes, want %d", len(got), lines.Len())
	}
	if !strings.HasPrefix(long.body, "line 0 of the file\n") || !strings.HasSuffix(long.body, "line 19999 of the file\n") {
		t.Errorf("the body is %.60q … %q", long.body, long.body[len(long.body)-60:])
	}
	if found := s.search(long.session, output.ID, "line 12345 of"); len(found.Matches) != 1 {
		t.Errorf("a search finds %+v", found)
	}

	// And so does the model, with the tools for any kept copy.
	p.on("look at the rest",
		calls(call("search_tool_output", args{"output_id": output.ID, "pattern": "line 12345 of"}), call("read_tool_output", args{"output_id": output.ID, "offset": 100_000, "limit": 4096})),
		says("Read."))
	s.say(long.session, "look at the rest")
	results := p.lastSent(t, "look at the rest").results()
	_, match := results[len(results)-2].result(t)
	at, page := results[len(results)-1].result(t)
	if !strings.Contains(match, "line 12345 of the file") || page != lines.String()[100_000:104_096] || at["hasMore"] != true || at["complete"] != true {
		t.Errorf("found %q; at %v stands %.80q", match, at, page)
	}

	// A list is cut between its elements.
	cut := callTool(t, s, p, "files__read_text_file", args{"path": filepath.Join(dir, "list.json")})
	head, rest, found := strings.Cut(cut.body, "\n[")
	if !found || !json.Valid([]byte(strings.TrimSuffix(head, ",")+"]")) || !strings.Contains(rest, "elements") {
		t.Errorf("the list is cut at %q: %.200q", head[max(0, len(head)-60):], rest)
	}
	// The budget of one tool holds for a server's too.
	echo := callTool(t, s, p, "every_thing__echo", args{"message": strings.Repeat("x", 3000)})
	if echo.meta["truncated"] != true || len(echo.body) > 1500 {
		t.Errorf("of 3000 bytes %d are shown: %v", len(echo.body), echo.meta)
	}
}

func TestADeadMCPServerHoldsNothingUp(t *testing.T) {
	p := newProvider(t)
	s := start(t, p, withMCP(t, t.TempDir()))
	r := callTool(t, s, p, "every_thing__get-sum", args{"a": 20, "b": 22})
	if r.body != "The sum of 20 and 22 is 42." || r.meta["is_error"] != false {
		t.Errorf("%v %q", r.meta, r.body)
	}
	var names []string
	for _, tool := range p.sent("call this")[0].Tools {
		names = append(names, tool.Function.Name)
	}
	all := strings.Join(names, " ")
	if !strings.HasPrefix(all, "run_command ") || !strings.Contains(all, "files__read_text_file") || strings.Contains(all, "dead__") || strings.Contains(all, "gone__") {
		t.Errorf("the model is told of %s", all)
	}
}

func TestSecretsOfAnMCPServerStayWithIt(t *testing.T) {
	p := newProvider(t)
	s := start(t, p, withMCP(t, t.TempDir()))
	r := callTool(t, s, p, "every_thing__get-env", args{})
	for _, never := range []string{adminToken, "sk-e2e-secret-key", "mcp-token-0123456789", "OFFCUT_"} {
		if strings.Contains(r.body, never) {
			t.Errorf("the model is told %q: %s", never, r.body)
		}
	}
	if !strings.Contains(r.body, `"SERVICE_TOKEN": "[redacted]"`) || !strings.Contains(r.body, `"PATH"`) {
		t.Errorf("the environment is %s", r.body)
	}
	for _, page := range []string{"/admin/mcp", "/settings", "/s/" + r.session} {
		if shown := s.signedIn(page); strings.Contains(shown, "mcp-token-0123456789") || page != "/s/"+r.session && !strings.Contains(shown, "every thing") {
			t.Errorf("%s shows the server's token, or nothing of the server", page)
		}
	}
	if strings.Contains(s.log.String(), "mcp-token-0123456789") || len(s.traces("mcp-token-0123456789")) != 0 {
		t.Error("the log or the data folder has the server's token")
	}
}

// What a server writes to its standard error is on the admin's page, and in no
// request to the model.
func TestStandardErrorOfAnMCPServerIsForAdmins(t *testing.T) {
	p := newProvider(t)
	s := start(t, p, withMCP(t, t.TempDir()))
	callTool(t, s, p, "every_thing__echo", args{"message": "hello"})
	const words = "Starting default (STDIO) server"
	if shown := s.signedIn("/admin/mcp"); !strings.Contains(shown, words) {
		t.Errorf("the admin's page does not show %q", words)
	}
	for _, request := range p.sent("call this") {
		written, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		if said := string(written); strings.Contains(said, words) || strings.Contains(said, "Secure MCP Filesystem Server") {
			t.Errorf("the model is told of it: %.500s", said)
		}
	}
}

func TestAModelIsToldThatAnMCPServerIsStartedAgain(t *testing.T) {
	p := newProvider(t)
	s := start(t, p, withMCP(t, t.TempDir()))
	for range 2 { // after the second failure in a row it is not started at once
		callTool(t, s, p, "every_thing__echo", args{"message": "hello"})
	}
	r := callTool(t, s, p, "dead__anything", args{})
	if r.meta["is_error"] != true || !strings.Contains(r.body, `There is no tool named "dead__anything".`) || !strings.Contains(r.body, "the MCP server dead does not run, and is started again in ") {
		t.Errorf("%v %q", r.meta, r.body)
	}
}

func TestACallOfAnMCPServerIsAskedAbout(t *testing.T) {
	p := newProvider(t)
	dir := t.TempDir()
	s := start(t, p, withMCP(t, dir), "OFFCUT_APPROVAL=ask")
	file := filepath.Join(dir, "new.txt")
	for _, key := range []string{"write it first", "write it again"} {
		p.on(key, calls(call("files__write_file", args{"path": file, "content": "x"})), says("Done."))
	}
	turn := s.awaits(s.send(s.newSession(), "write it first"))
	if turn.Pending[0].Tool != "files__write_file" {
		t.Errorf("asked about %+v", turn.Pending)
	}
	s.answer(turn, "deny")
	s.settled(turn.ID)
	if _, err := os.Stat(file); err == nil {
		t.Error("it ran although it was denied")
	}
	turn = s.awaits(s.send(s.newSession(), "write it again"))
	s.answer(turn, "once")
	s.settled(turn.ID)
	if data, _ := os.ReadFile(file); string(data) != "x" {
		t.Errorf("after it was allowed the file holds %q", data)
	}
}

func TestACutCallOfAnMCPServerDoesNotRunOnHalfAText(t *testing.T) {
	p := newProvider(t)
	dir := t.TempDir()
	s := start(t, p, withMCP(t, dir))
	file := filepath.Join(dir, "half.txt")
	half := calls(call("files__write_file", fmt.Sprintf(`{"path":%q,"content":"half of a te`, file)))
	half.finish = "length"
	sum := calls(call("every_thing__echo", `{"message":"as far as it ca`))
	sum.finish = "length"
	p.on("cut", half, sum, says("Done."))
	s.ask("cut")
	results := p.lastSent(t, "cut").results()
	if meta, body := results[0].result(t); meta["is_error"] != true || !strings.Contains(body, "cut off inside a string") {
		t.Errorf("what may change something: %v %q", meta, body)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("half of the text was written")
	}
	if meta, body := results[1].result(t); meta["arguments_truncated"] != true || !strings.HasPrefix(body, "Echo: as far as it ca\n") {
		t.Errorf("what only reads: %v %q", meta, body)
	}
}

func TestAStopEndsACallOfAnMCPServer(t *testing.T) {
	p := newProvider(t)
	s := start(t, p, withMCP(t, t.TempDir()))
	p.on("take long", calls(call("every_thing__trigger-long-running-operation", args{"duration": 60, "steps": 60})), says("Done."))
	session := s.newSession()
	turn := s.send(session, "take long")
	s.waitFor("the call", func() bool {
		for _, m := range s.messages(session, false) {
			if m.State == "running" && len(m.ToolCalls) > 0 || m.Role == "assistant" && len(m.ToolCalls) > 0 {
				return true
			}
		}
		return false
	})
	time.Sleep(300 * time.Millisecond) // it has reached the server
	began := time.Now()
	s.stop(turn)
	if got := s.settled(turn); got.State != "stopped" || time.Since(began) > 2*time.Second {
		t.Errorf("after %v the turn is %s", time.Since(began), got.State)
	}
	if r := callTool(t, s, p, "every_thing__echo", args{"message": "still there"}); r.body != "Echo: still there" {
		t.Errorf("the server says %q", r.body)
	}
}

func TestNoProcessOfAnMCPServerIsLeft(t *testing.T) {
	for name, end := range map[string]func(*server){"after an orderly end": (*server).terminate, "after kill -9": (*server).kill} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir() // the argument by which its process is found
			p := newProvider(t)
			s := start(t, p, withMCP(t, dir))
			callTool(t, s, p, "files__list_allowed_directories", args{})
			if len(processesWith(dir)) == 0 {
				t.Fatal("the server's process is not found")
			}
			end(s)
			s.waitFor("the end of the server's process", func() bool { return len(processesWith(dir)) == 0 })
		})
	}
}

func TestAScriptCallsToolsOfAnMCPServer(t *testing.T) {
	dir := t.TempDir()
	p := newProvider(t)
	s := start(t, p, withMCP(t, dir))
	content := strings.Repeat("a line of the file\n", 4000)
	file := filepath.Join(dir, "long.txt")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	r := callTool(t, s, p, "run_script", args{"code": fmt.Sprintf(`
		const [sum, read] = await Promise.all([
			tools["every_thing__get-sum"]({a: 20, b: 22}),
			tools.files__read_text_file({path: %q}),
		]);
		return [sum.text, read.text.length];`, file)})
	if r.body != `["The sum of 20 and 22 is 42.",76000]` {
		t.Fatalf("%v %q", r.meta, r.body)
	}
	nested, _ := r.meta["nested"].([]any)
	if len(nested) != 1 {
		t.Fatalf("nested is %v", r.meta["nested"])
	}
	of, _ := nested[0].(map[string]any)
	if id, _ := of["output_id"].(string); of["tool"] != "files__read_text_file" || s.copyOf(r.session, id) != content {
		t.Errorf("nested is %v", of)
	}
}
