// Package markdown turns what a model or a tool wrote into safe HTML: Markdown
// as a whole, Markdown while it streams in, and terminal output with colours.
//
// What comes out holds no style attribute, no script, no image and no raw HTML
// of the author's: tags that were written are shown as the text they are.
package markdown

import (
	"bytes"
	"crypto/sha256"
	"html"
	"strings"

	"offcut/views/visible"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

var engine = newEngine()

// newEngine leaves out the parsers of raw HTML: what looks like a tag is text,
// and is escaped like any other, instead of being dropped unseen.
func newEngine() goldmark.Markdown {
	blocks := []util.PrioritizedValue{
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(parser.NewBlockquoteParser(), 800),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	}
	inlines := []util.PrioritizedValue{
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(parser.NewLinkParser(), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewEmphasisParser(), 500),
	}
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(blocks...),
			parser.WithInlineParsers(inlines...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
			parser.WithASTTransformers(util.Prioritized(outwardLinks{}, 500)),
		)),
		goldmark.WithExtensions(
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			extension.Strikethrough, extension.Linkify, extension.TaskList,
		),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(nodes{}, 100))),
	)
}

// What was rendered lately is kept: a page shows the same answers each time it
// is opened. Longer ones are made anew, so that the memory stays within 16 MiB.
const (
	keptTexts = 256
	keptBytes = 64 << 10
)

var kept, _ = lru.New[[sha256.Size]byte, string](keptTexts) // fails for a size below 1 alone

// Render is md as safe HTML.
func Render(md string) string {
	key := sha256.Sum256([]byte(md))
	if rendered, ok := kept.Get(key); ok {
		return rendered
	}
	rendered := render(md)
	if len(rendered) <= keptBytes {
		kept.Add(key, rendered)
	}
	return rendered
}

func render(md string) string {
	var out bytes.Buffer
	if err := engine.Convert([]byte(md), &out); err != nil {
		return plain(md) // only a writer's error: a buffer has none
	}
	return markTurns(policy.SanitizeReader(&out).String())
}

// plain shows text that is not rendered (yet).
func plain(md string) string {
	return `<div class="raw">` + visible.String(md) + "</div>"
}

// markTurns makes characters visible that turn the direction of writing. In
// rendered HTML they stand in text alone: attributes hold none.
func markTurns(rendered string) string {
	if !strings.ContainsFunc(rendered, visible.Turns) {
		return rendered
	}
	var b strings.Builder
	for _, r := range rendered {
		if visible.Turns(r) {
			visible.Write(&b, string(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// outwardLinks makes links open a page of their own that learns nothing of
// this one.
type outwardLinks struct{}

func (outwardLinks) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if kind := n.Kind(); entering && (kind == ast.KindLink || kind == ast.KindAutoLink) {
			n.SetAttributeString("target", []byte("_blank"))
			n.SetAttributeString("rel", []byte("noopener noreferrer nofollow"))
		}
		return ast.WalkContinue, nil
	})
}

// nodes renders what differs from goldmark's own way.
type nodes struct{}

func (nodes) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindHeading, heading)
	reg.Register(ast.KindImage, image)
	reg.Register(ast.KindFencedCodeBlock, fencedCode)
	reg.Register(ast.KindCodeBlock, indentedCode)
}

// heading puts an answer's headings below those of the page, which has h1 for
// itself and h2 for each message.
func heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	level := min(n.(*ast.Heading).Level+2, 6)
	tag := "<h" + string(rune('0'+level)) + ">"
	if !entering {
		tag = "</" + tag[1:] + "\n"
	}
	_, err := w.WriteString(tag)
	return ast.WalkContinue, err
}

// image is a link: a page that a model wrote loads nothing from elsewhere.
func image(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	img := n.(*ast.Image)
	address := string(util.URLEscape(img.Destination, true))
	label := imageLabel(img, source)
	if label == "" {
		label = address
	}
	_, err := w.WriteString(`<a href="` + html.EscapeString(address) +
		`" target="_blank" rel="noopener noreferrer nofollow">` + html.EscapeString(label) + `</a>`)
	return ast.WalkSkipChildren, err
}

func imageLabel(img *ast.Image, source []byte) string {
	var label strings.Builder
	_ = ast.Walk(img, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			label.Write(t.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return label.String()
}
