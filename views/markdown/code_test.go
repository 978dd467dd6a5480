package markdown

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2/lexers"
)

// Lexers backtrack for seconds over blank lines and lone brackets. An answer
// made of them is rendered all the same, in a time that a reader can wait.
func TestCodeThatIsSlowToColourIsShownPlain(t *testing.T) {
	const patience = 8 * highlightBudget // a busy machine may be slow to look at the clock
	for _, hostile := range []struct{ language, text string }{
		{"java", strings.Repeat(" \n", 8000)},
		{"python", strings.Repeat(" \n", 8000)},
		{"markdown", strings.Repeat(" \n", 8000)},
		{"makefile", strings.Repeat("(", 16000)},
		{"apache", strings.Repeat("<", 16000)},
		{"autohotkey", strings.Repeat(" \n", 8000)},
		{"php", strings.Repeat(" \n", 8000)},
	} {
		t.Run(hostile.language, func(t *testing.T) {
			md := "```" + hostile.language + "\n" + hostile.text + "\n```\n"
			start := time.Now()
			got := render(strings.Repeat(md, 3))
			if took := time.Since(start); took > patience {
				t.Errorf("it took %v", took)
			}
			if n := strings.Count(got, "<figure"); n != 3 {
				t.Errorf("it has %d listings, want 3", n)
			}
		})
	}
}

// A model that falls into a loop writes thousands of fences.
func TestManyListingsTakeNoLongerThanTheirColours(t *testing.T) {
	var unknown strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&unknown, "```nolang%d\nx\n```\n", i)
	}
	for name, md := range map[string]string{"without a language": strings.Repeat("```\n", 2500), "of unknown ones": unknown.String()} {
		start := time.Now()
		got := render(md)
		if took := time.Since(start); took > 8*highlightBudget {
			t.Errorf("%s: it took %v", name, took)
		}
		if n := strings.Count(got, "<figure"); n < 1000 {
			t.Errorf("%s: it has %d listings", name, n)
		}
	}
}

func TestColouringKeepsTheText(t *testing.T) {
	const code = "package main\n\nfunc main() { println(\"<b>\") } // done\n"
	tokens, ok := tokenise(lexers.Get("go"), code, time.Now().Add(time.Minute))
	if !ok {
		t.Fatal("it was given up")
	}
	var text strings.Builder
	for _, token := range tokens {
		text.WriteString(token.Value)
	}
	if text.String() != code {
		t.Errorf("the tokens are %q", text.String())
	}
}

func TestATextIsRenderedOnce(t *testing.T) {
	const md = "# once\n"
	first := Render(md)
	if again := Render(md); again != first || !strings.Contains(first, "once") {
		t.Errorf("rendered %q, then %q", first, again)
	}
}
