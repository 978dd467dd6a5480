package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The keys under which a mended answer tells of itself in _meta.
const (
	unreadKey  = "offcut/unread"  // of an item that stands for one that cannot be read
	carriedKey = "offcut/carried" // of an answer: what is no Unicode in it is carried
	largeKey   = "offcut/large"   // of an answer: it has the place of a large one
)

// mended is a message as the library takes it without loss. The library decodes
// an answer of a tool whole or not at all, its numbers as floats, and replaces
// what is no Unicode without a word. So an item that it cannot read is replaced
// by a text that says so, a structured result by a string of its own JSON, and
// what is no Unicode is carried. Every other message is left as it is. An answer
// that is large is told to be so.
func mended(message []byte, large bool) (out []byte, answer bool) {
	if !bytes.Contains(message, []byte(`"content"`)) && !bytes.Contains(message, []byte(`"structuredContent"`)) {
		return message, false
	}
	var whole, result map[string]json.RawMessage
	if json.Unmarshal(message, &whole) != nil || json.Unmarshal(whole["result"], &result) != nil {
		return message, false
	}
	content, structured := result["content"], result["structuredContent"]
	if content == nil && structured == nil {
		return message, false
	}
	own := map[string]bool{}
	if large {
		own[largeKey] = true
	}
	if carries(content, true) || carries(structured, false) {
		content, structured = carried(content, true), carried(structured, false)
		result["content"], own[carriedKey] = content, true
	}
	if len(own) > 0 {
		result["_meta"] = raw(own)
	}
	if structured != nil && string(structured) != "null" {
		result["structuredContent"] = raw(string(structured))
	}
	if content != nil && readable(content) != nil {
		result["content"] = raw(mendedItems(content))
	}
	whole["result"] = raw(result)
	return raw(whole), true
}

// raw is a value as JSON. The values here can all be written.
func raw(value any) json.RawMessage {
	written, _ := plainJSON(value)
	return written
}

// readable is nil for the content of an answer that the library can read.
func readable(content json.RawMessage) error {
	return new(sdk.CallToolResult).UnmarshalJSON(raw(map[string]json.RawMessage{"content": content}))
}

// mendedItems are the items of an answer, one by one.
func mendedItems(content json.RawMessage) []json.RawMessage {
	var items []json.RawMessage
	if json.Unmarshal(content, &items) != nil {
		items = []json.RawMessage{content} // some servers send a single one
	}
	for i, item := range items {
		if err := readable(raw([]json.RawMessage{item})); err != nil {
			items[i] = raw(map[string]any{"type": "text", "text": unread(item, err), "_meta": map[string]bool{unreadKey: true}})
		}
	}
	return items
}

// unread says of an item what it was, and why it is not there as such: it is
// there as its JSON, of which nothing is lost.
func unread(item json.RawMessage, err error) string {
	var of struct {
		Type     string
		MIMEType string
		Resource struct{ URI, MIMEType string }
	}
	_ = json.Unmarshal(item, &of) // as far as it goes
	what := flat(of.Type)
	if what == "" {
		what = "item"
	}
	for _, more := range []string{of.Resource.URI, of.MIMEType, of.Resource.MIMEType} {
		if more != "" {
			what += ", " + flat(more)
		}
	}
	why := "it is not as the protocol has it"
	var corrupt base64.CorruptInputError
	if errors.As(err, &corrupt) {
		why = fmt.Sprintf("its data are no base64 (byte %d of them)", int64(corrupt))
	}
	return fmt.Sprintf("[%s, not read: %s]\n%s", what, why, item)
}

const unitBytes = len(`\u0000`)

// unit is the unit of UTF-16 that is escaped at the beginning of a text; -1:
// none is.
func unit(text []byte) rune {
	if len(text) < unitBytes || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	value, err := strconv.ParseUint(string(text[2:unitBytes]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(value)
}
