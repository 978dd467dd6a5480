package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// listed is a package as go list knows it.
type listed struct {
	ImportPath string
	Doc        string
	Imports    []string // what it imports itself
	Deps       []string // and what that imports, all the way down
}

// house is every package of the module, by its path below it.
func house(t *testing.T) map[string]listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Doc,Imports,Deps", "offcut/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := map[string]listed{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages[strings.TrimPrefix(p.ImportPath, "offcut/")] = p
	}
}

func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// standard reports whether a path is of the standard library: those of others
// begin with a host.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".") && first != "offcut"
}

func TestImportsGoOneWay(t *testing.T) {
	const (
		gorm   = "gorm.io"
		echo   = "github.com/labstack/echo"
		templ  = "github.com/a-h/templ"
		client = "github.com/sashabaranov/go-openai"
	)
	for _, rule := range []struct {
		of     string   // this package, and with /... those below it
		allows []string // of ours; nil: see denies
		denies []string
		alone  bool // nothing of others either
	}{
		{of: "models", allows: []string{}, alone: true},
		{of: "models/find", allows: []string{"models"}, alone: true},
		{of: "models/gate", allows: []string{}, alone: true},
		{of: "models/retention", allows: []string{"models"}, alone: true},
		{of: "models/store/...", allows: []string{"models", "models/find", "models/gate"}},
		{of: "agent", allows: []string{"models"}, alone: true},
		{of: "agent/events", allows: []string{"models"}, alone: true},
		{of: "agent/...", denies: []string{gorm, echo, templ, "offcut/models/store", "offcut/handlers", "offcut/views", "offcut/web", "offcut/cmd"}},
		{of: "agent/llm/...", allows: []string{"agent", "models", "agent/llm", "agent/redact"}},
		{of: "agent/apart", allows: []string{"models", "agent/sandbox"}},
		{of: "agent/skills", allows: []string{}},
		{of: "agent/fetch", allows: []string{"agent", "models", "agent/apart", "agent/sandbox"}},
		{of: "agent/query", allows: []string{"agent", "models", "agent/apart", "agent/sandbox"}},
		{of: "agent/tools", allows: []string{"agent", "models", "models/gate", "agent/apart", "agent/approve", "agent/fetch", "agent/retain", "agent/sandbox", "agent/script", "agent/skills"}},
		{of: "agent/script", allows: []string{"agent/sandbox"}},
		{of: "agent/approve", allows: []string{"agent", "models", "agent/sandbox"}},
		{of: "agent/retain", allows: []string{"agent", "models"}},
		{of: "agent/mcp", allows: []string{"agent", "models", "agent/redact"}},
		{of: "agent/eval", allows: []string{"agent", "models", "models/absence"}},
		{of: "agent/sandbox", allows: []string{"agent", "models"}},
		{of: "views/...", allows: []string{"views"}},
		{of: "static", allows: []string{}, alone: true},
		{of: "handlers/...", denies: []string{gorm, client, "offcut/models/store", "offcut/agent/runner", "offcut/agent/retain", "offcut/agent/tools", "offcut/web", "offcut/cmd"}},
		{of: "web", denies: []string{gorm, client, "offcut/models/store", "offcut/agent/runner", "offcut/cmd"}},
	} {
		t.Run(rule.of, func(t *testing.T) {
			for path, p := range house(t) {
				folder, below := strings.CutSuffix(rule.of, "/...")
				if path != folder && (!below || !within(path, folder)) {
					continue
				}
				for _, dep := range p.Deps {
					ours, isOurs := strings.CutPrefix(dep, "offcut/")
					switch {
					case isOurs && rule.allows != nil && !within(ours, folder) && !slices.ContainsFunc(rule.allows, func(a string) bool { return ours == a || within(ours, a) && a != "agent" && a != "models" }):
						t.Errorf("%s imports %s", path, dep)
					case !isOurs && rule.alone && !standard(dep) && !strings.HasPrefix(dep, "vendor/"):
						t.Errorf("%s imports %s", path, dep)
					case slices.ContainsFunc(rule.denies, func(d string) bool { return within(dep, d) || strings.HasPrefix(dep, d+"/") }):
						t.Errorf("%s imports %s", path, dep)
					}
				}
			}
		})
	}
}

func TestOnlyOnePackageKnowsTheProvidersTypes(t *testing.T) {
	owners := map[string]string{
		"github.com/sashabaranov/go-openai":         "agent/llm/openai",
		"github.com/anthropics/anthropic-sdk-go/v2": "agent/llm/anthropic",
		"github.com/modelcontextprotocol/go-sdk":    "agent/mcp",
		"github.com/itchyny/gojq":                   "agent/query",
	}
	for path, p := range house(t) {
		for library, owner := range owners {
			if path != owner && slices.ContainsFunc(p.Imports, func(i string) bool { return within(i, library) }) {
				t.Errorf("%s imports %s", path, library)
			}
		}
	}
}

func TestNobodyImportsTheProgram(t *testing.T) {
	for path, p := range house(t) {
		for _, dep := range p.Imports {
			if within(dep, "offcut/cmd") && !within(path, "cmd") {
				t.Errorf("%s imports %s", path, dep)
			}
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for path, p := range house(t) {
		if p.Doc == "" {
			t.Errorf("%s has no package comment", path)
		}
	}
}
