package retain

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"offcut/agent"
	"offcut/models"
)

// Keeper shows results as previews and keeps what they leave out.
type Keeper struct {
	store Store
	cfg   Config
}

// NewKeeper makes a Keeper.
func NewKeeper(store Store, cfg Config) *Keeper { return &Keeper{store: store, cfg: cfg} }

// Wrap makes a tool's results bounded: what is over the budget is kept and
// shown as a preview. Tools that bound their results themselves, and results
// that were kept already, pass as they are.
func (k *Keeper) Wrap(t agent.Tool) agent.Tool { return keptTool{t, k} }

type keptTool struct {
	agent.Tool
	keeper *Keeper
}

func (t keptTool) Run(ctx context.Context, call agent.Call) (agent.ToolResult, error) {
	result, err := t.Tool.Run(ctx, call)
	if call.Parent == "" {
		result = result.Said()
	}
	kept := result.Metadata.Retention == models.RetentionKept || result.Metadata.Retention == models.RetentionFailed
	switch {
	case err != nil || t.Spec().Whole || kept:
		return result, err
	case call.Parent != "":
		return t.keeper.keepBeside(ctx, call, result), nil
	}
	return t.keeper.keep(ctx, call, result), nil
}

// keep bounds an ordinary tool's result.
func (k *Keeper) keep(ctx context.Context, call agent.Call, result agent.ToolResult) agent.ToolResult {
	budget := k.cfg.budget(call, ResultPreviewBytes)
	content := []byte(result.Content[:min(len(result.Content), sampleBytes)])
	if result.Original == nil && len(result.Content) <= budget.bytes() && utf8.ValidString(result.Content) && !isBinary(content, true) {
		result.Metadata.IsError = result.IsError
		result.Metadata.Retention = uncopied(result.Metadata)
		if result.Metadata.OmittedBytes != nil {
			result.Metadata.Passage = lacking(models.Ptr(models.Whole(int64(len(result.Content)))), result.Metadata)
		}
		return result
	}
	shape := previewShape{budget: budget.bytes(), keep: budget.keep, code: isSource(argument(call.Arguments, "path"))}
	meta := result.Metadata
	meta.IsError = result.IsError
	saver := k.saverOf(call, result)
	return k.result(ctx, saver, outcome{call: call, budget: budget, shape: shape, meta: meta})
}

// keepBeside keeps a copy of a result that goes to a tool, where it, or what it
// was made of, is over what a model would be shown of a command, and where bytes
// of it were replaced. The result stays as it is, but for that and for what is
// said of the copy.
func (k *Keeper) keepBeside(ctx context.Context, call agent.Call, result agent.ToolResult) agent.ToolResult {
	needed := len(result.Content) > CommandPreviewBytes || !utf8.ValidString(result.Content)
	if result.Original != nil {
		needed = needed || len(result.Original.Bytes) > CommandPreviewBytes || result.Metadata.ReplacedBytes > 0
	}
	if !needed {
		result.Original = nil
		result.Metadata.Retention = uncopied(result.Metadata)
		return result
	}
	s := k.saverOf(call, result)
	budget := k.cfg.budget(call, CommandPreviewBytes)
	said := models.ResultMetadata{Complete: result.Metadata.Complete, RetentionError: result.Metadata.RetentionError}
	meta := k.result(ctx, s, outcome{call: call, budget: budget, shape: previewShape{budget: CommandPreviewBytes}, meta: said}).Metadata
	result.Original = nil // it is kept
	own := &result.Metadata
	var replacer Replacer
	result.Content = string(replacer.Flush(replacer.Append(nil, []byte(result.Content))))
	own.ReplacedBytes += replacer.Replaced
	own.Retention, own.RetentionError, own.OutputID = meta.Retention, meta.RetentionError, meta.OutputID
	own.TotalBytes, own.Complete = meta.TotalBytes, meta.Complete
	own.Passage = models.Ptr(models.Whole(int64(len(result.Content)))) // the tool is given all of it
	return result
}

// uncopied is the retention of a result of which no copy is needed. A tool that
// could not store a part of it itself, such as a file, has said why.
func uncopied(said models.ResultMetadata) models.Retention {
	if said.RetentionError != "" {
		return models.RetentionFailed
	}
	return models.RetentionNotNeeded
}

// unstored is how many bytes a tool says it produced and could not store.
func unstored(said models.ResultMetadata) int64 {
	if said.OmittedBytes == nil {
		return 0
	}
	return *said.OmittedBytes
}

// lacking is a passage with what the tool itself could not store.
func lacking(p *models.Passage, said models.ResultMetadata) *models.Passage {
	p.Produced += unstored(said)
	p.Captured += unstored(said)
	return p
}

// saverOf saves what an ordinary tool returned. Its title is what the tool was
// asked for.
func (k *Keeper) saverOf(call agent.Call, result agent.ToolResult) *saver {
	title := cmp.Or(argument(call.Arguments, "path"), argument(call.Arguments, "url"), argument(call.Arguments, "filter"))
	s := k.newSaver(captureText(result.Content), call, title)
	s.original, s.replaced = result.Original, result.Metadata.ReplacedBytes
	return s
}

// argument is a string among a call's arguments, or empty.
func argument(arguments json.RawMessage, name string) string {
	var object map[string]json.RawMessage
	var text string
	if json.Unmarshal(arguments, &object) != nil || json.Unmarshal(object[name], &text) != nil {
		return ""
	}
	return text
}

// maxTitle bounds the title of a copy, in bytes.
const maxTitle = 500

func (k *Keeper) newSaver(c *Capture, call agent.Call, title string) *saver {
	if len(title) > maxTitle {
		title = title[:floorRune([]byte(title), maxTitle)]
	}
	return &saver{store: k.store, capture: c, kept: call.Kept, row: models.RetainedOutput{
		ID:        models.NewID(models.PrefixOutput),
		SessionID: call.SessionID,
		TurnID:    call.TurnID,
		CallID:    call.ID,
		Tool:      call.Tool,
		Title:     title,
		Running:   true,
		CreatedAt: k.cfg.now(),
	}, now: k.cfg.now}
}

// An outcome is what is known of a result beside what was captured.
type outcome struct {
	call   agent.Call
	budget budget
	shape  previewShape
	end    Ending
	meta   models.ResultMetadata
	// printed: it is what a program printed, and says so where that was nothing.
	printed bool
}

// result makes the result of what was captured: the preview, the copy where it
// is needed, and the figures of both.
func (k *Keeper) result(ctx context.Context, s *saver, o outcome) agent.ToolResult {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	d := s.capture.draft(o)
	meta := d.describe(o)
	if s.original == nil && !d.needsCopy(s.created, o.end) {
		// A running copy that cannot be removed is ended at the next start.
		_ = s.drop(ctx)
		meta.Retention, meta.Passage = uncopied(o.meta), lacking(d.passage(needless), o.meta)
		return answer(o.call, meta, d.body(k.cfg, s.row.ID, o, true))
	}
	missing := unstored(o.meta)
	meta.CapturedBytes = models.Ptr(d.captured() + missing)
	partial := o.meta.Complete != nil && !*o.meta.Complete // as the tool itself says
	complete := d.sum.complete() && o.end != Stopped && !partial
	s.row.SHA256 = d.sha256
	if err := s.finish(ctx, d.layout, d.sum, complete); err != nil {
		_ = s.drop(ctx)
		meta.Retention, meta.RetentionError = models.RetentionFailed, saveError(err)
		meta.Passage = lacking(d.passage(lost), o.meta)
		return answer(o.call, meta, d.body(k.cfg, "", o, false))
	}
	meta.Retention = models.RetentionKept
	meta.OutputID = s.row.ID
	meta.TotalBytes = models.Ptr(d.sum.total)
	meta.OmittedBytes = models.Ptr(d.sum.omitted + missing)
	meta.Complete = models.Ptr(complete)
	meta.Shown = d.shown()
	meta.Passage = lacking(d.passage(copied), o.meta)
	return answer(o.call, meta, d.body(k.cfg, s.row.ID, o, true))
}

func answer(call agent.Call, meta models.ResultMetadata, body string) agent.ToolResult {
	return agent.ToolResult{ToolCallID: call.ID, Content: body, IsError: meta.IsError, Metadata: meta}
}

// saveError says why a copy was not stored, without a word of the database's
// own.
func saveError(err error) string {
	var known *models.Error
	switch {
	case errors.As(err, &known):
		return known.Message
	case errors.Is(err, models.ErrTooLarge):
		return "the storage of this session's owner is used up"
	case errors.Is(err, context.DeadlineExceeded):
		return "the database did not take the copy in time"
	}
	return "the copy could not be written to the database"
}
