package markdown

import (
	"regexp"

	"github.com/microcosm-cc/bluemonday"
)

// policy is the second lock: goldmark writes nothing else, and if it ever did,
// this would not let it through.
var policy = newPolicy()

func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h3", "h4", "h5", "h6", "strong", "em", "del", "code", "pre",
		"blockquote", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "div")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^[a-z0-9][a-z0-9 -]*$`)).OnElements("span", "figure", "div")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|center|right)$`)).OnElements("th", "td")
	p.AllowAttrs("tabindex").Matching(regexp.MustCompile(`^0$`)).OnElements("pre", "div")
	p.AllowAttrs("role").Matching(regexp.MustCompile(`^region$`)).OnElements("pre", "div")
	p.AllowAttrs("aria-label").Matching(regexp.MustCompile(`^[\p{L}\p{N} +#./-]*$`)).OnElements("pre", "div")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
	p.AllowAttrs("checked", "disabled").OnElements("input")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(false)
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("target").Matching(regexp.MustCompile(`^_blank$`)).OnElements("a")
	p.AllowAttrs("rel").Matching(regexp.MustCompile(`^[a-z ]+$`)).OnElements("a")
	return p
}
