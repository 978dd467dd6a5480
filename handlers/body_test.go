package handlers

import (
	"errors"
	"testing"
	"unicode/utf8"

	"offcut/models"
)

func TestHalvesOfSurrogatePairsAreFound(t *testing.T) {
	for _, tt := range []struct {
		json string
		want bool
	}{
		{`"plain"`, false},
		{`"\ud83d\ude00"`, false},
		{`"\uD83D\uDE00 and \ud83d\ude01"`, false},
		{`"\\ud800"`, false},
		{`"\\\\ud800"`, false},
		{`"\u00e9\n\"\\"`, false},
		{`"\ud800"`, true},
		{`"\uDfFf"`, true},
		{`"\ud800\ud800"`, true},
		{`"\ud800x"`, true},
		{`"\ud800\n"`, true},
		{`"\ud83d\u0041"`, true},
		{`"\ude00\ud83d"`, true},
		{`"\\\ud800"`, true},
		{`{"a":["b",{"\ud800":1}]}`, true},
	} {
		if got := hasLoneSurrogate([]byte(tt.json)); got != tt.want {
			t.Errorf("hasLoneSurrogate(%s) = %v, want %v", tt.json, got, tt.want)
		}
	}
}

// FuzzDecodeJSON holds decodeJSON to its promise: it never panics, and what it
// lets through holds no replacement that the sender did not write.
func FuzzDecodeJSON(f *testing.F) {
	for _, seed := range []string{`{"a":"b"}`, `{"a":"\ud800"}`, `{"a":"\ud83d\ude00"}`, "{\"a\":\"\xff\"}", `null`, `[`, `{"a":"\\u"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var v struct{ A string }
		err := decodeJSON(body, &v)
		if err != nil {
			if !errors.Is(err, models.ErrMalformed) && !errors.Is(err, models.ErrInvalid) {
				t.Errorf("decodeJSON(%q): %v", body, err)
			}
			return
		}
		if !utf8.ValidString(v.A) {
			t.Errorf("decodeJSON(%q) lets %q through", body, v.A)
		}
		for _, r := range v.A {
			if r == utf8.RuneError && !wroteReplacement(body) {
				t.Errorf("decodeJSON(%q) repaired to %q", body, v.A)
			}
		}
	})
}

// wroteReplacement reports whether body holds U+FFFD, as itself or escaped.
func wroteReplacement(body []byte) bool {
	for i := range body {
		if r, _ := utf8.DecodeRune(body[i:]); r == utf8.RuneError {
			return true
		}
		if i+6 <= len(body) && body[i] == '\\' && body[i+1] == 'u' && hex4(body[i+2:i+6]) == utf8.RuneError {
			return true
		}
	}
	return false
}
