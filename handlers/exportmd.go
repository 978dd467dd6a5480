package handlers

import (
	"bufio"
	"cmp"
	"context"
	"strconv"
	"strings"

	"offcut/models"
	"offcut/views"
	"offcut/views/i18n"
	"offcut/views/visible"
)

// timeInExports is how times are written in Markdown.
const timeInExports = "2006-01-02 15:04 UTC"

// writeMarkdown writes a session to be read. What a person wrote stands in a
// quotation and what tools were given and returned in fences, so that nothing
// in them can end what it stands in; an answer is Markdown itself.
func (h *Handlers) writeMarkdown(ctx context.Context, out *bufio.Writer, what exported) error {
	md := markdown{ctx: ctx, out: out}
	sess := what.session
	title := sess.Title
	if title == "" {
		title = i18n.T(ctx, "session.untitled")
	}
	md.say("# " + plain(title) + "\n\n")
	md.say(i18n.T(ctx, "export.about", "created", sess.CreatedAt.UTC().Format(timeInExports), "exported", h.now().Format(timeInExports)) + "\n")
	if err := h.writeTurns(ctx, md, what); err != nil {
		return err
	}
	some := false
	return h.eachOutput(ctx, what, func(o models.RetainedOutput) error {
		if !some {
			md.say("\n## " + i18n.T(ctx, "export.outputs") + "\n\n" + i18n.T(ctx, "export.outputs.text") + "\n\n")
			some = true
		}
		md.say("- " + coded(o.ID) + " " + plain(o.Tool) + ", " + i18n.T(ctx, "bytes", "n", o.TotalBytes, "count", strconv.FormatInt(o.TotalBytes, 10)) + "\n")
		return nil
	})
}

// writeTurns writes the messages, and after those of a turn how it ended.
func (h *Handlers) writeTurns(ctx context.Context, md markdown, what exported) error {
	replies := joined{to: md.message}
	take := replies.take
	if what.hidden { // with what asked for it between them they are apart
		take = md.message
	}
	turn := ""
	end := func() error {
		replies.end()
		if turn == "" {
			return nil
		}
		t, err := h.Store.AnyTurn(ctx, turn)
		if err != nil {
			return err
		}
		grounds, err := h.Store.Grounds(ctx, what.session.ID, []string{turn})
		md.rests(grounds[turn])
		md.ended(t)
		return err
	}
	err := h.eachMessage(ctx, what, func(m models.Message) error {
		if m.TurnID != turn {
			if err := end(); err != nil {
				return err
			}
			turn = m.TurnID
		}
		take(m)
		return nil
	})
	if err != nil {
		return err
	}
	return end()
}

// markdown writes. What cannot be written is told when the writer is flushed.
type markdown struct {
	ctx context.Context
	out *bufio.Writer
}

// say writes text so that nothing in it steers the terminal that shows the file,
// or turns its direction. The JSON file has what was said to the byte.
func (w markdown) say(text string) { _, _ = w.out.WriteString(visible.Plain(text)) }

func (w markdown) message(m models.Message) {
	if m.Role == models.RoleTool {
		w.result(m)
		return
	}
	ctx := w.ctx
	w.say("\n## " + speaker(ctx, m) + ", " + m.CreatedAt.UTC().Format(timeInExports) + "\n\n")
	if m.Reasoning != "" {
		w.say("### " + i18n.T(ctx, "part.reasoning") + "\n\n" + quoted(m.Reasoning) + "\n")
	}
	switch {
	case m.Content == "":
	case m.Role == models.RoleAssistant:
		w.say(closed(m.Content) + "\n")
	default:
		w.say(quoted(m.Content))
	}
	if len(m.Attachments) > 0 {
		names := ""
		for _, a := range m.Attachments {
			names += strconv.Quote(a.Path) + "\n"
		}
		w.say("\n" + i18n.T(ctx, "files.attached") + "\n\n" + fenced(names, "text") + "\n")
	}
	for _, call := range m.ToolCalls {
		w.say("\n**" + plain(call.Name) + "**\n\n" + fenced(call.Arguments, "json") + "\n")
	}
}

// rests says on what an answer rests that the model had not before it whole.
func (w markdown) rests(grounds []models.Ground) {
	ctx := w.ctx
	for _, g := range grounds {
		if g.Whole() {
			continue
		}
		name := g.Title
		if name == "" {
			name = g.Tool
		}
		fact := i18n.T(ctx, "export.rests", "seen", strconv.FormatInt(g.SeenBytes, 10), "total", strconv.FormatInt(g.TotalBytes, 10), "name", coded(name), "id", coded(g.OutputID))
		if g.Lacking() {
			fact += " · " + i18n.T(ctx, "export.incomplete")
		}
		w.say("\n*" + fact + "*\n")
	}
}

// ended says how a turn ended, where it did not end well.
func (w markdown) ended(t models.Turn) {
	ctx, said := w.ctx, ""
	switch t.State {
	case models.StateDone:
		return
	case models.StateStopped, models.StateInterrupted:
		said = i18n.T(ctx, "js."+string(t.State))
	case models.StateError:
		said = i18n.T(ctx, "turn.failed")
	default:
		said = i18n.T(ctx, "export.unfinished")
	}
	if t.Error != "" {
		said += " " + views.WhyEnded(ctx, cmp.Or(string(t.ErrorCode), string(t.State)), t.Error)
	}
	w.say("\n*" + plain(strings.Join(strings.Fields(said), " ")) + "*\n")
}

// joined hands on messages one by one, replies that go on with one that was cut
// as one.
type joined struct {
	to   func(models.Message)
	held *models.Message // a reply that was cut
}

func (j *joined) take(m models.Message) {
	if j.held != nil && m.Role == models.RoleAssistant && m.TurnID == j.held.TurnID {
		m, j.held = j.held.Continued(m), nil
	}
	j.end()
	if m.CutOff() {
		j.held = &m
		return
	}
	j.to(m)
}

// end hands on a reply with which nothing went on.
func (j *joined) end() {
	if j.held != nil {
		j.to(*j.held)
		j.held = nil
	}
}

func speaker(ctx context.Context, m models.Message) string {
	switch {
	case m.IsMeta:
		return i18n.T(ctx, "export.hidden")
	case m.Role == models.RoleAssistant:
		return i18n.T(ctx, "export.assistant")
	}
	return i18n.T(ctx, "export.user")
}

func (w markdown) result(m models.Message) {
	ctx := w.ctx
	w.say("\n" + i18n.T(ctx, "export.result") + "\n\n" + fenced(m.Content, "text") + "\n")
	meta := m.Metadata
	if meta == nil {
		return
	}
	var facts []string
	if meta.ExitCode != nil {
		facts = append(facts, i18n.T(ctx, "export.exit", "code", strconv.Itoa(*meta.ExitCode)))
	}
	if meta.OutputID != "" && meta.TotalBytes != nil {
		facts = append(facts, i18n.T(ctx, "export.kept", "id", coded(meta.OutputID), "bytes", strconv.FormatInt(*meta.TotalBytes, 10)))
	}
	if meta.Complete != nil && !*meta.Complete {
		facts = append(facts, i18n.T(ctx, "export.incomplete"))
	}
	if len(facts) > 0 {
		w.say("\n*" + strings.Join(facts, " · ") + "*\n")
	}
}

// coded is text on one line as code, with more ticks around it than any within.
func coded(text string) string {
	ticks := strings.Repeat("`", longestRun(text, '`')+1)
	return ticks + strings.Join(strings.Fields(text), " ") + ticks
}

// fenced is text between fences that are longer than any within it.
func fenced(text, language string) string {
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return fence + language + "\n" + text + fence
}

func longestRun(text string, of byte) int {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != of {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// quoted is text as a quotation: whatever it opens ends with it.
func quoted(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("> "+line, "\r\n") + "\n")
	}
	return b.String()
}

// closed is Markdown that leaves no fence open, so that what follows stands
// outside it: an answer that was cut off may have left one.
func closed(text string) string {
	open := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(strings.TrimLeft(line, " "), " \r\n")
		fence := line[:len(line)-len(strings.TrimLeft(line, firstOf(line)))]
		switch {
		case len(fence) < 3:
		case open == "":
			if fence[0] != '`' || !strings.Contains(line[len(fence):], "`") {
				open = fence
			}
		case fence == line && fence[0] == open[0] && len(fence) >= len(open):
			open = ""
		}
	}
	if open == "" {
		return text
	}
	return strings.TrimRight(text, "\n") + "\n" + open
}

// firstOf is the mark of a fence that a line begins with; a space, which no line
// begins with here, where it begins with none.
func firstOf(line string) string {
	if line != "" && (line[0] == '`' || line[0] == '~') {
		return line[:1]
	}
	return " "
}

// plain is a name in which nothing is Markdown.
func plain(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_{}[]<>()#+-!|&", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
