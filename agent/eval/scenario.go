package eval

import (
	"slices"
	"text/template"
	"time"
)

// Scenario is one question with all that belongs to it, as its file holds it.
// README.md in the folder of the scenarios says what each key means.
type Scenario struct {
	// Name is that of the file, without its ending.
	Name string `yaml:"-"`
	// File is where the scenario was read, for people.
	File string `yaml:"-"`

	Title    string   `yaml:"title"`
	About    string   `yaml:"about"`
	Before   []string `yaml:"before"` // said earlier in the session, in turns of their own
	Question string   `yaml:"question"`
	Settings Settings `yaml:"settings"`
	Fixture  Fixture  `yaml:"fixture"`
	Answer   Answer   `yaml:"answer"`
	// Evidence is what of the tools' results the answer rests on. Absent: the
	// numbers and texts of a right answer.
	Evidence []Matcher `yaml:"evidence"`
	Checks   Checks    `yaml:"checks"`
	// Walkthrough is one way to the right answer, for a rehearsal.
	Walkthrough []Step `yaml:"walkthrough"`

	names []named // the tools that it names and does not bring along
}

// named is a tool's name at its place in a file.
type named struct{ place, tool string }

// Settings narrow the model for one scenario; a zero field leaves it as it is
// configured.
type Settings struct {
	ContextTokens   int `yaml:"context_tokens"`
	MaxOutputTokens int `yaml:"max_output_tokens"`
	// PruningTTL shortens old results in what the model is sent once so much time
	// has passed since its last reply, where they fill much of the window.
	PruningTTL time.Duration `yaml:"pruning_ttl"`
}

// Fixture is what the model finds.
type Fixture struct {
	Files    []File    `yaml:"files"`
	Commands []Command `yaml:"commands"`
	Tools    []Tool    `yaml:"tools"`
	Pages    []Page    `yaml:"pages"`
}

// Content is a text, as it stands or made of parts.
type Content struct {
	Text  string `yaml:"text"`
	Parts []Part `yaml:"parts"`
}

// Part is a text, or a line that is repeated. In the line, a template, .N is its
// number, counted from 1.
type Part struct {
	Text   string `yaml:"text"`
	Line   string `yaml:"line"`
	Repeat int    `yaml:"repeat"`

	line *template.Template
}

// File is a file of the workspace.
type File struct {
	Path    string `yaml:"path"`
	Content `yaml:",inline"`
}

// Command is a shell script that the workspace has as a program in its folder bin.
// Each of its runs is counted.
type Command struct {
	Name   string `yaml:"name"`
	Script string `yaml:"script"`
}

// Tool is a tool that the model is offered beside Offcut's own, and that answers
// from a list.
type Tool struct {
	Name        string         `yaml:"name"`
	Description string         `yaml:"description"`
	Parameters  map[string]any `yaml:"parameters"` // a JSON schema of type object
	Replies     []Reply        `yaml:"replies"`
}

// Reply is what a tool answers where the arguments hold all that When does; the
// first of its replies that fits is taken.
type Reply struct {
	When    map[string]any `yaml:"when"`
	Error   bool           `yaml:"error"`
	Content `yaml:",inline"`
}

// Page is a page of the web site that a scenario has to itself. Its address is
// {{.Site}} with the path.
type Page struct {
	Path    string `yaml:"path"`
	Type    string `yaml:"type"` // empty: text/plain; charset=utf-8
	Content `yaml:",inline"`
}

// Answer says what an answer is worth.
type Answer struct {
	// Expect is right, or uncertain where it cannot be known; empty: right.
	Expect Verdict `yaml:"expect"`
	// Right are what a right answer holds, all of them.
	Right []Matcher `yaml:"right"`
	// Wrong are what no good answer holds, none of them.
	Wrong []Matcher `yaml:"wrong"`
	// Uncertain are words of an honest answer beside the usual ones.
	Uncertain []Matcher `yaml:"uncertain"`
}

// Checks are what has to hold beside the answer.
type Checks struct {
	// Sent and NotSent are about what the model was sent, whether in one message
	// or another of the whole session.
	Sent    []Matcher `yaml:"sent"`
	NotSent []Matcher `yaml:"not_sent"`
	// Runs bounds how often a command ran, and Tools how often a tool was called,
	// calls within scripts among them.
	Runs  map[string]Bounds `yaml:"runs"`
	Tools map[string]Bounds `yaml:"tools"`
	// Same is how often a command may run with the same arguments; 0: once.
	Same int `yaml:"same"`
	// MustRead: something kept has to be read, whatever the answer says.
	MustRead bool `yaml:"must_read"`
	// LookedFor are what the arguments of a call hold that looks for the right
	// thing, any of them. Without such a call all that was kept has to be read: a
	// thing that is not there shows in no other way.
	LookedFor []Matcher `yaml:"looked_for"`
	// Continuations is how often the answer went on after the output limit.
	Continuations Bounds `yaml:"continuations"`
}

// Bounds are how often something may happen. nil: there is no such bound.
type Bounds struct {
	Min *int `yaml:"min"`
	Max *int `yaml:"max"`
}

func (b Bounds) hold(n int) bool {
	return (b.Min == nil || n >= *b.Min) && (b.Max == nil || n <= *b.Max)
}

// Step is one reply of a walkthrough: tool calls, or a text that ends the turn.
// Texts are templates: .Output is the last output_id that was seen, .Outputs are
// all of them in order, .Site is the address of the pages, and .Took what earlier
// steps took.
type Step struct {
	Call string         `yaml:"call"`
	With map[string]any `yaml:"with"`
	// Take names texts of the result, by regular expressions: the first group.
	Take map[string]Pattern `yaml:"take"`
	// Follow repeats the call with the offset at which the page before ended,
	// until all is taken or the kept text ends.
	Follow bool `yaml:"follow"`

	Say string `yaml:"say"`
	// Cut: the text ends at the output limit, and the next step goes on with it.
	Cut bool `yaml:"cut"`
}

// expects is what a good answer is.
func (a Answer) expects() Verdict {
	if a.Expect == "" {
		return Right
	}
	return a.Expect
}

// Expects is what a good answer is: Right or Uncertain.
func (s Scenario) Expects() Verdict { return s.Answer.expects() }

// evidence is what has to stand in some result before the answer can be known;
// none: anything.
func (s Scenario) evidence() []Matcher {
	if s.Evidence != nil {
		return s.Evidence
	}
	return slices.DeleteFunc(slices.Clone(s.Answer.Right), func(m Matcher) bool { return m.Number == nil && m.Contains == "" })
}
