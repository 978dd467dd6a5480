package retain

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEachByteThatIsNoTextIsReplacedOnce(t *testing.T) {
	for in, tc := range map[string]struct {
		out      string
		replaced int64
	}{
		"":                     {"", 0},
		"aé漢😀":                 {"aé漢😀", 0},
		"\xff":                 {"\ufffd", 1},
		"\xe6\xbc":             {"\ufffd\ufffd", 2},
		"a\xe6\xbcb":           {"a\ufffd\ufffdb", 2},
		"\xf0\x9f\x98":         {"\ufffd\ufffd\ufffd", 3},
		"\xed\xa0\x80":         {"\ufffd\ufffd\ufffd", 3}, // a lone surrogate
		"\xc0\x80":             {"\ufffd\ufffd", 2},
		"\ufffd":               {"\ufffd", 0}, // was there before
		"\xe6\xbc\xe6\xbc\xa2": {"\ufffd\ufffd漢", 2},
	} {
		for n := 1; n <= len(in)+1; n++ {
			got, replaced := replaceIn(in, n)
			if got != tc.out || replaced != tc.replaced {
				t.Errorf("%q in chunks of %d is %q, %d replaced", in, n, got, replaced)
			}
		}
	}
}

func replaceIn(text string, n int) (string, int64) {
	var r Replacer
	var out []byte
	for rest := []byte(text); len(rest) > 0; {
		out = r.Append(out, rest[:min(n, len(rest))])
		rest = rest[min(n, len(rest)):]
	}
	return string(r.Flush(out)), r.Replaced
}

func FuzzReplace(f *testing.F) {
	f.Add("a\xe6\xbc\xffz😀\xf0\x9f", 2)
	f.Fuzz(func(t *testing.T, text string, n int) {
		got, replaced := replaceIn(text, max(1, n%100))
		var want strings.Builder
		var invalid int64
		for i := 0; i < len(text); {
			c, size := utf8.DecodeRuneInString(text[i:])
			if c == utf8.RuneError && size == 1 {
				invalid++
			}
			want.WriteRune(c)
			i += size
		}
		if got != want.String() || replaced != invalid {
			t.Fatalf("%q becomes %q with %d replaced, not %q with %d", text, got, replaced, want.String(), invalid)
		}
		if cost := textCost([]byte(text)); cost != int64(len(got)) {
			t.Fatalf("the cost of %q is %d", text, cost)
		}
	})
}
