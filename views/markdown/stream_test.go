package markdown

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// streamed renders md as it would come in pieces of size bytes.
func streamed(md string, size int) (got string, seals int) {
	s := NewStream()
	for len(md) > 0 {
		n := min(size, len(md))
		html, _, sealed := s.Push(md[:n])
		md = md[n:]
		got += html
		if sealed {
			seals++
		}
	}
	return got + s.Finish(), seals
}

var documents = map[string]string{
	"paragraphs":                         "one\ntwo\n\nthree\n\nfour",
	"CRLF":                               "one\r\n\r\ntwo\r\n\r\n```\r\nx\r\n```\r\nafter\r\n",
	"a fence with blanks":                "a\n\n```go\nx\n\ny\n```\nafter\n\nlast",
	"a fence without its end":            "a\n\n~~~\nx\n\n```\n\ny",
	"a longer closing fence":             "````\n```\n\nx\n`````\n\ny",
	"a loose list":                       "- a\n\n- b\n\n  c\n\nafter\n\nlast",
	"a list with a fence":                "1. a\n   ```sh\n   x\n\n   y\n   ```\n\n2. b\n\nafter\n\nlast",
	"a fence ends a list":                "- a\n```\nx\n\ny\n```\nafter",
	"indented code":                      "    a\n\n    b\n\nc",
	"tab-indented code":                  "\ta\n\n\tb\n\nc",
	"quotes":                             "> a\n\n> b\nlazy\n\nc",
	"a table":                            "| a | b |\n|---|--:|\n| 1 | 2 |\n\nafter",
	"headings":                           "# a\ntext\n\nb\n===\n\n---\n\nc",
	"tags":                               "<div>\n\nx\n\n<!-- a\n\nb -->\n\nc",
	"rules that look like items":         "* * *\n\na\n\n- - -\n\nb",
	"inline backticks at a line's start": "```a`b\n\nc",
}

func TestSealedPartsMakeTheWhole(t *testing.T) {
	for name, md := range documents {
		for _, size := range []int{1, 2, 7, 1000} {
			t.Run(fmt.Sprintf("%s by %d", name, size), func(t *testing.T) {
				got, _ := streamed(md, size)
				if diff := cmp.Diff(Render(md), got); diff != "" {
					t.Errorf("(-whole +streamed):\n%s", diff)
				}
			})
		}
	}
}

func TestBlocksAreSealedAsTheyEnd(t *testing.T) {
	s := NewStream()
	if _, _, sealed := s.Push("one\n\n"); sealed {
		t.Error("sealed before it was known whether the block goes on")
	}
	html, rest, sealed := s.Push("two")
	if sealed {
		t.Errorf("sealed on an unfinished line: %q %q", html, rest)
	}
	html, rest, sealed = s.Push("\n")
	if !sealed || html != "<p>one</p>\n" || rest != "two\n" {
		t.Errorf("got %q, rest %q, %v", html, rest, sealed)
	}
}

func TestLongBlockIsShownAsText(t *testing.T) {
	s := NewStream()
	s.Push("```\n")
	line := strings.Repeat("é", 50) + "\n"
	var shown strings.Builder
	for range 400 {
		html, rest, _ := s.Push(line)
		shown.WriteString(html)
		if len(rest) > maxOpen {
			t.Fatalf("%d bytes wait", len(rest))
		}
	}
	if !strings.Contains(shown.String(), `<div class="raw">`) || strings.Contains(shown.String(), "\ufffd") {
		t.Error("not shown as text, or a character was split")
	}
	html, _, sealed := s.Push("```\n\nafter *x*\n\nlast\n")
	if !sealed || !strings.Contains(html, "<p>after <em>x</em></p>") {
		t.Errorf("the block after it is not rendered: %q", html)
	}
}

// Eight times the text costs about eight times as much, not sixty-four. What is
// counted is allocations: they do not depend on how busy the machine is.
func TestCostGrowsWithTheMessage(t *testing.T) {
	cost := func(blocks int) float64 {
		md := strings.Repeat("Some *text* with `code` in it, long enough to matter.\n\n- a\n- b\n\n", blocks)
		return testing.AllocsPerRun(1, func() { streamed(md, 16) })
	}
	short, long := cost(100), cost(800)
	if long > 10*short {
		t.Errorf("8 times the text cost %.1f times as much", long/short)
	}
}

func FuzzSealedPartsMakeTheWhole(f *testing.F) {
	for _, md := range documents {
		f.Add(md, 3)
	}
	f.Fuzz(func(t *testing.T, md string, size int) {
		// Link references reach across blocks, by design; and the caller hands
		// in whole characters.
		if strings.Contains(md, "]:") || size < 1 || strings.ContainsRune(md, '\ufffd') {
			t.Skip()
		}
		got, _ := streamed(md, size)
		if diff := cmp.Diff(Render(md), got); diff != "" {
			t.Errorf("%q by %d (-whole +streamed):\n%s", md, size, diff)
		}
	})
}

// Documents put together at random out of what makes blocks.
func TestSealedPartsMakeTheWholeOfAnyBlocks(t *testing.T) {
	parts := []string{
		"a", "b c", "\n", "\n", "\n\n", "\n\n", "- ", "* ", "1. ", "2) ", "> ", "# ", "```", "```go\n", "~~~", "`",
		"    ", "  ", "   ", "\t", "---", "===", "| a | b |\n|---|---|\n", "|", "**", "<div>", "<!--", "- [ ] ", "\\", "+", "\r\n",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		var md strings.Builder
		for range random.IntN(24) {
			md.WriteString(parts[random.IntN(len(parts))])
		}
		got, _ := streamed(md.String(), 1+random.IntN(9))
		if diff := cmp.Diff(Render(md.String()), got); diff != "" {
			t.Fatalf("%q (-whole +streamed):\n%s", md.String(), diff)
		}
	}
}
