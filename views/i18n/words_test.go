package i18n

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/a-h/templ/parser/v2"
	"github.com/a-h/templ/parser/v2/visitor"
)

// letters are what makes a text one that has to be translated.
var letters = regexp.MustCompile(`\pL{2,}`)

// heard are the attributes whose values people see or hear.
var heard = []string{"aria-label", "aria-description", "aria-roledescription", "aria-valuetext", "title", "placeholder", "alt", "label", "content"}

// alike in every language: names, keys of keyboards, and what programs read.
var alike = []string{"Offcut", "SHA-256", "Ctrl K", "width=device-width, initial-scale=1"}

// What is said on a page comes from the catalogue: a template has no words of
// its own, neither as text nor in an attribute nor in an expression.
func TestTemplatesHaveNoWordsOfTheirOwn(t *testing.T) {
	names, err := filepath.Glob("../*.templ")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		template, err := parser.Parse(name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, words := range wordsOf(t, template) {
			t.Errorf("%s: %q", name, words)
		}
	}
}

func wordsOf(t *testing.T, template *parser.TemplateFile) []string {
	t.Helper()
	var found []string
	say := func(text string) {
		if letters.MatchString(text) && !slices.Contains(alike, text) {
			found = append(found, text)
		}
	}
	v := visitor.New()
	v.Text = func(text *parser.Text) error {
		say(strings.TrimSpace(text.Value))
		return nil
	}
	v.StringExpression = func(expr *parser.StringExpression) error {
		if text, err := strconv.Unquote(strings.TrimSpace(expr.Expression.Value)); err == nil {
			say(text)
		}
		return nil
	}
	v.ConstantAttribute = func(attribute *parser.ConstantAttribute) error {
		if slices.Contains(heard, attribute.Key.String()) {
			say(attribute.Value)
		}
		return nil
	}
	v.ExpressionAttribute = func(attribute *parser.ExpressionAttribute) error {
		if text, err := strconv.Unquote(strings.TrimSpace(attribute.Expression.Value)); err == nil && slices.Contains(heard, attribute.Key.String()) {
			say(text)
		}
		return nil
	}
	if err := v.VisitTemplateFile(template); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestTheWordsOfATemplateAreFound(t *testing.T) {
	const source = `package x

templ page() {
	<p>Some words</p>
	<input placeholder="Type here" type="text"/>
	if true {
		<b title={ "More words" }>{ "And these" }</b>
	}
	<p class="not these">{ t(ctx, "nor.these") } · 3</p>
}
`
	template, err := parser.ParseString(source)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Some words", "Type here", "More words", "And these"}
	if got := wordsOf(t, template); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// In scripts a text is either put where people see or hear it, or it reads like
// a sentence.
var (
	comment  = regexp.MustCompile(`(?s:/\*.*?\*/)|(?m:(?:^|\s)//.*$)`)
	shownAs  = regexp.MustCompile("(?:(?:textContent|innerText|innerHTML|title|placeholder|ariaLabel|alt)\\s*=|\\b(?:toast|announce|say|alert|confirm)\\(|\"(?:aria-label|title|placeholder|alt)\",)\\s*[\"'`]([^\"'`]+)")
	sentence = regexp.MustCompile("[\"'`]([A-Z]\\pL*(?: \\pL+)+[^\"'`]*)[\"'`]")
)

func wordsOfScript(script string) []string {
	var found []string
	script = comment.ReplaceAllString(script, "")
	for _, pattern := range []*regexp.Regexp{shownAs, sentence} {
		for _, match := range pattern.FindAllStringSubmatch(script, -1) {
			if text := regexp.MustCompile(`\$\{[^}]*\}`).ReplaceAllString(match[1], ""); letters.MatchString(strings.ReplaceAll(text, "Offcut", "")) {
				found = append(found, match[1])
			}
		}
	}
	return found
}

func TestScriptsHaveNoWordsOfTheirOwn(t *testing.T) {
	names, err := filepath.Glob("../../static/js/*.js")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		script, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range wordsOfScript(string(script)) {
			t.Errorf("%s: %q", name, words)
		}
	}
	want := []string{"Copied", "Wait ${n} s", "The server is gone"}
	script := "a.textContent = \"Copied\"; toast(`Wait ${n} s`) // \"A comment here\"\nconst x = 'The server is gone'; b.title = `${y}`; q(\"#log > p\");"
	if got := wordsOfScript(script); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// The texts of scripts stand in the page under the names by which scripts ask
// for them; see views.scriptWordKeys.
func TestScriptsAskForTextsThatThereAre(t *testing.T) {
	shell, err := os.ReadFile("../shell.go")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)scriptWordKeys = \[\]string\{(.*?)\n\}`).FindSubmatch(shell)
	if list == nil {
		t.Fatal("the list of the texts of scripts is not where it was")
	}
	offered := regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(string(list[1]), -1)
	known := map[string]bool{}
	for _, match := range offered {
		known[match[1]] = true
		if _, ok := readCatalogue(t, Default)["js."+match[1]]; !ok {
			t.Errorf("no text for %q", "js."+match[1])
		}
	}
	names, err := filepath.Glob("../../static/js/*.js")
	if err != nil {
		t.Fatal(err)
	}
	asked := regexp.MustCompile(`\bword\("([^"]+)"`)
	for _, name := range names {
		script, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range asked.FindAllSubmatch(script, -1) {
			if key := string(match[1]); !known[key] {
				t.Errorf("%s asks for %q, which no page has", name, key)
			}
		}
	}
}
