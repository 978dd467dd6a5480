package agent

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRecoverTruncatedJSON(t *testing.T) {
	for _, test := range []struct {
		name, text, want string
		cut              Cut
	}{
		{"whole", `{"a":1}`, `{"a":1}`, CutNone},
		{"in a string", `{"path":"a.txt","content":"hel`, `{"path":"a.txt","content":"hel"}`, CutString},
		{"an empty string just begun", `{"content":"`, `{"content":""}`, CutString},
		{"behind a whole string", `{"content":"x"`, `{"content":"x"}`, CutAfter},
		{"behind an opening brace", `{`, `{}`, CutAfter},
		{"in nested objects", `{"a":{"b":{"c":"d`, `{"a":{"b":{"c":"d"}}}`, CutString},
		{"a number stays as it stands", `{"limit":12`, `{"limit":12}`, CutNumber},
		{"behind a number and a space", `{"limit":12 `, `{"limit":12 }`, CutAfter},
		{"behind a whole literal", `{"all":true`, `{"all":true}`, CutAfter},
		{"behind a closed array", `{"a":[1,2]`, `{"a":[1,2]}`, CutAfter},
		{"half an escape", `{"a":"x\`, `{"a":"x"}`, CutString},
		{"a whole escape", `{"a":"x\n`, `{"a":"x\n"}`, CutString},
		{"an escaped backslash", `{"a":"x\\`, `{"a":"x\\"}`, CutString},
		{"half a unicode escape", `{"a":"x\u00e`, `{"a":"x"}`, CutString},
		{"a whole unicode escape", `{"a":"x\u00e9`, `{"a":"x\u00e9"}`, CutString},
		{"the first half of a pair", `{"a":"x\ud83d`, `{"a":"x"}`, CutString},
		{"a pair and a half", `{"a":"x\ud83d\ude`, `{"a":"x"}`, CutString},
		{"a whole pair", `{"a":"x\ud83d\ude00`, `{"a":"x\ud83d\ude00"}`, CutString},
		{"a lone half long before the cut", `{"a":"\ud83dxy\`, `{"a":"\ud83dxy"}`, CutString},
		{"half a character behind which an escape begins", "{\"a\":\"x\xf0\x9f\\", "{\"a\":\"x\xf0\x9f\"}", CutString},
		{"space before the object", "\n {\"a\":\"x", "\n {\"a\":\"x\"}", CutString},
		{"brackets within a string", `{"a":"[{\"`, `{"a":"[{\""}`, CutString},
		{"half a character", "{\"a\":\"x\xf0\x9f", `{"a":"x"}`, CutString},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, cut, ok := RecoverTruncatedJSON(test.text)
			if !ok || got != test.want || cut != test.cut {
				t.Errorf("RecoverTruncatedJSON(%q) = %q, %q, %v; want %q, %q", test.text, got, cut, ok, test.want, test.cut)
			}
		})
	}
}

func TestRecoverTruncatedJSONNeverGuesses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                 ``,
		"no object":               `"text`,
		"an open array":           `{"commands":["a","b"`,
		"a string in an array":    `{"commands":["a","b`,
		"an object in an array":   `{"edits":[{"a":"b"`,
		"a key":                   `{"pat`,
		"a key without a colon":   `{"path"`,
		"behind a colon":          `{"path":`,
		"behind a comma":          `{"path":"a",`,
		"a literal":               `{"all":tru`,
		"a lone minus":            `{"n":-`,
		"a number with no digits": `{"n":1.`,
		"an exponent":             `{"n":1e`,
		"not JSON":                `{path: "a"`,
		"text behind the object":  `{"a":1} and`,
		"a second object":         `{"a":1}{"b":"c`,
		"an escape that is none":  `{"a":"x\u00z`,
		"an end that is not its":  `{"a":"x"]`,
		"a raw line break":        "{\"a\":\"x\ny",
	} {
		t.Run(name, func(t *testing.T) {
			if got, cut, ok := RecoverTruncatedJSON(text); ok {
				t.Errorf("RecoverTruncatedJSON(%q) = %q, %q; want a refusal", text, got, cut)
			}
		})
	}
}

// Each beginning of a real call is either refused or completed to what parses
// and begins with it.
func TestRecoverTruncatedJSONAtEveryPosition(t *testing.T) {
	for name, whole := range map[string]string{
		"write":   `{"path":"src/übung.go","content":"package a\n\nfunc f() string {\n\treturn \"\\u00e9\ud83d\ude00😀\"\n}\n"}`,
		"edit":    `{"path":"a.txt","old_string":"one\ttwo","new_string":"three","replace_all":true}`,
		"command": `{"command":"rm -rf build/tmp && echo \"done\"","timeout_s":120}`,
		"nested":  `{"filter":{"and":{"from":-1.5e10,"names":["a","b"],"to":null}},"n":7}`,
	} {
		t.Run(name, func(t *testing.T) {
			for end := range len(whole) {
				checkRecovery(t, whole[:end])
			}
		})
	}
}

func checkRecovery(t *testing.T, text string) {
	t.Helper()
	got, cut, ok := RecoverTruncatedJSON(text)
	if !ok {
		return
	}
	if !json.Valid([]byte(got)) {
		t.Fatalf("RecoverTruncatedJSON(%q) = %q, which does not parse", text, got)
	}
	shared := 0
	for shared < min(len(text), len(got)) && text[shared] == got[shared] {
		shared++
	}
	dropped, added := text[shared:], got[shared:]
	half := dropped == "" || dropped[0] == '\\' || dropped[0] >= utf8.RuneSelf
	if !half || len(dropped) >= 2*unicodeEscape || strings.Trim(strings.TrimPrefix(added, `"`), "}") != "" {
		t.Fatalf("RecoverTruncatedJSON(%q) = %q, which is no completion of it", text, got)
	}
	if whole := json.Valid([]byte(text)); whole != (cut == CutNone) {
		t.Fatalf("RecoverTruncatedJSON(%q) says the cut is %q", text, cut)
	}
	if open := scanOpen(text); open.array {
		t.Fatalf("RecoverTruncatedJSON(%q) = %q closed an array", text, got)
	}
}

func FuzzRecoverTruncatedJSON(f *testing.F) {
	for _, seed := range []string{`{"a":"b\ud83d\ude00`, `{"a":{"b":12`, `{"a":["`, `{"a":"\\\u00`} {
		f.Add(seed)
	}
	f.Fuzz(checkRecovery)
}
