package fetch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"offcut/agent/apart"
)

// pageLimits bound the reading of one page. A usual page takes some hundredths
// of a second and 20 MiB.
var pageLimits = apart.Limits{Time: 15 * time.Second, Wait: 45 * time.Second, Memory: 768 << 20, Output: 2 * MaxBytes}

// pageTask is the first line of what a child is given; the page follows it.
type pageTask struct {
	URL   string `json:"url"`
	Kind  string `json:"kind"`
	Whole bool   `json:"whole"` // all of its text is wanted
}

// pageText is the first line of what comes of it; the body follows it.
type pageText struct {
	Title    string `json:"title"`
	Part     part   `json:"part"`
	Encoding string `json:"encoding"` // empty: plain UTF-8
	Replaced int64  `json:"replaced"`
	Body     string `json:"-"`
}

// part is how much of a page its text says.
type part string

// The parts. Bare text is what is left of a page that cannot be understood.
const (
	mainPart  part = "main"
	wholePart part = "whole"
	barePart  part = "bare"
	deepPart  part = "deep"
)

// note tells a model what it reads; its one verb is the length of the page in
// bytes.
func (p part) note() string {
	switch p {
	case mainPart:
		return "this is the main text of a page of %d bytes of HTML; whole: true gives all of its text, menus and lists of links included"
	case barePart:
		return "this is the bare text of a page of %d bytes of HTML"
	case deepPart:
		return "the page is nested too deeply: this is the bare text of its %d bytes of HTML"
	}
	return "this is the text of a page of %d bytes of HTML"
}

var reading = apart.NewJob("page", func(in io.Reader, out io.Writer) error {
	reader := bufio.NewReader(in)
	line, err := reader.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read what page it is: %w", err)
	}
	var task pageTask
	if err := json.Unmarshal(line, &task); err != nil {
		return fmt.Errorf("read what page it is: %w", err)
	}
	raw, err := io.ReadAll(reader)
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	text := understand(task, raw)
	head, err := json.Marshal(text)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, string(head)+"\n"+text.Body)
	return err
})

// readPage has a page understood in a child.
func readPage(ctx context.Context, task pageTask, raw []byte) (pageText, error) {
	line, err := json.Marshal(task)
	if err != nil {
		return pageText{}, fmt.Errorf("write what page it is: %w", err)
	}
	out, err := reading.Run(ctx, io.MultiReader(bytes.NewReader(append(line, '\n')), bytes.NewReader(raw)), pageLimits)
	if err != nil {
		return pageText{}, err
	}
	head, body, _ := bytes.Cut(out, []byte("\n"))
	var text pageText
	if err := json.Unmarshal(head, &text); err != nil {
		return pageText{}, fmt.Errorf("read what a page says: %w", err)
	}
	text.Body = strings.ToValidUTF8(string(body), "\uFFFD")
	return text, nil
}

// understand is the text of a page.
func understand(task pageTask, raw []byte) pageText {
	text := decode(raw, task.Kind, "text/html")
	source, wrong := repaired(text.body)
	out := pageText{Part: wholePart, Encoding: text.encoding, Replaced: text.replaced + wrong}
	doc, err := html.Parse(strings.NewReader(source))
	if err != nil {
		out.Part, out.Body = deepPart, bareText(source)
		return out
	}
	address, _ := url.Parse(task.URL) // it was parsed before
	out.Title = oneLine(titleOf(doc))
	if !task.Whole {
		parser := readability.NewParser()
		if parser.CheckDocument(doc) {
			article, err := parser.ParseDocument(doc, address)
			if err == nil && article.Node != nil {
				if body, err := markdownOf(article.Node, task.URL); err == nil && strings.TrimSpace(body) != "" {
					out.Part, out.Body = mainPart, body
					return out
				}
			}
		}
	}
	body, err := markdownOf(doc, task.URL)
	if err != nil {
		out.Part, body = barePart, bareText(source)
	}
	out.Body = body
	return out
}

// markdownOf is a part of a page as Markdown, with absolute links.
func markdownOf(node *html.Node, address string) (string, error) {
	dropData(node)
	conv := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	text, err := conv.ConvertNode(node, converter.WithDomain(address))
	return string(text), err
}

// dropData removes addresses that are contents themselves: an image of many
// kilobytes in the text is of no use to a reader.
func dropData(node *html.Node) {
	for n := range node.Descendants() {
		for i, a := range n.Attr {
			if strings.HasPrefix(strings.TrimSpace(strings.ToLower(a.Val[:min(len(a.Val), 20)])), "data:") {
				n.Attr[i].Val = ""
			}
		}
	}
}

// titleOf is what the page is called.
func titleOf(doc *html.Node) string {
	for n := range doc.Descendants() {
		if n.DataAtom == atom.Title && n.Type == html.ElementNode && n.FirstChild != nil {
			return n.FirstChild.Data
		}
	}
	return ""
}

// bareText is the text of a page without any understanding of it.
func bareText(source string) string {
	var out strings.Builder
	tokens := html.NewTokenizer(strings.NewReader(source))
	for hidden := 0; ; {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return strings.TrimSpace(out.String())
		}
		name, _ := tokens.TagName()
		switch tag := atom.Lookup(name); {
		case kind == html.TextToken && hidden == 0:
			if text := strings.Join(strings.Fields(string(tokens.Text())), " "); text != "" {
				out.WriteString(text + "\n")
			}
		case tag == atom.Script || tag == atom.Style:
			if kind == html.StartTagToken {
				hidden++
			} else if hidden > 0 {
				hidden--
			}
		}
	}
}
