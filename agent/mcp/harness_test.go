package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/models"
)

// asServer is the variable that makes the test's program an MCP server.
const asServer = "OFFCUT_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(asServer); kind != "" {
		serve(kind)
		return
	}
	os.Exit(m.Run())
}

// own is a server of the kind that serve knows.
func own(t *testing.T, kind string) Server {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Server{Name: "own", Command: program, Env: map[string]string{asServer: kind}}
}

// reference is a server by others, of the packages in testdata.
func reference(t *testing.T, name string, args ...string) Server {
	t.Helper()
	dir, err := filepath.Abs("testdata/servers")
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "node_modules/@modelcontextprotocol", name, "dist/index.js")
	_, missing := os.Stat(script)
	if _, err := exec.LookPath("node"); err != nil || missing != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("node or its packages are missing; `make test` installs them")
		}
		t.Skip("needs node and its packages; `make test` installs them")
	}
	return Server{Name: strings.TrimPrefix(name, "server-"), Command: "node", Args: append([]string{script}, args...)}
}

// house is servers under test.
type house struct {
	*testing.T
	servers   *Servers
	workspace string
	logs      *agenttest.Buffer
}

func newHouse(t *testing.T, servers ...Server) *house {
	t.Helper()
	return newHouseWith(t, Options{Servers: servers, Wait: time.Minute})
}

func newHouseWith(t *testing.T, opts Options) *house {
	t.Helper()
	h := &house{T: t, workspace: t.TempDir(), logs: &agenttest.Buffer{}}
	opts.Version, opts.Log = "test", slog.New(slog.NewTextHandler(h.logs, nil))
	h.servers = New(opts)
	t.Cleanup(func() { _ = h.servers.Close() })
	return h
}

// tool finds a tool that is offered now.
func (h *house) tool(name string) agent.Tool {
	h.Helper()
	for _, t := range h.servers.Tools(h.Context()) {
		if t.Spec().Name == name {
			return t
		}
	}
	h.Fatalf("no tool %s; the servers are %+v", name, h.servers.Status())
	return nil
}

func (h *house) names() []string {
	h.Helper()
	var names []string
	for _, t := range h.servers.Tools(h.Context()) {
		names = append(names, t.Spec().Name)
	}
	return names
}

func (h *house) newCall(name string, arguments any) agent.Call {
	h.Helper()
	written, err := json.Marshal(arguments)
	if err != nil {
		h.Fatal(err)
	}
	return agent.Call{ID: "call_1", Tool: name, Workspace: h.workspace, Arguments: written, Live: func(string, int64) {}}
}

// call runs a tool to its result.
func (h *house) call(name string, arguments any) agent.ToolResult {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), time.Minute)
	defer cancel()
	result, err := h.tool(name).Run(ctx, h.newCall(name, arguments))
	if err != nil {
		h.Fatalf("%s: %v", name, err)
	}
	return result
}

// answered is the result of a call that a server without rules answers so.
func (h *house) answered(result string) agent.ToolResult {
	h.Helper()
	return h.call("own__bare", args{"answer": []byte(result)})
}

// until waits for the only server to be so.
func (h *house) until(what string, is func(models.ToolServer) bool) models.ToolServer {
	h.Helper()
	var last models.ToolServer
	for range 600 {
		if last = h.servers.Status()[0]; is(last) {
			return last
		}
		time.Sleep(25 * time.Millisecond)
	}
	h.Fatalf("the server is not %s: %+v", what, last)
	return last
}

func inState(state models.ServerState) func(models.ToolServer) bool {
	return func(s models.ToolServer) bool { return s.State == state }
}

type args = map[string]any
