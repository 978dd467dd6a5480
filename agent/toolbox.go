package agent

import (
	"fmt"
	"slices"
	"strings"
)

// Toolbox holds the tools that a model is offered, in the order in which it is
// told of them.
type Toolbox struct {
	specs   []ToolSpec
	byName  map[string]Tool
	missing func(name string) string // nil: there is nothing to say
}

// NewToolbox makes a toolbox; of two tools with one name the later is used.
func NewToolbox(tools ...Tool) Toolbox {
	box := Toolbox{byName: map[string]Tool{}}
	for _, t := range tools {
		spec := t.Spec()
		if _, twice := box.byName[spec.Name]; !twice {
			box.specs = append(box.specs, spec)
		}
		box.byName[spec.Name] = t
	}
	for i, spec := range box.specs {
		if spec.Beside != nil {
			others := slices.Delete(slices.Clone(box.specs), i, i+1)
			box.specs[i].Description = spec.Beside(others)
		}
	}
	return box
}

// Specs is what a model is told of the tools.
func (b Toolbox) Specs() []ToolSpec { return b.specs }

// Tool finds a tool by its name.
func (b Toolbox) Tool(name string) (Tool, bool) {
	t, ok := b.byName[name]
	return t, ok
}

// Explaining is the toolbox with a sentence about tools that are not in it, where
// there is something to say of their names; else it is empty.
func (b Toolbox) Explaining(missing func(name string) string) Toolbox {
	b.missing = missing
	return b
}

// Unknown says to whoever asked for a tool that is not there what is there
// instead.
func (b Toolbox) Unknown(name string) string {
	text := fmt.Sprintf("There is no tool named %q. The tools are: %s.", name, b.names())
	if b.missing != nil {
		if why := b.missing(name); why != "" {
			text += " " + why
		}
	}
	return text
}

// names lists the tools for a model that asked for another one.
func (b Toolbox) names() string {
	names := make([]string, len(b.specs))
	for i, s := range b.specs {
		names[i] = s.Name
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
