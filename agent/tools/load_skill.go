package tools

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"offcut/agent"
	"offcut/agent/skills"
)

//go:embed load_skill.md
var loadSkillDescription string

type loadSkillArgs struct {
	Name string `json:"name" jsonschema:"the name of the skill"`
}

type loadSkill struct{ catalogue *skills.Catalogue }

func newLoadSkill(c *skills.Catalogue) agent.Tool {
	t := loadSkill{c}
	return newTyped(agent.ToolSpec{Name: "load_skill", Description: loadSkillDescription}, t.run)
}

func (t loadSkill) run(ctx context.Context, call agent.Call, args loadSkillArgs) (agent.ToolResult, error) {
	skill, files, found := t.catalogue.Skill(ctx, call.Workspace, args.Name)
	if !found {
		return agent.ToolResult{}, t.missing(call, args.Name)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "The skill %s lies in %s.", skill.Name, skill.At)
	if skill.Workspace {
		text.WriteString(" It came with the files of the workspace.")
	} else {
		text.WriteString(" It cannot be changed.")
	}
	if len(files.Names) > 0 {
		text.WriteString(" Its other files:\n- " + strings.Join(files.Names, "\n- "))
	}
	if files.More {
		text.WriteString("\n- and more: list_files with the pattern ** shows them")
	}
	text.WriteString("\n\n" + skill.Instructions)
	return agent.ToolResult{Content: clean(text.String())}, nil
}

// missing says which skills there are, and what is wrong with one that is
// broken.
func (t loadSkill) missing(call agent.Call, name string) error {
	found := t.catalogue.In(call.Workspace)
	for _, b := range found.Broken {
		if strings.HasSuffix(b.At, "/"+name) {
			return refusef("The skill in %s cannot be used: %s.", b.At, b.Why)
		}
	}
	var names []string
	for _, s := range found.Skills {
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return refusef("There is no skill %.100s; there are none here.", name)
	}
	return refusef("There is no skill %.100s. There are %s.", name, strings.Join(names, ", "))
}
