package markdown

import "testing"

func TestTerminalShowsWhatATerminalWould(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"plain text", "a < b\n", "a &lt; b\n"},
		{"colours", "\x1b[31mred\x1b[0m \x1b[1;92mbold\x1b[m", `<span class="term-fg31">red</span> <span class="term-fg1 term-fg92">bold</span>`},
		{"a colour of 256", "\x1b[38;5;196mX\x1b[39m", `<span class="term-fg31">X</span>`},
		{"a colour of all", "\x1b[38;2;200;0;0mX\x1b[0m", `<span class="term-fg31">X</span>`},
		{"a ground", "\x1b[48;5;21mX", `<span class="term-bg44">X</span>`},
		{"a carriage return overwrites", "p 10 %\rp 100 %\n", "p 100 %\n"},
		{"a shorter text leaves the rest", "abcdef\rxy", "xycdef"},
		{"CRLF is the end of a line", "a\r\nb\r\n", "a\nb\n"},
		{"a backspace overwrites", "ab\bc", "ac"},
		{"a backspace at the start", "\b\ba", "a"},
		{"erase to the end", "abcdef\r\x1b[Kxy", "xy"},
		{"erase all", "abc\x1b[2Kd", "   d"},
		{"the cursor moves", "a\x1b[3Cb\x1b[2D\x1b[1Gc", "c   b"},
		{"the cursor does not run away", "\x1b[999999999CX", spaces(1000) + "X"},
		{"modes and titles are dropped", "\x1b[?25lX\x1b[?25h\x1b]0;title\x07Y\x1b]2;t\x1b\\Z\x1b(B", "XYZ"},
		{"links and images are dropped", "\x1b]8;;javascript:x\x07a\x1b]8;;\x07\x1b]1339;url=http://x\x07b", "ab"},
		{"an unfinished sequence", "a\x1b[3", "a"},
		{"a broken sequence", "a\x1b[3\nb", "a\nb"},
		{"tags are text", "\x1b[31m<b>\x1b[0m", `<span class="term-fg31">&lt;b&gt;</span>`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := Terminal(c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func spaces(n int) string {
	line := make([]byte, n)
	for i := range line {
		line[i] = ' '
	}
	return string(line)
}
