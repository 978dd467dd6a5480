package agent

import (
	"slices"
	"strings"
)

// Toolbox holds the tools that a model is offered, in the order in which it is
// told of them.
type Toolbox struct {
	specs  []ToolSpec
	byName map[string]Tool
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

// names lists the tools for a model that asked for another one.
func (b Toolbox) names() string {
	names := make([]string, len(b.specs))
	for i, s := range b.specs {
		names[i] = s.Name
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
