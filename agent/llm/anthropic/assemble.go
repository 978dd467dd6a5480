package anthropic

import (
	"strings"

	anthropic "github.com/anthropics/anthropic-sdk-go/v2"

	"offcut/agent"
	"offcut/agent/llm"
	"offcut/models"
)

// assembler puts the blocks of a reply together and passes them on as they
// come.
type assembler struct {
	emit    func(agent.Delta)
	outline outline

	blocks    []*block
	byIndex   map[int64]*block
	content   strings.Builder
	reasoning strings.Builder
	calls     int

	reason  anthropic.StopReason
	finish  models.FinishReason
	stopped bool // the provider has said that nothing more comes
	usage   models.Usage
	model   string
}

// block is one block of a reply, as far as it came.
type block struct {
	part
	end       llm.Joiner      // half a character that waits for the next piece
	id, name  string          // of a call
	call      int             // its place among the calls
	arguments strings.Builder // of a call, as the fragments came
	input     string          // of a call that came whole; empty: it did not
}

func newAssembler(o outline, emit func(agent.Delta)) *assembler {
	if emit == nil {
		emit = func(agent.Delta) {}
	}
	return &assembler{emit: emit, outline: o, byIndex: map[int64]*block{}}
}

// add takes one event. What it does not know is passed over: the API may send
// new events at any time.
func (a *assembler) add(e anthropic.MessageStreamEventUnion) {
	switch e.Type {
	case "message_start":
		a.model = e.Message.Model
		u := e.Message.Usage
		a.count(u.InputTokens, u.CacheCreationInputTokens, u.CacheReadInputTokens, u.OutputTokens, u.OutputTokensDetails.ThinkingTokens)
	case "content_block_start":
		a.open(e.Index, e.ContentBlock)
	case "content_block_delta":
		if b := a.byIndex[e.Index]; b != nil {
			a.grow(b, e.Delta)
		}
	case "content_block_stop":
		if b := a.byIndex[e.Index]; b != nil {
			a.extend(b, b.end.Rest())
		}
	case "message_delta":
		if e.Delta.StopReason != "" {
			a.reason, a.finish = e.Delta.StopReason, finishReason(e.Delta.StopReason)
		}
		u := e.Usage
		a.count(u.InputTokens, u.CacheCreationInputTokens, u.CacheReadInputTokens, u.OutputTokens, u.OutputTokensDetails.ThinkingTokens)
	case "message_stop":
		a.stopped = true
	}
}

// count takes figures of usage, which are sums so far; some are reported at the
// start, some at the end, some at both. The API counts input that it wrote to
// its cache, or read from there, apart.
func (a *assembler) count(input, written, read, output, thinking int64) {
	a.usage.InputTokens = max(a.usage.InputTokens, input+written+read)
	a.usage.CachedTokens = max(a.usage.CachedTokens, read)
	a.usage.OutputTokens = max(a.usage.OutputTokens, output)
	a.usage.ReasoningTokens = max(a.usage.ReasoningTokens, thinking)
}

func (a *assembler) open(index int64, start anthropic.ContentBlockStartEventContentBlockUnion) {
	b := &block{part: part{Type: start.Type}}
	switch start.Type {
	case partText:
		a.extend(b, start.Text)
	case partThinking:
		a.extend(b, start.Thinking)
		b.Signature = start.Signature
	case partRedacted:
		b.Data = start.Data
	case partCall:
		b.id, b.name, b.call, b.input = start.ID, start.Name, a.calls, start.JSON.Input.Raw()
		a.calls++
		a.emit(agent.Delta{Call: &agent.CallDelta{Index: b.call, Name: b.name}})
	default:
		return
	}
	a.blocks = append(a.blocks, b)
	a.byIndex[index] = b
}

func (a *assembler) grow(b *block, d anthropic.MessageStreamEventUnionDelta) {
	switch {
	case b.Type == partText && d.Type == "text_delta":
		a.extend(b, b.end.Add(llm.KeepHalves(d.JSON.Text.Raw(), d.Text)))
	case b.Type == partThinking && d.Type == "thinking_delta":
		a.extend(b, b.end.Add(llm.KeepHalves(d.JSON.Thinking.Raw(), d.Thinking)))
	case b.Type == partThinking && d.Type == "signature_delta":
		b.Signature += d.Signature
	case b.Type == partCall && d.Type == "input_json_delta":
		a.extend(b, b.end.Add(llm.KeepHalves(d.JSON.PartialJSON.Raw(), d.PartialJSON)))
	}
}

// extend adds a piece to a block of any type.
func (a *assembler) extend(b *block, piece string) {
	if piece == "" {
		return
	}
	switch b.Type {
	case partText:
		a.say(b, piece)
	case partThinking:
		a.think(b, piece)
	case partCall:
		b.arguments.WriteString(piece)
		a.emit(agent.Delta{Call: &agent.CallDelta{Index: b.call, Name: b.name, Arguments: piece}})
	}
}

// say adds to the text. Blocks of it are paragraphs.
func (a *assembler) say(b *block, said string) {
	b.Length += len(said)
	a.emit(agent.Delta{Text: joined(&a.content, b, said, textBreak)})
}

// think adds to the reasoning.
func (a *assembler) think(b *block, thought string) {
	b.Length += len(thought)
	a.emit(agent.Delta{Reasoning: joined(&a.reasoning, b, thought, models.ThoughtBreak)})
}

// joined appends a piece of a block to what the blocks of its kind say, and
// returns what it appended. b has grown by the piece already.
func joined(whole *strings.Builder, b *block, piece, gap string) string {
	if b.Length == len(piece) && whole.Len() > 0 {
		piece = gap + piece
	}
	whole.WriteString(piece)
	return piece
}

// finished reports whether the provider has said why the reply ended.
func (a *assembler) finished() bool { return a.finish != "" }

// began reports whether anything of the reply has come.
func (a *assembler) began() bool { return a.content.Len() > 0 || a.reasoning.Len() > 0 || a.calls > 0 }

// reply is what has come.
func (a *assembler) reply() agent.Reply {
	for _, b := range a.blocks {
		a.extend(b, b.end.Rest())
	}
	finish := a.finish
	if finish == models.FinishStop && a.calls > 0 {
		finish = models.FinishToolCalls
	}
	return agent.Reply{
		Content:       a.content.String(),
		Reasoning:     a.reasoning.String(),
		ReasoningData: a.outline.data(a.blocks),
		ToolCalls:     a.toolCalls(finish != "" && finish != models.FinishLength),
		FinishReason:  finish,
		Usage:         a.usage,
		Model:         a.model,
	}
}

// toolCalls are the calls as far as they came. Of a whole reply, a call without
// arguments is a call with none; of a cut one, they were lost.
func (a *assembler) toolCalls(whole bool) []models.ToolCall {
	var out []models.ToolCall
	for _, b := range a.blocks {
		if b.Type != partCall {
			continue
		}
		arguments := b.arguments.String()
		// The API begins each call with {} and sends the arguments after it;
		// servers that imitate it send them there.
		if strings.TrimSpace(arguments) == "" && (whole || len(b.input) > len("{}")) {
			arguments = b.input
		}
		if whole && strings.TrimSpace(arguments) == "" {
			arguments = "{}"
		}
		out = append(out, models.ToolCall{ID: b.id, Name: b.name, Arguments: arguments})
	}
	return out
}

// finishReason is the field's own word for why a reply ended.
func finishReason(reason anthropic.StopReason) models.FinishReason {
	switch reason {
	case anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence:
		return models.FinishStop
	case anthropic.StopReasonToolUse:
		return models.FinishToolCalls
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		return models.FinishLength
	case anthropic.StopReasonRefusal:
		return models.FinishContentFilter
	}
	return models.FinishReason(reason)
}

// brokeOff is why a reply is not finished although the provider ended it in
// order; nil where it is, or hit the bound that it was sent. To be asked at once
// to go on helps neither: a full window has no room for more, and a pause is the
// provider's wish.
func (a *assembler) brokeOff() error {
	switch a.reason {
	case anthropic.StopReasonModelContextWindowExceeded:
		return &agent.ModelError{
			Code: models.CodeContextOverflow, Broken: true,
			Message: "The model's context window was full before the answer was finished.",
		}
	case anthropic.StopReasonPauseTurn:
		return &agent.ModelError{
			Code: models.CodeStreamBroken, Broken: true,
			Message: "The model's server paused the answer before it was finished.",
		}
	}
	return nil
}
