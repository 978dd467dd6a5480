package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMCPServersAreReadAsOthersWriteThem(t *testing.T) {
	token := write(t, "token-of-a-file\n")
	file := write(t, `mcpServers:
  filesystem:
    command: npx
    args: [-y, "@modelcontextprotocol/server-filesystem", "${FOLDER:-/srv}"]
  github.com/some/server:
    command: ./server
    env: {API_KEY: "${MY_KEY}", LEVEL: "${env:LEVEL}", PORT: 8080, DEBUG: true}
    cwd: /srv
    timeoutSeconds: 30
  remote:
    type: http
    url: https://example.org/mcp
    headers: {Authorization: "Bearer ${file:`+token+`}", X-Team: blue}
    disabled: true
tools:
  remote__find:
    timeoutSeconds: 5
    previewBytes: 1000
`)
	cfg, err := Load(Flags{Config: &file}, []string{"MY_KEY=key-of-a-variable", "LEVEL=information"})
	if err != nil {
		t.Fatal(err)
	}
	want := []MCPServer{
		{Name: "filesystem", Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "/srv"}, Env: map[string]string{}, Headers: map[string]string{}},
		{
			Name: "github.com/some/server", Command: "./server", Dir: "/srv", TimeoutSeconds: 30, Headers: map[string]string{},
			Env:     map[string]string{"API_KEY": "key-of-a-variable", "LEVEL": "information", "PORT": "8080", "DEBUG": "true"},
			Secrets: []string{"key-of-a-variable", "key-of-a-variable"},
		},
		{
			Name: "remote", Off: true, URL: "https://example.org/mcp", Env: map[string]string{},
			Headers: map[string]string{"Authorization": "Bearer token-of-a-file", "X-Team": "blue"},
			Secrets: []string{"token-of-a-file", "Bearer token-of-a-file", "token-of-a-file"},
		},
	}
	if diff := cmp.Diff(want, cfg.Servers); diff != "" {
		t.Error(diff)
	}
	if got := cfg.Tools.Each["remote__find"].TimeoutSeconds; got != 5 {
		t.Errorf("the time of one tool is %d s", got)
	}
	if all := strings.Join(cfg.Secrets(), " "); !strings.Contains(all, "key-of-a-variable") || !strings.Contains(all, "token-of-a-file") {
		t.Errorf("the secrets are %q", all)
	}
}

func TestTheSecretsOfAnMCPServerAreKnown(t *testing.T) {
	for yaml, want := range map[string]string{
		`args: ["postgresql://app:hunter2hunter2@db.internal/prod"]`:        "hunter2hunter2",
		`args: ["postgresql://app:hunt-2@db.internal/prod"]`:                "hunt-2",
		`args: ["mysql://app:p%40ss-w0rd@db.internal/prod"]`:                "p@ss-w0rd",
		`env: {DATABASE_URL: "postgres://:hunter2hunter2@db.internal/x"}`:   "hunter2hunter2",
		`env: {ANY: "app:hunter2hunter2@tcp(db.internal:3306)/prod"}`:       "hunter2hunter2",
		`env: {ANY: "host=db.internal password=hunter2hunter2"}`:            "hunter2hunter2",
		`env: {MAIN_DSN: "file.db?cipher=hunter2"}`:                         "file.db?cipher=hunter2",
		`env: {GITHUB_PAT: "hunter2hunter2"}`:                               "hunter2hunter2",
		`env: {PGPWD: "hunter2hunter2"}`:                                    "hunter2hunter2",
		`env: {HEADERS: '{"Authorization": "Bearer hunter2hunter2"}'}`:      "hunter2hunter2",
		`args: ["--api-key=sk-hunter2hunter2"]`:                             "sk-hunter2hunter2",
		`args: [--api-key, sk-hunter2hunter2]`:                              "sk-hunter2hunter2",
		`args: [--header, "Authorization: Bearer hunter2hunter2"]`:          "hunter2hunter2",
		`args: [-e, "API_TOKEN=hunter2hunter2", image]`:                     "hunter2hunter2",
		`args: ["--url=https://db.internal/x?a=b&access_token=hunter2xyz"]`: "hunter2xyz",
		`args: ["https://db.internal/s/a8Xk29fQm1Lz77Tb/mcp"]`:              "a8Xk29fQm1Lz77Tb",
	} {
		file := write(t, "mcpServers:\n  a:\n    command: x\n    "+yaml+"\n")
		cfg, err := Load(Flags{Config: &file}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(cfg.Servers[0].Secrets, want) {
			t.Errorf("of %s are known %q", yaml, cfg.Servers[0].Secrets)
		}
	}
}

// What is no secret stays readable in what a server says.
func TestWhatIsNoSecretOfAnMCPServer(t *testing.T) {
	file := write(t, `mcpServers:
  a:
    command: x
    args: [-y, "@scope/server-filesystem@1.2.3", /srv/2026-01-02, "--log-level=information", "--path=/srv/shared", "https://db.internal:8443/api/v4/projects", "user@db.internal:3306"]
    env: {AUTH_MODE: bearer, REGION: eu-central-1, PGHOST: db.internal, PGDATABASE: production-01, COMPATIBLE: sigma-production, TIME: "12:30:45"}
  b:
    url: https://mcp.example.org/servers/model-context-protocol-v2/mcp
    headers: {Accept-Language: de-DE-x-something, X-Team: blue-and-green}
`)
	cfg, err := Load(Flags{Config: &file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range cfg.Servers {
		if len(s.Secrets) != 0 {
			t.Errorf("of %s are hidden %q", s.Name, s.Secrets)
		}
	}
}

func TestWrongMCPServersAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name, yaml string
		want       []string
	}{
		{"no settings", "a: npx", []string{"mcpServers.a", "a command, or a url"}},
		{"neither", "a: {args: [x]}", []string{"mcpServers.a", "neither a command nor a url"}},
		{"both", "a: {command: x, url: 'http://h'}", []string{"mcpServers.a", "both"}},
		{"an unknown key", "a: {command: x, cmd: y}", []string{"mcpServers.a.cmd", "no such key", "command, args"}},
		{"a key that is no list", "a: {command: x, args: y}", []string{"mcpServers.a.args", "no such key"}},
		{"the old transport", "a: {type: sse, url: 'http://h'}", []string{"mcpServers.a.type", `"sse"`, "streamable HTTP"}},
		{"a type that is none", "a: {type: pipe, command: x}", []string{"mcpServers.a.type", "stdio, http"}},
		{"a type of the other", "a: {type: http, command: x}", []string{"mcpServers.a", "type http"}},
		{"no address", "a: {url: 'example.org/mcp'}", []string{"mcpServers.a.url", "http://"}},
		{"headers of a program", "a: {command: x, headers: {A: b}}", []string{"mcpServers.a", "headers go with a url"}},
		{"variables of an address", "a: {url: 'http://h', env: {A: b}}", []string{"mcpServers.a", "args, env and cwd"}},
		{"a variable that is none", "a: {command: x, env: {'A=B': c}}", []string{"mcpServers.a.env", "variable"}},
		{"a header that is none", "a: {url: 'http://h', headers: {'A B': c}}", []string{"mcpServers.a.headers", "header"}},
		{"a header of two lines", `a: {url: 'http://h', headers: {A: "b\r\nC: d"}}`, []string{"mcpServers.a.headers", "one line"}},
		{"a variable that is not set", "a: {command: x, env: {A: '${NOT_SET}'}}", []string{"mcpServers.a.env.A", "NOT_SET", "not set"}},
		{"a file that is not there", "a: {command: x, env: {A: '${file:/nowhere}'}}", []string{"mcpServers.a.env.A", "/nowhere", "cannot be read"}},
		{"no time", "a: {command: x, timeoutSeconds: 0}", []string{"mcpServers.a.timeoutSeconds", "whole number"}},
		{"names that are too like", "a b: {command: x}\n  a_b: {command: x}", []string{"too like", "a_b__"}},
		{"a name of nothing", "'!': {command: x}", []string{"mcpServers.!", "letters or digits"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := write(t, "mcpServers:\n  "+tt.yaml+"\n")
			_, err := Load(Flags{Config: &file}, []string{"SECRET=s3cret"})
			if err == nil {
				t.Fatal("it was accepted")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
	file := write(t, "mcpServers: [a]\n")
	if _, err := Load(Flags{Config: &file}, nil); err == nil || !strings.Contains(err.Error(), "by its name") {
		t.Errorf("a list of servers: %v", err)
	}
}

func TestErrorsOfMCPServersShowNoValue(t *testing.T) {
	for _, yaml := range []string{
		`a: {command: "s3cret\nx"}`,
		`a: {url: "s3cret"}`,
		`a: {url: "http://h", headers: {A: "s3cret\n"}}`,
		`a: {command: x, env: {A: [s3cret]}}`,
		`a: {command: x, type: http, env: {A: s3cret}}`,
	} {
		file := write(t, "mcpServers:\n  "+yaml+"\n")
		if _, err := Load(Flags{Config: &file}, nil); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("of %s: %v", yaml, err)
		}
	}
}
