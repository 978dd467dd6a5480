package mcp

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// repeats reports whether the texts of an answer say what its structured result
// does. Servers send both, for clients that know one of them; many put a result
// that is no object into one, as its only member.
func repeats(structured string, texts []string) bool {
	value, ok := exact(structured)
	if !ok || len(texts) == 0 {
		return false
	}
	if object, ok := value.(map[string]any); ok && len(object) == 1 {
		for _, only := range object {
			if say(texts, only) {
				return true
			}
		}
	}
	return say(texts, value)
}

// say reports whether texts are a value, or one by one its elements.
func say(texts []string, value any) bool {
	if len(texts) == 1 && says(texts[0], value) {
		return true
	}
	elements, ok := value.([]any)
	if !ok || len(elements) != len(texts) {
		return false
	}
	for i, element := range elements {
		if !says(texts[i], element) {
			return false
		}
	}
	return true
}

// says reports whether a text is a value: itself, or its JSON.
func says(text string, value any) bool {
	if text == value {
		return true
	}
	said, ok := exact(text)
	return ok && reflect.DeepEqual(said, value)
}

// exact is the value of a JSON text, its numbers as they are written.
func exact(text string) (value any, ok bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	err := decoder.Decode(&value)
	return value, err == nil && !decoder.More()
}

// compact is a JSON text on one line, its characters as they are where they were
// escaped without need: models read it. Its numbers and the order of its members
// stay.
func compact(text string) string {
	var line bytes.Buffer
	if json.Compact(&line, []byte(text)) != nil {
		return text
	}
	rest, out := line.Bytes(), make([]byte, 0, line.Len())
	for {
		at := bytes.IndexByte(rest, '\\')
		if at < 0 || at+1 == len(rest) {
			return string(append(out, rest...))
		}
		out, rest = append(out, rest[:at]...), rest[at:]
		c, size := escaped(rest)
		if unicode.IsPrint(c) && c != '"' && c != '\\' {
			out = utf8.AppendRune(out, c)
		} else {
			out = append(out, rest[:size]...)
		}
		rest = rest[size:]
	}
}

// escaped is the character that is escaped at the beginning of a text by its
// number, and the length of the escape; -1: it is escaped otherwise, or is half
// a one.
func escaped(text []byte) (rune, int) {
	first := unit(text)
	if first < 0 {
		return -1, len(`\n`)
	}
	if pair := utf16.DecodeRune(first, unit(text[unitBytes:])); pair != utf8.RuneError {
		return pair, 2 * unitBytes
	}
	if utf16.IsSurrogate(first) {
		return -1, unitBytes
	}
	return first, unitBytes
}
