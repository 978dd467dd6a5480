package markdown

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// joined checks that pieces are the text, and none is long.
func joined(t *testing.T, md string) []Piece {
	t.Helper()
	pieces := Pieces(md)
	var all strings.Builder
	for i, p := range pieces {
		if p.Start != all.Len() {
			t.Fatalf("piece %d begins at %d, want %d", i, p.Start, all.Len())
		}
		if len(p.text) == 0 || len(p.text) > 4*pieceBytes || !utf8.ValidString(p.text) {
			t.Fatalf("piece %d has %d bytes, valid: %v", i, len(p.text), utf8.ValidString(p.text))
		}
		all.WriteString(p.text)
	}
	if all.String() != md {
		t.Fatal("the pieces joined are not the text")
	}
	return pieces
}

func TestALongTextIsRenderedByPieces(t *testing.T) {
	lines := strings.Repeat("x := call(1)\n", 6000)
	tests := map[string]struct {
		md      string
		holds   string // stands in each piece
		without string // in none
	}{
		"paragraphs":               {strings.Repeat("Some **words** of a paragraph.\n\n", 3000), "<strong>words</strong>", "**"},
		"one paragraph of lines":   {strings.Repeat("Some **words** of a line.\n", 4000), "<strong>words</strong>", "**"},
		"one line":                 {strings.Repeat("wörd ", 40_000), "<p>", "raw"},
		"a listing":                {"```go\n" + lines + "```\n", `<figure class="code"><figcaption>Go`, "```"},
		"a listing of one line":    {"~~~\n" + strings.Repeat("é", 100_000) + "\n~~~\n", "<figure", "~~~"},
		"a listing without an end": {"````\n" + lines, "<figure", "`"},
		"a list of listings":       {strings.Repeat("- item\n\n  ```sh\n  ls\n  ```\n\n", 4000), "<li>", "```"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			pieces := joined(t, tt.md)
			if len(pieces) < 4 {
				t.Errorf("%d pieces of %d bytes", len(pieces), len(tt.md))
			}
			for i, p := range pieces {
				if html := p.HTML(); !strings.Contains(html, tt.holds) || strings.Contains(html, tt.without) {
					t.Errorf("piece %d of %d is\n%.300s\n…\n%s", i, len(pieces), html, html[max(0, len(html)-300):])
				}
			}
		})
	}
}

func TestAfterATornListingProseIsProse(t *testing.T) {
	pieces := joined(t, "Before.\n\n```go\n"+strings.Repeat("x := call(1)\n", 6000)+"```\n\nAfter **it**.\n")
	if html := pieces[len(pieces)-1].HTML(); !strings.HasSuffix(html, "<p>After <strong>it</strong>.</p>\n") {
		t.Errorf("the last piece ends with %s", html[max(0, len(html)-200):])
	}
}

// Whatever is written, the pieces are the text, also those of the text before
// one of them.
func TestPiecesAreTheText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	bits := []string{"word ", "\n", "\n\n", "```\n", "```go\n", "- item\n", "  ", "> ", "~~~\n", "é", strings.Repeat("long ", 5000), "\r\n", "| a | b |\n"}
	for range 10 {
		var md strings.Builder
		for md.Len() < 100_000 {
			md.WriteString(bits[random.IntN(len(bits))])
		}
		pieces := joined(t, md.String())
		half := pieces[len(pieces)/2]
		joined(t, md.String()[:half.Start])
	}
}
