package markdown

import (
	"bytes"
	"html"
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"
	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// The lexers are regular expressions that backtrack: some take seconds for a
// few thousand blank lines. So only code of some length is coloured, and of one
// text only what can be in a quarter of a second; the rest stays plain.
const (
	maxHighlighted  = 32 << 10 // bytes of one listing
	highlightBudget = 250 * time.Millisecond
)

var formatter = chromahtml.New(chromahtml.WithClasses(true), chromahtml.PreventSurroundingPre(true))

// noColours is the style of a formatter that writes classes: the colours are
// in our stylesheet. The library's own styles would all be read at each start.
var noColours = chroma.MustNewStyle("classes", chroma.StyleEntries{})

func fencedCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := n.(*ast.FencedCodeBlock)
	language := string(block.Language(source))
	_, err := w.WriteString(listing(language, string(block.Lines().Value(source)), highlightUntil(n)))
	return ast.WalkSkipChildren, err
}

func indentedCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	_, err := w.WriteString(listing("", string(n.Lines().Value(source)), time.Time{}))
	return ast.WalkSkipChildren, err
}

const untilKey = "highlight until"

// highlightUntil is when the colouring of a text ends: its budget begins with
// its first listing.
func highlightUntil(n ast.Node) time.Time {
	document := n.OwnerDocument()
	if until, ok := document.Meta()[untilKey].(time.Time); ok {
		return until
	}
	until := time.Now().Add(highlightBudget)
	document.AddMeta(untilKey, until)
	return until
}

// listing is code under a line that names its language.
func listing(language, code string, until time.Time) string {
	lexer := lexerOf(language, until)
	name := language
	if lexer != nil {
		name = lexer.Config().Name
	}
	name = html.EscapeString(name)
	return `<figure class="code"><figcaption>` + name + `</figcaption><pre tabindex="0" role="region" aria-label="` +
		name + `"><code>` + coloured(lexer, code, until) + "</code></pre></figure>\n"
}

// known are the lexers that were looked for lately, nil where there is none. The
// library takes milliseconds to find out that it has none of a name.
var known, _ = lru.New[string, chroma.Lexer](256) // fails for a size below 1 alone

// longestName is the longest name of a language that is looked for, in bytes.
const longestName = 64

// lexerOf is the lexer of a language; nil where there is none, and where the time
// for colouring is over before it was found.
func lexerOf(language string, until time.Time) chroma.Lexer {
	if language == "" || len(language) > longestName {
		return nil
	}
	if lexer, looked := known.Get(language); looked {
		return lexer
	}
	if !time.Now().Before(until) {
		return nil
	}
	lexer := lexers.Get(language)
	known.Add(language, lexer)
	return lexer
}

// coloured is code with a class on each token; where the language is not known,
// or the lexer fails or takes too long, it is the text alone.
func coloured(lexer chroma.Lexer, code string, until time.Time) string {
	if lexer == nil || len(code) > maxHighlighted {
		return html.EscapeString(code)
	}
	tokens, ok := tokenise(lexer, code, until)
	if !ok {
		return html.EscapeString(code)
	}
	return written(tokens)
}

// written is tokens as HTML, each with its class.
func written(tokens []chroma.Token) string {
	var out bytes.Buffer
	_ = formatter.Format(&out, noColours, chroma.Literator(tokens...)) // only a writer's error: a buffer has none
	return strings.TrimSuffix(strings.TrimPrefix(out.String(), "<code>"), "</code>")
}

// highlighting holds a place for each listing that is being coloured: one that
// does not come to its end takes at most this many cores, and others stay plain.
var highlighting = make(chan struct{}, 2)

// tokenise gives up when its time is over. A lexer that hands over to another
// cannot be interrupted, so it is left behind to end by itself.
func tokenise(lexer chroma.Lexer, code string, until time.Time) ([]chroma.Token, bool) {
	late := time.NewTimer(time.Until(until))
	defer late.Stop()
	select {
	case highlighting <- struct{}{}:
	case <-late.C:
		return nil, false
	}
	done := make(chan []chroma.Token, 1)
	go func() {
		defer func() { <-highlighting }()
		done <- tokensOf(lexer, code, until)
	}()
	select {
	case tokens := <-done:
		return tokens, tokens != nil
	case <-late.C:
		return nil, false
	}
}

// tokensOf is all of the code, neighbours of one kind joined; nil where the
// lexer fails or its time is over.
func tokensOf(lexer chroma.Lexer, code string, until time.Time) []chroma.Token {
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root", EnsureLF: false}, code)
	if err != nil {
		return nil
	}
	tokens := []chroma.Token{}
	for token := next(); token != chroma.EOF; token = next() {
		if !time.Now().Before(until) {
			return nil
		}
		if last := len(tokens) - 1; last >= 0 && tokens[last].Type == token.Type {
			tokens[last].Value += token.Value
			continue
		}
		tokens = append(tokens, token)
	}
	return tokens
}
