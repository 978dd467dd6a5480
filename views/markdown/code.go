package markdown

import (
	"bytes"
	"html"
	"strings"

	"github.com/alecthomas/chroma/v2"
	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// maxHighlighted is the longest code that is coloured, in bytes: the lexers are
// regular expressions, and longer listings are data more often than code.
const maxHighlighted = 128 << 10

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
	_, err := w.WriteString(listing(language, string(block.Lines().Value(source))))
	return ast.WalkSkipChildren, err
}

func indentedCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	_, err := w.WriteString(listing("", string(n.Lines().Value(source))))
	return ast.WalkSkipChildren, err
}

// listing is code under a line that names its language.
func listing(language, code string) string {
	lexer := lexers.Get(language)
	name := language
	if lexer != nil {
		name = lexer.Config().Name
	}
	name = html.EscapeString(name)
	return `<figure class="code"><figcaption>` + name + `</figcaption><pre tabindex="0" role="region" aria-label="` +
		name + `"><code>` + coloured(lexer, code) + "</code></pre></figure>\n"
}

// coloured is code with a class on each token; where the language is not known,
// or the lexer fails, it is the text alone.
func coloured(lexer chroma.Lexer, code string) string {
	if lexer == nil || len(code) > maxHighlighted {
		return html.EscapeString(code)
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(&chroma.TokeniseOptions{State: "root", EnsureLF: false}, code)
	if err != nil {
		return html.EscapeString(code)
	}
	var out bytes.Buffer
	if err := formatter.Format(&out, noColours, tokens); err != nil {
		return html.EscapeString(code)
	}
	return strings.TrimSuffix(strings.TrimPrefix(out.String(), "<code>"), "</code>")
}
