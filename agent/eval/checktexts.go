package eval

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// notThere is how a template says that it names what is not there.
var notThere = regexp.MustCompile(`at <([^>]+)>: (?:can't evaluate field|map has no entry)`)

// template fills a text with values such as it will get.
func (c *checker) template(where at, text string, sample any) {
	if _, err := parseTemplate(text); err != nil {
		c.wrongAt(where, "it is no template: %s", strings.TrimPrefix(err.Error(), "template: "))
	} else if _, err := filled(text, sample); err != nil {
		if name := notThere.FindStringSubmatch(err.Error()); name != nil {
			c.wrongAt(where, "it names %s, which is not there", name[1])
			return
		}
		c.wrongAt(where, "it cannot be filled in: %s", strings.TrimPrefix(err.Error(), "template: "))
	}
}

// tools takes down which tools a scenario names beside its own.
func (c *checker) tools(s *Scenario) {
	s.names = nil
	note := func(where at, tool string) {
		if !slices.ContainsFunc(s.Fixture.Tools, func(own Tool) bool { return own.Name == tool }) {
			s.names = append(s.names, named{fmt.Sprintf("%s:%d: %s", c.file, where.line(c.tree), where), tool})
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(s.Checks.Tools)) {
		note(at{"checks", "tools", tool}, tool)
	}
	for i, step := range s.Walkthrough {
		if step.Call != "" {
			note(at{"walkthrough", i, "call"}, step.Call)
		}
	}
}

// Offered refuses scenarios that name a tool which is neither among those that are
// offered nor their own. Its error names file and line.
func Offered(scenarios []Scenario, tools []string) error {
	var wrong []error
	for _, s := range scenarios {
		for _, n := range s.names {
			if !slices.Contains(tools, n.tool) {
				wrong = append(wrong, fmt.Errorf("%s: there is no tool %q; there are %s", n.place, n.tool, strings.Join(tools, ", ")))
			}
		}
	}
	return errors.Join(wrong...)
}

// maxSampled is how many kept outputs a walkthrough may name, as far as its check
// knows.
const maxSampled = 32

func (c *checker) steps(steps []Step) {
	sample := values{Site: siteHost, Output: "out", Outputs: slices.Repeat([]string{"out"}, maxSampled), Took: map[string]string{}}
	for i, step := range steps {
		where := at{"walkthrough", i}
		if (step.Call != "") == (step.Say != "") {
			c.wrongAt(where, "a step has either call or say")
		}
		if step.Call == "" && (step.With != nil || step.Take != nil || step.Follow) || step.Say == "" && step.Cut {
			c.wrongAt(where, "with, take and follow belong to a call, and cut to what is said")
		}
		c.template(where.then("say"), step.Say, sample)
		for _, key := range slices.Sorted(maps.Keys(step.With)) {
			if text, ok := step.With[key].(string); ok {
				c.template(where.then("with", key), text, sample)
			}
		}
		for name, pattern := range step.Take {
			if pattern.NumSubexp() < 1 {
				c.wrongAt(where.then("take", name), "the expression has no group")
			}
			sample.Took[name] = "1"
		}
	}
}
