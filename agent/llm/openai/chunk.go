package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"offcut/agent/llm"
	"offcut/models"
)

// chunk is one event of a stream, or one whole answer that was not streamed.
// It differs from go-openai's type where servers differ from OpenAI.
type chunk struct {
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
	// Object is "error" where the event itself is one, as older vLLM sends it.
	Object json.RawMessage `json:"object"`
}

type choice struct {
	Index        int             `json:"index"`
	Delta        piece           `json:"delta"`
	Message      piece           `json:"message"` // of an answer that was not streamed
	FinishReason string          `json:"finish_reason"`
	Error        json.RawMessage `json:"error"`
}

type piece struct {
	Content          text       `json:"content"`
	Refusal          text       `json:"refusal"`
	ReasoningContent text       `json:"reasoning_content"`
	Reasoning        text       `json:"reasoning"`
	ToolCalls        []fragment `json:"tool_calls"`
}

// reasoning is the model's thinking under whichever name it came. A server
// that sends both sends the same twice.
func (p piece) reasoning() string {
	if p.ReasoningContent != "" {
		return string(p.ReasoningContent)
	}
	return string(p.Reasoning)
}

// fragment is a part of a tool call.
type fragment struct {
	Index    *number `json:"index"`
	ID       word    `json:"id"`
	Function struct {
		Name      word      `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// number is a whole number, which some servers write as 1.0 or as text. What is
// none is 0, and no error: an answer is not lost for a count beside it.
type number int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(data []byte) error {
	if f, err := strconv.ParseFloat(strings.Trim(string(data), `"`), 64); err == nil && math.Abs(f) < 1<<53 {
		*n = number(f)
	}
	return nil
}

// word is a short string; a number in its place is its digits.
type word string

// UnmarshalJSON implements json.Unmarshaler.
func (w *word) UnmarshalJSON(data []byte) error {
	var s string
	var n json.Number
	switch {
	case json.Unmarshal(data, &s) == nil:
		*w = word(s)
	case json.Unmarshal(data, &n) == nil:
		*w = word(n)
	}
	return nil
}

// text is a string, null, or a list of parts that have a text.
type text string

// UnmarshalJSON implements json.Unmarshaler. What it does not know is no text
// and no error: an answer is not lost for a field beside it.
func (t *text) UnmarshalJSON(data []byte) error {
	switch {
	case plain(data):
		*t = text(data[1 : len(data)-1])
	case len(data) > 0 && data[0] == '"':
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		*t = text(llm.KeepHalves(string(data), s))
	case len(data) > 0 && data[0] == '[':
		var parts []struct {
			Text text `json:"text"`
		}
		if json.Unmarshal(data, &parts) == nil {
			var joined strings.Builder
			for _, p := range parts {
				joined.WriteString(string(p.Text))
			}
			*t = text(joined.String())
		}
	}
	return nil
}

// plain reports whether a valid JSON value is a string that stands as it is.
// Most pieces of an answer do, and are read a good deal faster.
func plain(data []byte) bool {
	return len(data) >= 2 && data[0] == '"' && bytes.IndexByte(data, '\\') < 0 && utf8.Valid(data)
}

// arguments is text that may come as a string, as it should, or as the JSON
// value itself.
type arguments string

// UnmarshalJSON implements json.Unmarshaler.
func (a *arguments) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		*a = arguments(llm.KeepHalves(string(data), s))
		return nil
	}
	if bytes.Equal(data, []byte("null")) {
		return nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return err
	}
	*a = arguments(compact.String())
	return nil
}

type usage struct {
	PromptTokens     number `json:"prompt_tokens"`
	CompletionTokens number `json:"completion_tokens"`
	CacheHitTokens   number `json:"prompt_cache_hit_tokens"` // DeepSeek's name
	PromptDetails    struct {
		CachedTokens number `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		ReasoningTokens number `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u usage) usage() models.Usage {
	return models.Usage{
		InputTokens:     int64(u.PromptTokens),
		OutputTokens:    int64(u.CompletionTokens),
		ReasoningTokens: int64(u.CompletionDetails.ReasoningTokens),
		CachedTokens:    int64(max(u.PromptDetails.CachedTokens, u.CacheHitTokens)),
	}
}

func decodeChunk(raw []byte) (chunk, error) {
	var c chunk
	if err := json.Unmarshal(raw, &c); err != nil {
		return chunk{}, fmt.Errorf("event of the stream: %w", err)
	}
	if isSet(c.Error) {
		return c, llm.NewProviderError(c.Error)
	}
	if string(c.Object) == `"error"` {
		return c, llm.NewProviderError(raw)
	}
	return c, nil
}

// isSet reports whether a field was there, with a value.
func isSet(field json.RawMessage) bool {
	return len(field) > 0 && !bytes.Equal(field, []byte("null"))
}

// finishReason is the field's own word for why a reply ended.
func finishReason(word string) models.FinishReason {
	switch word = strings.ToLower(word); word {
	case "max_tokens", "model_length":
		return models.FinishLength
	case "end_turn", "eos", "eos_token", "stop_sequence":
		return models.FinishStop
	case "function_call", "tool_use":
		return models.FinishToolCalls
	}
	return models.FinishReason(word)
}
