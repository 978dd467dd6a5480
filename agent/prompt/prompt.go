// Package prompt writes the instructions that a model is given before a
// conversation.
package prompt

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"offcut/agent"
)

//go:embed system.md
var systemText string

var system = template.Must(template.New("system").Option("missingkey=error").Parse(systemText))

// Facts are what the instructions say of this server and session.
type Facts struct {
	Tools []agent.ToolSpec
	// Date is today, such as 2006-01-02; empty: the model is not told, which
	// keeps the beginning of each request the same.
	Date string
	// SandboxKind names how commands are confined, such as bubblewrap; empty:
	// they are not.
	SandboxKind string
	// Network: commands may open network connections.
	Network bool
	// Skills are those that can be loaded, and BrokenSkills say what is wrong
	// with others.
	Skills       []Skill
	BrokenSkills []string
	// Agents is the text of the workspace's AGENTS.md; empty: it has none.
	Agents string
	// Extra is appended as it is: what the administrator wants said.
	Extra string
}

// Skill is a skill as the instructions tell of it.
type Skill struct{ Name, Description string }

// maxDescriptions bounds what is told of all skills together, in bytes: those
// behind it are told by name.
const maxDescriptions = 16 << 10

// SkillLines are the lines about the skills.
func (f Facts) SkillLines() []string {
	var lines []string
	room := maxDescriptions
	for _, s := range f.Skills {
		line := "- " + s.Name
		if room -= len(s.Description); room >= 0 {
			line += ": " + s.Description
		}
		lines = append(lines, line)
	}
	return lines
}

// AgentsText is the text of the AGENTS.md, which cannot end its own marks.
func (f Facts) AgentsText() string {
	return strings.NewReplacer("</agents-md", "<\\/agents-md").Replace(f.Agents)
}

// Has reports whether a tool is offered; the template asks it.
func (f Facts) Has(tool string) bool {
	for _, t := range f.Tools {
		if t.Name == tool {
			return true
		}
	}
	return false
}

// Remote reports whether tools of other servers are among those that are
// offered; the template asks it.
func (f Facts) Remote() bool {
	return slices.ContainsFunc(f.Tools, func(t agent.ToolSpec) bool { return t.Deed == agent.DeedRemote })
}

// System is the text of the instructions.
func System(f Facts) string {
	var text strings.Builder
	if err := system.Execute(&text, f); err != nil {
		// The template and its data are the program's own: tests run every
		// branch of it.
		panic(fmt.Sprintf("prompt: the system template: %v", err))
	}
	return strings.TrimSpace(text.String())
}
