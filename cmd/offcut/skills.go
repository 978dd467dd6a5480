package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"offcut/agent/prompt"
	"offcut/agent/sandbox"
	"offcut/agent/skills"
	"offcut/agent/workspace"
	"offcut/handlers"
)

// shownSkills is where confined commands and the file tools find the skills of
// the data folder, whose own place is nobody's business.
const shownSkills = "/skills"

// skillFolders are the places of the server's skills, as confined commands see
// them. The one in the data folder is made, so that people find where to put
// them.
func (a *App) skillFolders() ([]skills.Folder, error) {
	own := filepath.Join(a.cfg.DataDir, "skills")
	if err := os.MkdirAll(own, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of skills: %w", err)
	}
	folders := []skills.Folder{{Path: realPath(own), At: shownSkills}}
	for _, path := range a.cfg.Skills.Folders {
		real := realPath(path)
		if inside(realPath(a.cfg.DataDir), real) || inside(real, realPath(a.cfg.DataDir)) {
			return nil, fmt.Errorf("skills.folders: %s and the data folder must not lie in each other", path)
		}
		if info, err := os.Stat(real); err != nil || !info.IsDir() {
			a.log.Warn("a folder of skills is not there", "path", path)
		}
		folders = append(folders, skills.Folder{Path: real, At: filepath.Clean(path)})
	}
	return folders, nil
}

// inside reports whether a path is that of the folder or of something in it.
func inside(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// realPath is a path without links; of what is not there, the path itself.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// shown are the folders as a sandbox shows them.
func shown(folders []skills.Folder) []sandbox.Shown {
	var out []sandbox.Shown
	for _, f := range folders {
		out = append(out, sandbox.Shown(f))
	}
	return out
}

// catalogueOfSkills finds the skills where commands find them: without a sandbox at their
// places on the server.
func catalogueOfSkills(folders []skills.Folder, confined bool) *skills.Catalogue {
	var placed []skills.Folder
	for _, f := range folders {
		if !confined {
			f.At = f.Path
		}
		placed = append(placed, f)
	}
	return skills.New(placed...)
}

// localFacts tells a model of the skills that it has in a workspace, and of what
// that says of itself.
func localFacts(c *skills.Catalogue) func(string, prompt.Facts) prompt.Facts {
	return func(workspace string, facts prompt.Facts) prompt.Facts {
		found := c.In(workspace)
		for _, s := range found.Skills {
			facts.Skills = append(facts.Skills, prompt.Skill{Name: s.Name, Description: s.Description})
		}
		for i, b := range found.Broken {
			if i == maxBrokenTold {
				break
			}
			facts.BrokenSkills = append(facts.BrokenSkills, fmt.Sprintf("%.200q: %s.", b.At, b.Why))
		}
		facts.Agents = skills.Agents(workspace)
		return facts
	}
}

// maxBrokenTold bounds how many broken skills a model is told of.
const maxBrokenTold = 10

// skillFacts are the skills of the server, or of a session's workspace, for
// people.
func skillFacts(c *skills.Catalogue, folders *workspace.Folders) func(sessionID string) []handlers.SkillFact {
	return func(sessionID string) []handlers.SkillFact {
		if sessionID == "" {
			return factsOf(c.In(""), filepath.Base)
		}
		folder, err := folders.Find(sessionID)
		if err != nil || folder == "" {
			return nil // without a folder there are no skills in it
		}
		return factsOf(c.Of(folder), func(at string) string { return at })
	}
}

// factsOf names what is broken by where it lies.
func factsOf(found skills.Found, named func(at string) string) []handlers.SkillFact {
	var facts []handlers.SkillFact
	for _, s := range found.Skills {
		facts = append(facts, handlers.SkillFact{Name: s.Name, Description: s.Description})
	}
	for _, b := range found.Broken {
		facts = append(facts, handlers.SkillFact{Name: named(b.At), Why: b.Why})
	}
	return facts
}
