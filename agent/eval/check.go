package eval

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	scenarioName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	commandName  = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,39}$`)
	toolName     = regexp.MustCompile(`^[a-z][a-z0-9_]{0,59}$`)
)

// Bounds of what a scenario may ask for.
const (
	minContextTokens = 4096
	maxRepeat        = 5_000_000
	maxScriptBytes   = 64 << 10 // it is one argument of a program, which has at most 128 KiB
)

// checker collects what is wrong, each with its line.
type checker struct {
	file  string
	tree  *yaml.Node
	wrong []error
}

// at is the way to a node: keys of mappings, and numbers in lists.
type at []any

func (a at) then(more ...any) at { return append(slices.Clone(a), more...) }

// String is the way as people write it: answer.right[0].
func (a at) String() string {
	var out strings.Builder
	for _, step := range a {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&out, "[%d]", step)
		default:
			if out.Len() > 0 {
				out.WriteByte('.')
			}
			fmt.Fprint(&out, step)
		}
	}
	return out.String()
}

// line is that of the node, or of the deepest one on the way that there is.
func (a at) line(tree *yaml.Node) int {
	if tree.Kind == yaml.DocumentNode {
		tree = tree.Content[0]
	}
	line := tree.Line
	for _, step := range a {
		next := child(tree, step)
		if next == nil {
			break
		}
		tree, line = next, next.Line
	}
	return line
}

func child(n *yaml.Node, step any) *yaml.Node {
	if i, ok := step.(int); ok {
		if n.Kind == yaml.SequenceNode && i < len(n.Content) {
			return n.Content[i]
		}
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == step {
			return n.Content[i+1]
		}
	}
	return nil
}

func (c *checker) wrongAt(where at, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(where) > 0 {
		text = where.String() + ": " + text
	}
	c.wrong = append(c.wrong, fmt.Errorf("%s:%d: %s", c.file, where.line(c.tree), text))
}

// check holds a scenario against its rules, and gets its templates ready.
func (s *Scenario) check(tree *yaml.Node) error {
	c := &checker{file: s.File, tree: tree}
	if !scenarioName.MatchString(s.Name) {
		c.wrongAt(nil, "the name of the file, %q, is not accepted; it is small letters, digits and single hyphens", s.Name)
	}
	for key, text := range map[string]string{"title": s.Title, "question": s.Question} {
		if strings.TrimSpace(text) == "" {
			c.wrongAt(at{key}, "it is missing")
		}
	}
	if n := s.Settings.ContextTokens; n != 0 && n < minContextTokens {
		c.wrongAt(at{"settings", "context_tokens"}, "%d is not accepted; it is at least %d", n, minContextTokens)
	}
	if n := s.Settings.MaxOutputTokens; n < 0 {
		c.wrongAt(at{"settings", "max_output_tokens"}, "%d is not accepted; it is a positive number", n)
	}
	if n := s.Settings.PruningTTL; n < 0 {
		c.wrongAt(at{"settings", "pruning_ttl"}, "%s is not accepted; it is a time such as 1s", n)
	}
	c.fixture(&s.Fixture)
	c.answer(s)
	c.bounds(s.Checks)
	c.steps(s.Walkthrough)
	c.tools(s)
	for i, text := range append(slices.Clone(s.Before), s.Question) {
		where := at{"before", i}
		if i == len(s.Before) {
			where = at{"question"}
		}
		c.template(where, text, asked{Site: siteHost})
	}
	return errors.Join(c.wrong...)
}

// bounds holds the least of each bound against the most.
func (c *checker) bounds(checks Checks) {
	one := func(where at, b Bounds) {
		if b.Min != nil && *b.Min < 0 || b.Max != nil && *b.Max < 0 {
			c.wrongAt(where, "min and max are not below 0")
		}
		if b.Min != nil && b.Max != nil && *b.Min > *b.Max {
			c.wrongAt(where, "min, %d, is more than max, %d", *b.Min, *b.Max)
		}
	}
	one(at{"checks", "continuations"}, checks.Continuations)
	for kind, all := range map[string]map[string]Bounds{"runs": checks.Runs, "tools": checks.Tools} {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			one(at{"checks", kind, name}, all[name])
		}
	}
}

func (c *checker) answer(s *Scenario) {
	switch a := s.Answer; {
	case a.Expect != "" && a.Expect != Right && a.Expect != Uncertain:
		c.wrongAt(at{"answer", "expect"}, "%q is not accepted; it is right or uncertain", a.Expect)
	case a.expects() == Right && len(a.Right) == 0:
		c.wrongAt(at{"answer"}, "right is missing: nothing says what a right answer holds")
	case a.expects() == Uncertain && len(a.Right) > 0:
		c.wrongAt(at{"answer", "right"}, "there is no right answer where the one that is expected is uncertain")
	}
	for _, list := range []struct {
		where    at
		matchers []Matcher
	}{
		{at{"answer", "right"}, s.Answer.Right},
		{at{"answer", "wrong"}, s.Answer.Wrong},
		{at{"answer", "uncertain"}, s.Answer.Uncertain},
		{at{"evidence"}, s.Evidence},
		{at{"checks", "sent"}, s.Checks.Sent},
		{at{"checks", "not_sent"}, s.Checks.NotSent},
		{at{"checks", "looked_for"}, s.Checks.LookedFor},
	} {
		c.matchers(list.where, list.matchers)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Checks.Runs)) {
		if !slices.ContainsFunc(s.Fixture.Commands, func(command Command) bool { return command.Name == name }) {
			c.wrongAt(at{"checks", "runs", name}, "the fixture has no such command")
		}
	}
}

func (c *checker) matchers(where at, matchers []Matcher) {
	for i, m := range matchers {
		if m.set() != 1 {
			c.wrongAt(where.then(i), "it has exactly one of contains, matches, number, denies, unsure and any")
		}
		c.matchers(where.then(i, "any"), m.Any)
	}
}
