package demo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"offcut/agent"
	"offcut/models"
)

const (
	intro = "**I am the demo model.** I follow a script: I understand a few plain requests and answer them by calling the real tools.\n\n"

	help = "I am only a script, and this is not one of the requests that I understand. These are:\n\n" +
		"- Run `seq 1 200000` and tell me the last line\n" +
		"- Run a script\n" +
		"- Write `notes.txt`: some text\n" +
		"- Read `notes.txt` at line 2\n" +
		"- Replace “some” with “more” in `notes.txt`\n" +
		"- Find “199999” in the last kept output\n" +
		"- Read the last kept output at 4096\n" +
		"- Find “text” in the files\n" +
		"- List the files\n" +
		"- Count to 100\n\n" +
		"Two of them can be joined by “, then”. For anything else, set `OPENAI_BASE_URL` and `OFFCUT_MODEL` to a model of your own and start again."

	// exampleCommand makes a kept output where one is asked for and none is
	// there yet.
	exampleCommand = "seq 1 200000"

	// exampleScript reads three long results, and tells only a number of them.
	exampleScript = `// Three long results, read by the script: only what it prints comes back.
const outputs = await Promise.all([10000, 20000, 30000].map(n => tools.run_command({command: "seq " + n})));
for (const o of outputs) console.log(o.total_bytes + " bytes are kept as " + o.output_id);
return outputs.reduce((sum, o) => sum + o.total_bytes, 0);`

	exampleText = "Offcut keeps what a tool returns.\nThis is line 2 of the notes.\nA long result is shown in part and kept whole.\n"

	// maxCount bounds how far the model counts.
	maxCount = 20_000
	// slowPause is the time between two numbers that are counted slowly.
	slowPause = 100 * time.Millisecond
)

// conversation is what the model was sent.
type conversation struct {
	messages []message
	tools    map[string]bool
}

// question is the last message of the person, not one in which the server tells
// of the background, and its place.
func (c conversation) question() (string, int) {
	for i := len(c.messages) - 1; i >= 0; i-- {
		if said := c.messages[i].Content; c.messages[i].Role == models.RolePerson && !strings.HasPrefix(said, agent.BackgroundNote) {
			return said, i
		}
	}
	return "", -1
}

// begins reports whether the model has said nothing yet in this session.
func (c conversation) begins() bool {
	for _, m := range c.messages {
		if m.Role == models.RoleAssistant {
			return false
		}
	}
	return c.summarised() == ""
}

// keptOutput is the id of the last kept output that a result names.
func (c conversation) keptOutput() string {
	for i := len(c.messages) - 1; i >= 0; i-- {
		if c.messages[i].Role != models.RoleTool {
			continue
		}
		meta := parseResult(c.messages[i].Content).meta
		for _, nested := range slices.Backward(meta.Nested) {
			if meta.OutputID == "" {
				meta.OutputID = nested.OutputID
			}
		}
		if meta.OutputID != "" {
			return meta.OutputID
		}
	}
	return listedOutput(c.summarised())
}

// step is one round of tool calls, made when its turn has come: it may need
// what the round before returned.
type step func(c conversation) []call

// next is what the model does now: the next step of its plan, or the answer
// once all steps are done.
func next(c conversation) action {
	if c.summarises() {
		return action{say: c.summary()}
	}
	text, at := c.question()
	wishes := understand(text)
	steps := plan(wishes, conversation{messages: c.messages[:at+1]})
	done := 0
	for _, m := range c.messages[at+1:] {
		if m.Role == models.RoleAssistant && len(m.ToolCalls) > 0 {
			done++
		}
	}
	a := action{}
	if done < len(steps) {
		a.calls = steps[done](c)
		a.say = announce(a.calls)
		if missing := c.missingTool(a.calls); missing != "" {
			a = action{say: fmt.Sprintf("I would call the tool `%s` for that, but it is not offered to me here.", missing)}
		}
	} else {
		a = answer(wishes, c.messages[at+1:])
	}
	if c.begins() {
		a.say = intro + a.say
	}
	return a
}

// missingTool is the first tool of calls that the request does not offer.
func (c conversation) missingTool(calls []call) string {
	for _, call := range calls {
		if !c.tools[call.Function.Name] {
			return call.Function.Name
		}
	}
	return ""
}

// plan turns wishes into rounds of calls.
func plan(wishes []wish, before conversation) []step {
	var steps []step
	kept := before.keptOutput() != ""
	for _, w := range wishes {
		if w.verb == verbFindOutput || w.verb == verbReadOutput {
			if !kept {
				steps = append(steps, fixed(newCall("run_command", map[string]any{"command": exampleCommand})))
			}
			kept = true
		}
		if w.verb == verbRun || w.verb == verbScript {
			kept = true // perhaps; if it was short, the search says so
		}
		if s := stepFor(w); s != nil {
			steps = append(steps, s)
		}
	}
	return steps
}

func fixed(calls ...call) step { return func(conversation) []call { return calls } }

func stepFor(w wish) step {
	path := w.path
	if path == "" {
		path = defaultFileName
	}
	switch w.verb {
	case verbRun:
		var calls []call
		for _, command := range w.commands {
			calls = append(calls, newCall("run_command", map[string]any{"command": command}))
		}
		return fixed(calls...)
	case verbScript:
		return fixed(newCall("run_script", map[string]any{"code": w.text}))
	case verbRead:
		return fixed(newCall("read_file", map[string]any{"path": path, "line": max(1, w.number)}))
	case verbWrite:
		text := w.text
		if text == "" {
			text = exampleText
		}
		return fixed(newCall("write_file", map[string]any{"path": path, "content": text}))
	case verbEdit:
		return fixed(newCall("edit_file", map[string]any{"path": path, "old_string": w.text, "new_string": w.with}))
	case verbList:
		return fixed(newCall("list_files", map[string]any{}))
	case verbFindFiles:
		args := map[string]any{"pattern": regexp.QuoteMeta(w.text)}
		if w.path != "" {
			args["path"] = w.path
		}
		return fixed(newCall("search_files", args))
	case verbFindOutput:
		return func(c conversation) []call {
			return []call{newCall("search_tool_output", map[string]any{"output_id": c.keptOutput(), "pattern": w.text})}
		}
	case verbReadOutput:
		return func(c conversation) []call {
			return []call{newCall("read_tool_output", map[string]any{"output_id": c.keptOutput(), "offset": w.number})}
		}
	}
	return nil
}

func newCall(name string, args map[string]any) call {
	raw, err := json.Marshal(args)
	if err != nil {
		raw = []byte("{}") // plain values: this does not happen
	}
	return call{ID: models.NewID(models.PrefixCall), Function: function{Name: name, Arguments: string(raw)}}
}

// announce says what is called, before it is.
func announce(calls []call) string {
	var said []string
	for _, c := range calls {
		switch c.Function.Name {
		case "run_command":
			said = append(said, "run "+inline(c.argument("command")))
		case "run_script":
			said = append(said, "run a script")
		case "read_file":
			said = append(said, fmt.Sprintf("read %s at line %s", inline(c.argument("path")), c.argument("line")))
		case "write_file":
			said = append(said, "write "+inline(c.argument("path")))
		case "edit_file":
			said = append(said, "change "+inline(c.argument("path")))
		case "list_files":
			said = append(said, "list the files")
		case "search_files":
			said = append(said, "search the files")
		case "search_tool_output":
			said = append(said, fmt.Sprintf("search the kept output %s for %s", inline(c.argument("output_id")), inline(c.argument("pattern"))))
		case "read_tool_output":
			said = append(said, fmt.Sprintf("read the kept output %s at byte %s", inline(c.argument("output_id")), c.argument("offset")))
		}
	}
	return "I " + strings.Join(said, " and ") + "."
}

// answer is what is said once all steps are done.
func answer(wishes []wish, turn []message) action {
	if len(wishes) == 0 {
		return action{say: help}
	}
	var said []string
	pause := time.Duration(0)
	for _, w := range wishes {
		switch w.verb {
		case verbCount:
			said = append(said, counted(min(w.number, maxCount)))
			if w.slowly {
				pause = slowPause
			}
		case verbSay:
			said = append(said, w.text)
		}
	}
	for _, m := range turn {
		if m.Role == models.RoleTool {
			said = append(said, report(callOf(turn, m.ToolCallID), parseResult(m.Content), wishes))
		}
	}
	return action{say: strings.Join(said, "\n\n"), pause: pause}
}

func counted(to int) string {
	var out strings.Builder
	for i := 1; i <= to; i++ {
		fmt.Fprintf(&out, "%d ", i)
	}
	return strings.TrimSpace(out.String())
}

// callOf is the call that a result answers.
func callOf(turn []message, id string) call {
	for _, m := range turn {
		for _, c := range m.ToolCalls {
			if c.ID == id {
				return c
			}
		}
	}
	return call{}
}
