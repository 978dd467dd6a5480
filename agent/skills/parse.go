package skills

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// The limits of the open format (agentskills.io), and of a file that a model is
// to read at once.
const (
	maxName        = 64
	maxDescription = 1024 // characters
	maxFile        = 64 << 10
	maxFront       = 16 << 10
)

// nameRule is what a skill and its folder are called.
var nameRule = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// fences are the lines around front matter, with the blanks that editors leave
// behind them.
var fences = regexp.MustCompile(`(?m)^---[ \t]+\n`)

// front is what is read of the front matter; the format knows more keys.
type front struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
}

// parse reads a SKILL.md in a folder of that name. Its error is a sentence for
// people.
func parse(folder string, raw []byte) (s Skill, err error) {
	switch {
	case len(raw) > maxFile:
		return s, fmt.Errorf("its SKILL.md has more than %d bytes", maxFile)
	case !utf8.Valid(raw) || bytes.ContainsRune(raw, 0):
		return s, errors.New("its SKILL.md is no text in UTF-8")
	}
	head, body, err := split(fences.ReplaceAllString(strings.ReplaceAll(strings.TrimPrefix(string(raw), "\uFEFF"), "\r\n", "\n"), "---\n"))
	if err != nil {
		return s, err
	}
	var f front
	if err := yaml.Unmarshal([]byte(head), &f); err != nil {
		return s, errors.New("its front matter is no YAML with a name and a description")
	}
	description := strings.Join(strings.Fields(f.Description), " ")
	switch {
	case f.Name == "":
		return s, errors.New("its front matter has no name")
	case len(f.Name) > maxName || !nameRule.MatchString(f.Name):
		return s, fmt.Errorf("its name %.80q is not accepted: a name is small letters, digits and single hyphens, at most %d", f.Name, maxName)
	case f.Name != folder:
		return s, fmt.Errorf("its name is %q, and its folder is %.80q: they must be the same", f.Name, folder)
	case description == "":
		return s, errors.New("its front matter has no description")
	case utf8.RuneCountInString(description) > maxDescription:
		return s, fmt.Errorf("its description has more than %d characters", maxDescription)
	}
	return Skill{Name: f.Name, Description: description, Instructions: strings.TrimSpace(body)}, nil
}

// split parts the front matter, between lines of three hyphens, from the rest.
func split(text string) (head, body string, err error) {
	rest, begins := strings.CutPrefix(text, "---\n")
	if !begins {
		return "", "", errors.New("its SKILL.md does not begin with front matter between lines of ---")
	}
	head, body, ends := strings.Cut("\n"+rest, "\n---\n")
	if !ends {
		if head, ends = strings.CutSuffix("\n"+rest, "\n---"); !ends {
			return "", "", errors.New("the front matter of its SKILL.md does not end with a line of ---")
		}
		body = ""
	}
	if len(head) > maxFront {
		return "", "", fmt.Errorf("its front matter has more than %d bytes", maxFront)
	}
	return head, body, nil
}
