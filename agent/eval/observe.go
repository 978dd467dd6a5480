package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"offcut/agent"
	"offcut/models"
)

// observation is what happened in a session.
type observation struct {
	answer   string // of the last turn, as people read it
	turn     models.Turn
	usage    models.Usage // of all turns
	sent     *record
	results  []string          // the tools' results of all turns, as the model read them
	previews []string          // those of them that were cut, with the rest kept
	tools    map[string]int    // how often each tool was called, also within scripts
	runs     []string          // of the fixture's commands
	commands map[string]string // by call: what run_command was asked to run
	cut      map[string]int    // how often a command was asked for whose result was cut
	outputs  []models.RetainedOutput
	kept     int64             // bytes of the kept copies
	preview  int64             // of them, shown at once
	read     int64             // and shown beside that
	open     map[string]string // by call: its arguments, until its result comes
	unfit    string            // what the house could not do, so that nothing can be judged; empty: it could
	lookups  []string          // the arguments of the calls that were answered without an error
	asked    bool              // something kept was read, searched or queried
}

// readers are the tools that read what is kept.
var readers = []string{"read_tool_output", "search_tool_output", "query_tool_output"}

// said takes a turn that has ended.
func (o *observation) said(turn models.Turn, messages []models.Message) {
	o.turn, o.usage, o.answer = turn, o.usage.Add(turn.Usage), ""
	for _, m := range models.JoinReplies(messages) {
		switch m.Role {
		case models.RoleAssistant:
			o.answer = m.Content
			for _, call := range m.ToolCalls {
				o.called(call.Name)
				o.commanded(call)
				o.opened(call)
			}
		case models.RoleTool:
			o.results = append(o.results, agent.ToolText(m))
			o.returned(m)
		}
	}
}

// commanded takes a call of a command. One whose result was cut, and that is
// called once more, was run again for more of its output.
func (o *observation) commanded(call models.ToolCall) {
	if call.Name != "run_command" {
		return
	}
	command := commandOf(call.Arguments)
	if o.commands == nil {
		o.commands, o.cut = map[string]string{}, map[string]int{}
	}
	o.commands[call.ID] = command
	if o.cut[command] > 0 {
		o.cut[command]++
	}
}

func (o *observation) returned(m models.Message) {
	if m.Metadata == nil {
		return
	}
	if m.Metadata.IsError && strings.Contains(m.Content, agent.NotSetUp) {
		o.unfit = m.Content
	}
	if arguments, ours := o.open[m.ToolCallID]; ours && !m.Metadata.IsError {
		o.lookups = append(o.lookups, arguments)
	}
	for _, call := range m.Metadata.Calls {
		o.called(call.Tool)
	}
	if m.Metadata.Truncated && m.Metadata.OutputID != "" {
		o.previews = append(o.previews, agent.ToolText(m))
	}
	if command, ours := o.commands[m.ToolCallID]; ours && m.Metadata.Truncated && o.cut[command] == 0 {
		o.cut[command] = 1
	}
}

// opened takes a call that has no result yet. Its strings are taken as they read,
// without the escapes of JSON.
func (o *observation) opened(call models.ToolCall) {
	if o.open == nil {
		o.open = map[string]string{}
	}
	o.open[call.ID] = call.Arguments
	var args map[string]any
	if json.Unmarshal([]byte(call.Arguments), &args) != nil {
		return
	}
	var texts []string
	for _, key := range slices.Sorted(maps.Keys(args)) {
		if text, ok := args[key].(string); ok {
			texts = append(texts, text)
		}
	}
	o.open[call.ID] = strings.Join(texts, "\n")
}

// lookedFor reports whether a call looked for one of these, or all that was kept
// was read. Of nothing it is true.
func (o *observation) lookedFor(matchers []Matcher) bool {
	if len(matchers) == 0 || o.preview+o.read >= o.kept {
		return true
	}
	return slices.ContainsFunc(o.lookups, func(text string) bool { return anyIn(matchers, text) })
}

func (o *observation) called(tool string) {
	if o.tools == nil {
		o.tools = map[string]int{}
	}
	o.tools[tool]++
	o.asked = o.asked || slices.Contains(readers, tool)
}

// commandOf is a command out of a call's arguments, as far as they are known.
func commandOf(arguments string) string {
	var args struct {
		Command string `json:"command"`
	}
	if json.Unmarshal([]byte(arguments), &args) != nil {
		return arguments
	}
	return strings.Join(strings.Fields(args.Command), " ")
}

// looked takes what is left of the session: runs of commands, and what was kept.
func (o *observation) looked(ctx context.Context, house House) error {
	o.runs = runsIn(house.Workspace())
	var err error
	if o.outputs, err = house.Outputs(ctx); err != nil {
		return fmt.Errorf("read what was kept: %w", err)
	}
	for _, output := range o.outputs {
		reads, err := house.Reads(ctx, output.ID)
		if err != nil {
			return fmt.Errorf("read what was shown of %s: %w", output.ID, err)
		}
		var previewed, all []models.Range
		for _, r := range reads {
			if r.Kind == models.ReadPreview {
				previewed = append(previewed, r.Range)
			}
			all = append(all, r.Range)
		}
		preview := length(previewed)
		o.kept, o.preview, o.read = o.kept+output.TotalBytes, o.preview+preview, o.read+length(all)-preview
	}
	return nil
}

// length is how many bytes the ranges cover.
func length(ranges []models.Range) int64 {
	n := int64(0)
	for _, r := range models.MergeRanges(ranges) {
		n += r.Len()
	}
	return n
}

// again are the commands that ran more than so many times for the same output,
// and how often they did. What a fixture's commands noted themselves goes before
// what was asked for.
func (o *observation) again(most int) map[string]int {
	counts := map[string]int{}
	for _, run := range o.runs {
		counts[run]++
	}
	if len(o.runs) == 0 {
		counts = maps.Clone(o.cut)
	}
	maps.DeleteFunc(counts, func(_ string, n int) bool { return n <= most })
	return counts
}

// incomplete: something that was kept is not all that its tool returned.
func (o *observation) incomplete() bool {
	return slices.ContainsFunc(o.outputs, func(r models.RetainedOutput) bool { return !r.Complete })
}

// shown reports whether some result held each of the matchers.
func (o *observation) shown(matchers []Matcher) bool {
	for _, m := range matchers {
		if !slices.ContainsFunc(o.results, m.In) {
			return false
		}
	}
	return true
}

// runsOf is how often a command ran, with whatever arguments.
func (o *observation) runsOf(command string) int {
	n := 0
	for _, run := range o.runs {
		if name, _, _ := strings.Cut(run, " "); name == command {
			n++
		}
	}
	return n
}
