package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"offcut/agent/events"
	"offcut/models"
	"offcut/views"
)

// card is one tool call on the screen. A result is nil as long as there is
// none. Of the newest turn, what failed and what runs is open.
func (h *Handlers) card(ctx context.Context, sess models.Session, call models.ToolCall, result *models.Message, live events.Live, newest bool) (views.ToolCard, error) {
	card := views.ToolCard{
		SessionID: sess.ID, CallID: call.ID, Tool: call.Name, Subject: subject(call),
		State: string(models.CallWaiting), Took: -1,
	}
	if result == nil {
		return card, h.showRunning(ctx, sess, &card, call, live)
	}
	meta := metadataOf(result)
	if call.Name == scriptTool && (len(meta.Calls) > 0 || !meta.IsError) {
		card.Made = models.Ptr(len(meta.Calls))
	}
	card.State = string(result.CallState())
	card.Exit, card.Signal, card.TimedOut = meta.ExitCode, meta.Signal, meta.TimedOut
	card.Failed, card.Unstarted = meta.IsError, result.NotStarted()
	card.Incomplete = meta.Complete != nil && !*meta.Complete && meta.Background == ""
	if meta.ExecutionMS != nil {
		card.Took = time.Duration(*meta.ExecutionMS) * time.Millisecond
	}
	card.Fact = factOf(call.Name, meta, result.Content)
	if meta.OutputID != "" {
		out, err := h.keptOutput(ctx, sess.ID, meta.OutputID)
		if err != nil {
			return card, err
		}
		card.LeftOut, card.Coverage = leftOut(meta, out, result.Content), coverageOf(out)
		if card.State == string(models.CallBackground) {
			showBackground(&card, out, live)
		}
	}
	if newest && card.State == string(models.CallError) {
		body, err := h.cardBody(ctx, sess, call, result)
		if err != nil {
			return card, err
		}
		card.Open, card.Body = true, &body
	}
	return card, nil
}

// showBackground fills in a command that went on after its call. A copy that is
// gone tells nothing of it any more.
func showBackground(card *views.ToolCard, out kept, live events.Live) {
	card.Took = -1
	switch end := out.End; {
	case out.gone:
		card.State = string(models.CallOK)
	case out.Running:
		card.Live, card.Open, card.StartedAt, card.LeftOut, card.Coverage = &views.Live{}, true, out.CreatedAt, 0, nil
		showLive(card, live)
		card.State = string(models.CallBackground)
	case end == nil:
		card.State = string(models.CallInterrupted)
	default:
		card.State = string(end.CallState())
		card.Exit, card.Signal, card.TimedOut = end.ExitCode, end.Signal, end.TimedOut
		card.Incomplete = !out.Complete
		if out.EndedAt != nil {
			card.Took = out.EndedAt.Sub(out.CreatedAt)
		}
	}
}

// showRunning fills in a call that has no result yet.
func (h *Handlers) showRunning(ctx context.Context, sess models.Session, card *views.ToolCard, call models.ToolCall, live events.Live) (err error) {
	showLive(card, live)
	if card.Live == nil || call.Name != scriptTool {
		return nil
	}
	card.Code = h.codeOf(call)
	for _, running := range live.Calls {
		if running.CallID == call.ID {
			card.Nested, err = h.nestedCalls(ctx, sess, running.Nested)
		}
	}
	return err
}

// showLive fills in a call that runs, as the snapshot has it.
func showLive(card *views.ToolCard, live events.Live) {
	for _, running := range live.Calls {
		if running.CallID != card.CallID {
			continue
		}
		card.State, card.StartedAt, card.Open = string(models.CallRunning), running.StartedAt, true
		card.Live, card.Movable = &views.Live{Tail: running.Tail, Bytes: running.Bytes}, running.Movable
	}
}

func metadataOf(result *models.Message) models.ResultMetadata {
	if result.Metadata == nil {
		return models.ResultMetadata{}
	}
	return *result.Metadata
}

// kept is a kept output, or what became of it.
type kept struct {
	models.RetainedOutput
	gone bool // deleted, or of the session that this one was forked from
}

// keptOutput finds a kept output; one that is gone is no error here.
func (h *Handlers) keptOutput(ctx context.Context, sessionID, id string) (kept, error) {
	out, err := h.Store.Output(ctx, sessionID, id)
	if err == nil {
		out.Coverage, err = h.Store.Coverage(ctx, sessionID, id)
	}
	if errors.Is(err, models.ErrNotFound) {
		return kept{RetainedOutput: models.RetainedOutput{DeletedAt: deletedAt(err)}, gone: true}, nil
	}
	return kept{RetainedOutput: out}, err
}

// deletedAt is when the output was deleted that err says is not there.
func deletedAt(err error) *time.Time {
	var said *models.Error
	if !errors.As(err, &said) {
		return nil
	}
	at, ok := said.Details["deleted_at"].(time.Time)
	if !ok {
		return nil
	}
	return &at
}

// leftOut is how many bytes are kept behind the preview; what a terminal has
// overwritten was not left out for want of room.
func leftOut(meta models.ResultMetadata, out kept, body string) int64 {
	if out.gone || !budgeted(out.Tool, meta, body) {
		return 0
	}
	return max(out.TotalBytes-lengthOf(meta.Shown), 0)
}

// coverageOf is what the model has read of a kept output; nil where that is
// all of it, or where the output is gone.
func coverageOf(out kept) *views.Coverage {
	if out.gone {
		return nil
	}
	if len(out.Gaps) == 0 && lengthOf(out.Coverage) >= out.TotalBytes {
		return nil
	}
	return &views.Coverage{Total: out.TotalBytes, Read: viewRanges(out.Coverage), Gaps: viewGaps(out.Gaps)}
}

func rangesOf(ranges []models.Range) []models.Range { return append([]models.Range(nil), ranges...) }

func lengthOf(ranges []models.Range) (n int64) {
	for _, r := range ranges {
		n += r.Len()
	}
	return n
}

func viewRanges(ranges []models.Range) []views.Range {
	out := make([]views.Range, len(ranges))
	for i, r := range ranges {
		out[i] = views.Range(r)
	}
	return out
}

func viewGaps(gaps []models.Gap) []views.Gap {
	out := make([]views.Gap, len(gaps))
	for i, g := range gaps {
		out[i] = views.Gap{At: g.At, MarkerBytes: g.MarkerBytes, Omitted: g.Omitted}
	}
	return out
}

// subjects are the arguments that say what a tool worked on, by tool; the
// first that is given counts.
var subjects = map[string][]string{
	"run_command":        {"command"},
	"read_file":          {"path"},
	"write_file":         {"path"},
	"edit_file":          {"path"},
	"list_files":         {"pattern", "path"},
	"search_files":       {"pattern"},
	"read_tool_output":   {"output_id"},
	"search_tool_output": {"pattern"},
	"query_tool_output":  {"filter"},
	"run_script":         {"code"},
	"fetch_url":          {"url"},
	"load_skill":         {"name"},
}

// maxSubject bounds, in bytes, what a row says of a call; a command is shown
// whole in the open card.
const maxSubject = 2000

// subject is what a call worked on, for people.
func subject(call models.ToolCall) string {
	var arguments map[string]any
	if json.Unmarshal([]byte(call.Arguments), &arguments) != nil {
		return clip(call.Arguments, maxSubject)
	}
	for _, name := range subjects[call.Name] {
		if text, ok := arguments[name].(string); ok && text != "" {
			return clip(text+detail(call.Name, arguments), maxSubject)
		}
	}
	if len(arguments) == 0 {
		return ""
	}
	return clip(call.Arguments, maxSubject)
}

// detail is what else a row says of a call: where it began to read.
func detail(tool string, arguments map[string]any) string {
	if line, ok := arguments["line"].(float64); ok && tool == "read_file" && line > 1 {
		return fmt.Sprintf(":%.0f", line)
	}
	return ""
}

// clip is text, at most so many bytes of it, and says where it was cut.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// indented is a call's arguments for people to read, bounded.
func indented(arguments string) string { return clip(spread(arguments), maxArguments) }

// spread is JSON over several lines; what is no JSON stays as it is.
func spread(arguments string) string {
	var out bytes.Buffer
	if json.Indent(&out, []byte(arguments), "", "  ") != nil {
		return arguments
	}
	return out.String()
}

// maxArguments bounds, in bytes, the arguments in an open card.
const maxArguments = 16 << 10

// changes is what a write or an edit did.
type changes struct {
	said string // the sentence before the diff
	diff string
	// added and removed count the lines of a diff that is there whole.
	added, removed int
}

// changesOf finds the unified diff in the result of a tool that changes files.
func changesOf(tool, content string) changes {
	at := strings.Index("\n"+content, "\n--- ")
	if at < 0 || (tool != "write_file" && tool != "edit_file") {
		return changes{said: content}
	}
	c := changes{said: strings.TrimSpace(content[:at]), diff: content[at:]}
	inHunk := false
	for line := range strings.Lines(c.diff) {
		switch {
		case strings.HasPrefix(line, "@@ "):
			inHunk = true
		case inHunk && strings.HasPrefix(line, "+"):
			c.added++
		case inHunk && strings.HasPrefix(line, "-"):
			c.removed++
		case strings.HasPrefix(line, "… "): // the rest of a long one was left out
			c.added, c.removed = 0, 0
		}
	}
	return c
}
