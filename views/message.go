package views

import (
	"cmp"
	"context"
	"regexp"
	"strings"
	"unicode/utf8"

	"offcut/views/i18n"
)

// longSaid is from how many bytes on a message scrolls within a frame of its
// own, so that twenty thousand pasted lines do not push the answer away.
const longSaid = 6000

func (v UserMessage) long() bool { return len(v.Content) > longSaid }

func (v UserMessage) heading(ctx context.Context) string {
	if v.State == "queued" {
		return t(ctx, "said.heading.queued")
	}
	return t(ctx, "said.heading", "time", clock(ctx, v.At))
}

func (v Answer) heading(ctx context.Context) string {
	return t(ctx, "answer.heading."+answerState(v.State), "time", clock(ctx, v.At))
}

// answerState is the end of the catalogue key of a turn's state.
func answerState(state string) string {
	switch state {
	case "running", "error", "stopped", "interrupted":
		return state
	}
	return "done"
}

func (v TurnEnd) facts(ctx context.Context) string {
	var facts []string
	if v.Model != "" {
		facts = append(facts, v.Model)
	}
	if v.Tokens > 0 {
		facts = append(facts, t(ctx, "answer.tokens", "n", v.Tokens, "count", exact(v.Tokens)))
	}
	if v.Cost > 0 {
		facts = append(facts, dollars(ctx, v.Cost))
	}
	if v.Took > 0 {
		facts = append(facts, took(ctx, v.Took))
	}
	return strings.Join(facts, " · ")
}

// next says what to do after an answer that ended with an error; nothing to who
// may only read.
func (v TurnEnd) next(ctx context.Context) string {
	if frame(ctx).ReadOnly {
		return ""
	}
	switch v.Code {
	case "output_limit", "context_overflow":
		return "" // the error says it
	case "rate_limited":
		return t(ctx, "turn.next.later")
	case "provider_refused":
		return t(ctx, "turn.next.settings")
	case "turn_limit":
		if !v.Continue {
			return "" // the error says it
		}
		return t(ctx, "turn.next.goon")
	}
	return t(ctx, "turn.next.again")
}

func (v TurnEnd) why(ctx context.Context) string {
	return WhyEnded(ctx, cmp.Or(v.Code, v.State), v.Error)
}

// WhyEnded is what ended an answer before its time: the error of a turn with the
// code, or with the state where it has none. In other languages than English it
// is what the code means, with the provider's own words as they are.
func WhyEnded(ctx context.Context, code, english string) string {
	text := i18n.Error(ctx, "turn."+code, english, nil)
	if text != english {
		text += quoted.FindString(english)
	}
	return sentence(text)
}

// quoted are somebody else's words within a sentence.
var quoted = regexp.MustCompile(`(?s)“.*”`)

// interruption says when and why an answer broke off, what there is of it, and
// how to go on.
func (v TurnEnd) interruption(ctx context.Context) string {
	text := rich(ctx, "turn.interrupted", "time", clock(ctx, v.At))
	if v.Error != "" {
		text = rich(ctx, "turn.interrupted.why", "time", clock(ctx, v.At), "why", v.why(ctx))
	}
	if v.OpenCalls > 0 {
		text += " " + rich(ctx, "turn.interrupted.calls", "n", v.OpenCalls)
	}
	switch {
	case frame(ctx).ReadOnly:
		return text
	case v.Continue:
		// The button for it goes with the next message, and these words with it.
		return text + ` <span class="only-last">` + rich(ctx, "turn.next.continue") + "</span>"
	}
	return text + " " + rich(ctx, "turn.next.retry")
}

// text says what has become of the command.
func (v MovedNote) text(ctx context.Context) string {
	switch {
	case v.OutputID == "":
		return rich(ctx, "background.gone")
	case v.Running:
		return rich(ctx, "background.runs", "command", oneLine(v.Subject, 80))
	case v.Stopped:
		return rich(ctx, "background.stopped", "command", oneLine(v.Subject, 80))
	}
	return rich(ctx, "background.ended", "command", oneLine(v.Subject, 80))
}

// read names the way to the output.
func (v MovedNote) read(ctx context.Context) string {
	if v.Running {
		return t(ctx, "background.read")
	}
	return t(ctx, "background.output")
}

// inlineCode is a stretch between backticks on one line.
var inlineCode = regexp.MustCompile("`([^`\n]+)`")

// saidHTML shows what a person wrote as it was written: paragraphs, line
// breaks, and stretches between backticks as code. A text with fences is
// left as it is.
func saidHTML(content string) string {
	content = strings.ReplaceAll(content, "\r\n", "\n")
	if len(content) > longSaid || strings.Contains(content, "```") {
		return `<p class="raw">` + shown(content) + "</p>"
	}
	var b strings.Builder
	for _, paragraph := range strings.Split(content, "\n\n") {
		if strings.TrimSpace(paragraph) == "" {
			continue
		}
		b.WriteString("<p>")
		b.WriteString(inlineCode.ReplaceAllString(shown(strings.Trim(paragraph, "\n")), "<code>$1</code>"))
		b.WriteString("</p>")
	}
	return b.String()
}

// oneLine is the first line of text, cut after most characters.
func oneLine(text string, most int) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}
