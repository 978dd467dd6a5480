package retain

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// shownBy feeds text to a terminal in chunks of at most n bytes.
func shownBy(text string, n int) (*window, bool) {
	w := newWindow(1 << 20)
	term := &terminal{screen: w}
	var r Replacer
	var at int64
	for rest := []byte(text); len(rest) > 0; {
		chunk := r.Append(nil, rest[:min(n, len(rest))])
		term.write(chunk, at)
		at += int64(len(chunk))
		rest = rest[min(n, len(rest)):]
	}
	chunk := r.Flush(nil)
	term.write(chunk, at)
	term.close()
	return w, term.collapsed
}

func TestTheTerminalShowsWhatATerminalWould(t *testing.T) {
	for name, tc := range map[string]struct {
		in, out   string
		collapsed bool
	}{
		"plain":                        {"a\tb\nc", "a\tb\nc", false},
		"CRLF":                         {"a\r\nb\r\n", "a\nb\n", false},
		"CRCRLF":                       {"a\r\r\nb", "a\nb", false},
		"carriage return":              {"abc\rxy\n", "xyc\n", true},
		"carriage return at the end":   {"abc\r", "abc", false},
		"the same again":               {"abc\rabc\n", "abc\n", false},
		"progress":                     {"10%\r20%\r100%\ndone\n", "100%\ndone\n", true},
		"erased to the end":            {"long text\r\x1b[Kshort\n", "short\n", true},
		"erased to the screen's end":   {"long text\r\x1b[Jshort\n", "short\n", true},
		"cleared screen":               {"text\x1b[2J\n", "text\n", false},
		"erased line":                  {"long text\x1b[2K\rshort\n", "short\n", true},
		"erased to nothing":            {"gone\r\x1b[K", "", true},
		"erase after the end":          {"text\x1b[K\n", "text\n", false},
		"first column":                 {"10%\x1b[1G20%\n", "20%\n", true},
		"cursor left and right":        {"abc\x1b[2DX\x1b[CY\n", "aXcY\n", true},
		"backspace":                    {"ab\bc\n", "ac\n", true},
		"backspace, blank, backspace":  {"a*\b \b\n", "a \n", true},
		"backspace at the start":       {"\b\ba\n", "a\n", false},
		"overstruck bold":              {"N\bNA\bA\n", "NA\n", false},
		"colours":                      {"\x1b[1;38;2;200;0;0mX\x1b[0m", "X", false},
		"private mode":                 {"\x1b[?25lX\x1b[?25h", "X", false},
		"title, by bell":               {"\x1b]0;title\x07X", "X", false},
		"link, by string terminator":   {"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link", false},
		"device control":               {"\x1bPq#0;2;0\x1b\\X", "X", false},
		"character sets":               {"\x1b(B\x1b)0X", "X", false},
		"single shift":                 {"\x1bOAX", "X", false},
		"keypad, save, restore":        {"\x1b=\x1b7X\x1b8\x1b>", "X", false},
		"never terminated":             {"\x1b]0;title\nnext\n", "\nnext\n", false},
		"cut at the end":               {"X\x1b[3", "X", false},
		"escape in escape":             {"\x1b[3\x1b[1mX", "X", false},
		"not a sequence":               {"\x1bé", "é", false},
		"in the middle of a character": {"\x1b[é", "é", false},
		"C1 controls":                  {"a\u0085b\u009b31mX\u009b0m", "abX", false},
		"other controls":               {"a\x00\x07\x0b\x0c\x7fb\x1ac", "abc", false},
		"wide characters":              {"漢字\r好\n", "好字\n", true},
		"non-breaking space":           {"a\u00a0b", "a\u00a0b", false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 2, 3, 1 << 20} {
				w, collapsed := shownBy(tc.in, n)
				if got := string(w.head); got != tc.out || collapsed != tc.collapsed {
					t.Errorf("in chunks of %d: %q, collapsed %t", n, got, collapsed)
				}
			}
		})
	}
}

func TestAnEndlessLineCostsBoundedWork(t *testing.T) {
	for name, unit := range map[string]string{
		"text":            "abcdefgh",
		"returns":         "a\r",
		"backspaces":      "ab\b",
		"erasures":        "a\x1b[2K",
		"columns":         "abc\x1b[1G",
		"a title":         "\x1b]0;",
		"long parameters": "\x1b[1;2;3;4;5;6;7;8;9;",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWindow(CommandPreviewBytes)
			term := &terminal{screen: w}
			chunk := []byte(strings.Repeat(unit, 64<<10/len(unit)))
			began := time.Now()
			for i := range 64 {
				term.write(chunk, int64(i*len(chunk)))
			}
			term.close()
			if len(term.line.text) > maxLine+len(chunk) || cap(term.cells.cells) > 4*maxLine || len(term.escape.params) > maxParams {
				t.Error("the line grows without end")
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("4 MiB took %s", took)
			}
		})
	}
}

func FuzzTerminal(f *testing.F) {
	f.Add("a\rb\n\x1b[31mx\x1b[0m\b\x1b]0;t\x07漢\u009bm\x1b[2K", 3)
	f.Fuzz(func(t *testing.T, text string, n int) {
		text = strings.ToValidUTF8(text, "?")
		whole, collapsed := shownBy(text, len(text)+1)
		pieces, again := shownBy(text, max(1, n%64))
		if string(whole.head) != string(pieces.head) || collapsed != again {
			t.Fatalf("chunks change the text: %q and %q", whole.head, pieces.head)
		}
		if !utf8.Valid(whole.head) {
			t.Fatalf("%q is not valid", whole.head)
		}
		for _, c := range string(whole.head) {
			if (c < 0x20 && c != '\t' && c != '\n') || (c >= 0x7f && c < 0xa0) {
				t.Fatalf("a control character in %q", whole.head)
			}
		}
		for _, s := range whole.headSpans {
			if string(whole.head[s.at:s.at+s.n]) != text[s.offset:s.offset+s.n] {
				t.Fatalf("%q is not %q", whole.head[s.at:s.at+s.n], text[s.offset:s.offset+s.n])
			}
		}
		if !strings.ContainsAny(text, "\r\b\x1b\u009b") && collapsed {
			t.Fatal("collapsed without a reason")
		}
	})
}
