package find

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"offcut/models"

	"github.com/google/go-cmp/cmp"
)

func TestASearchIsTakenApartIntoWords(t *testing.T) {
	for query, want := range map[string][]string{
		"":                         nil,
		"  \t ":                    nil,
		"one":                      {"one"},
		"one  Two\nONE":            {"one", "two"},
		"next_cursor 合计":           {"next_cursor", "合计"},
		`"connection refused" tcp`: {"connection refused", "tcp"},
		`say "Hi"`:                 {"say", "hi"},
		`"`:                        {`"`},
		`""`:                       {`""`},
		`" "`:                      {`"`},
		`"complete": false`:        {`"complete":`, "false"},
		`"open`:                    {`"open`},
		`100% a_b NOT (x* OR ^y)`:  {"100%", "a_b", "not", "(x*", "or", "^y)"},
		`it's --; DROP TABLE`:      {"it's", "--;", "drop", "table"},
	} {
		got, err := Words(query)
		if err != nil {
			t.Errorf("%q: %v", query, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
}

func TestASearchHasABoundedNumberOfWords(t *testing.T) {
	query := ""
	for i := range MaxWords + 1 {
		query += fmt.Sprint(" w", i)
	}
	var told *models.Error
	if _, err := Words(query); !errors.As(err, &told) || told.Code != "search_too_many_words" {
		t.Errorf("error is %v", err)
	}
	if words, err := Words(strings.Repeat("again ", 50)); err != nil || len(words) != 1 {
		t.Errorf("the same word often: %q, %v", words, err)
	}
}

// marked writes an excerpt with its hits in brackets.
func marked(spans []Span) string {
	var b strings.Builder
	for _, span := range spans {
		if span.Hit {
			b.WriteString("[" + span.Text + "]")
		} else {
			b.WriteString(span.Text)
		}
	}
	return b.String()
}

func TestAnExcerptShowsTheHitsInTheirSurroundings(t *testing.T) {
	for _, c := range []struct {
		text  string
		words []string
		want  string
	}{
		{"nothing", []string{"needle"}, ""},
		{"a Needle", []string{"needle"}, "a [Needle]"},
		{"发票导出里没有合计行", []string{"合计"}, "发票导出里没有[合计]行"},
		{"one two one", []string{"one", "two"}, "[one] [two] [one]"},
		{"overlap", []string{"over", "verl"}, "[over]lap"},
		{"ÄRGER und Ärger", []string{"ärger"}, "[ÄRGER] und [Ärger]"},
		{"İx needle", []string{"needle"}, "İx [needle]"}, // folding makes it shorter
		{"a\x00\x1b[1mb needle", []string{"needle"}, "a[1mb [needle]"},
		{"\u202eneedle", []string{"needle"}, "[needle]"},
	} {
		if got := marked(Excerpt(c.text, c.words, 60)); got != c.want {
			t.Errorf("%.40q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestAnExcerptOfALongTextIsShort(t *testing.T) {
	text := strings.Repeat("before ", 30) + "the NEEDLE lies\n\n here " + strings.Repeat("after ", 30)
	got := marked(Excerpt(text, []string{"needle"}, 60))
	if !strings.HasPrefix(got, "… ") || !strings.HasSuffix(got, " …") || !strings.Contains(got, "the [NEEDLE] lies here after") || utf8.RuneCountInString(got) > 80 {
		t.Errorf("excerpt %q", got)
	}
}

// Whatever is typed and whatever was said: what holds a word has an excerpt
// that marks it, and nothing else has one.
func FuzzWhatIsFoundIsMarked(f *testing.F) {
	f.Add(`"next cursor" 合计 a_b%`, "x NEXT cursor y 合计 z A_B% "+strings.Repeat("-", 300))
	f.Add("\xff \"", "\xffİ\x00\"")
	f.Fuzz(func(t *testing.T, query, text string) {
		words, err := Words(query)
		if err != nil {
			return
		}
		spans := Excerpt(text, words, 120)
		held := false
		for _, word := range words {
			if word == "" || word != Fold(word) && utf8.ValidString(word) {
				t.Fatalf("word %q of %q", word, query)
			}
			held = held || Holds(text, word)
		}
		if held != (spans != nil) {
			t.Fatalf("held is %v, the excerpt %q", held, marked(spans))
		}
		if n := utf8.RuneCountInString(marked(spans)); n > 3*120+utf8.RuneCountInString(query) {
			t.Fatalf("the excerpt has %d characters", n)
		}
	})
}
