package markdown

import (
	"strings"
	"time"

	"offcut/views/visible"

	"github.com/alecthomas/chroma/v2/lexers"
)

// Source is the text of a file as HTML, coloured by the language that its name
// tells. Markdown and HTML are source here, and nothing in them is rendered.
// What is long, takes long or has no known language is text alone.
func Source(name, text string) string {
	lexer := lexers.Match(name)
	if lexer == nil || len(text) > maxHighlighted || strings.ContainsFunc(text, hidden) {
		return visible.String(text)
	}
	tokens, ok := tokenise(lexer, text, time.Now().Add(highlightBudget))
	if !ok {
		return visible.String(text)
	}
	return written(tokens)
}

// hidden characters want pictures, which coloured text has no place for.
func hidden(r rune) bool { return r != '\r' && visible.Picture(r) != "" }
