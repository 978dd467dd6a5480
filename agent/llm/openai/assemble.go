package openai

import (
	"strings"

	"offcut/agent"
	"offcut/agent/llm"
	"offcut/models"
)

// assembler puts the pieces of a reply together and passes them on as they
// come.
type assembler struct {
	emit      func(agent.Delta)
	content   strings.Builder
	reasoning strings.Builder
	// The halves of characters that wait for the next piece.
	contentEnd, reasoningEnd llm.Joiner

	calls  callList
	finish models.FinishReason
	usage  models.Usage
	model  string
}

func newAssembler(emit func(agent.Delta)) *assembler {
	if emit == nil {
		emit = func(agent.Delta) {}
	}
	return &assembler{emit: emit}
}

// add takes one event.
func (a *assembler) add(raw []byte) error {
	c, err := decodeChunk(raw)
	if c.Model != "" {
		a.model = c.Model
	}
	if err != nil {
		return err
	}
	if c.Usage != nil {
		a.usage = c.Usage.usage()
	}
	for _, choice := range c.Choices {
		// One answer is asked for. A server that sends more is not followed.
		if choice.Index != 0 {
			continue
		}
		if err := a.addChoice(choice); err != nil {
			return err
		}
	}
	return nil
}

func (a *assembler) addChoice(c choice) error {
	a.addPiece(c.Delta)
	a.addPiece(c.Message)
	if isSet(c.Error) {
		return llm.NewProviderError(c.Error)
	}
	if c.FinishReason == "" {
		return nil
	}
	reason := finishReason(c.FinishReason)
	if reason == "error" {
		return llm.NewProviderError([]byte(`"it ended the answer with finish_reason error"`))
	}
	a.finish = reason
	return nil
}

func (a *assembler) addPiece(p piece) {
	a.think(a.reasoningEnd.Add(p.reasoning()))
	a.say(a.contentEnd.Add(string(p.Content + p.Refusal)))
	for _, f := range p.ToolCalls {
		delta := a.calls.add(f)
		a.emit(agent.Delta{Call: &delta})
	}
}

func (a *assembler) think(thought string) {
	if thought != "" {
		a.reasoning.WriteString(thought)
		a.emit(agent.Delta{Reasoning: thought})
	}
}

func (a *assembler) say(said string) {
	if said != "" {
		a.content.WriteString(said)
		a.emit(agent.Delta{Text: said})
	}
}

// finished reports whether the provider has said why the reply ended.
func (a *assembler) finished() bool { return a.finish != "" }

// began reports whether anything of the reply has come.
func (a *assembler) began() bool {
	return a.content.Len() > 0 || a.reasoning.Len() > 0 || len(a.calls.calls) > 0
}

// reply is what has come.
func (a *assembler) reply() agent.Reply {
	a.think(a.reasoningEnd.Rest())
	a.say(a.contentEnd.Rest())
	finish := a.finish
	if finish == models.FinishStop && len(a.calls.calls) > 0 {
		finish = models.FinishToolCalls // some servers say stop after a tool call
	}
	whole := finish != "" && finish != models.FinishLength
	return agent.Reply{
		Content:      a.content.String(),
		Reasoning:    a.reasoning.String(),
		ToolCalls:    a.calls.toolCalls(whole),
		FinishReason: finish,
		Usage:        a.usage,
		Model:        a.model,
	}
}
