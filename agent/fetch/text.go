package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"offcut/agent/apart"
)

// Text is an answer as a model reads it.
type Text struct {
	// Head are the lines about the answer; none of them is empty.
	Head []string
	Body string
	// Binary: the answer is no text, and Body is empty.
	Binary bool
	// ReplacedBytes of the answer were no characters of its encoding.
	ReplacedBytes int64
	// Cut: Body is not all that the server had.
	Cut bool
}

// Content is the text as the result of a tool: the head, an empty line, the
// body.
func (t Text) Content() string { return strings.Join(t.Head, "\n") + "\n\n" + t.Body }

// Read makes the text of an answer: of a page of HTML its main text as Markdown,
// or all of its text; JSON and other text as they are. What is no text is named
// with its size.
func (a Answer) Read(ctx context.Context, whole bool) (Text, error) {
	kind := a.kind()
	out := Text{Head: []string{a.Status, "URL: " + a.URL.String(), "Content-Type: " + kind}, Cut: a.Cut != ""}
	if a.Redirected {
		out.Head[1] += " (after redirects)"
	}
	if a.Cut != "" {
		out.Head = append(out.Head, "Incomplete: "+a.Cut)
	}
	mediaType, _, _ := mime.ParseMediaType(kind) // what is no media type is no text either
	switch {
	case isPage(mediaType):
		return a.page(ctx, out, kind, whole)
	case isText(mediaType, a.Raw):
		body, replaced := decode(a.Raw, kind, mediaType)
		out.Body, out.ReplacedBytes = body, replaced
		return out, nil
	}
	out.Binary = true
	size := fmt.Sprintf("%d bytes", len(a.Raw))
	if a.Cut != "" {
		if size = "more than " + size; a.Length > int64(len(a.Raw)) {
			size = fmt.Sprintf("%d bytes", a.Length)
		}
	}
	out.Head = append(out.Head, "Not shown: this is no text. It has "+size+".")
	return out, nil
}

// kind is the media type of an answer: as the server wrote it, or as its bytes
// look.
func (a Answer) kind() string {
	if mediaType, _, err := mime.ParseMediaType(a.ContentType); err == nil && mediaType != "" {
		return a.ContentType
	}
	if len(a.Raw) == 0 {
		return "text/plain"
	}
	return http.DetectContentType(a.Raw)
}

func isPage(mediaType string) bool {
	return mediaType == "text/html" || mediaType == "application/xhtml+xml"
}

// textTypes are text although their names do not say so.
var textTypes = []string{"json", "xml", "javascript", "ecmascript", "yaml", "x-yaml", "toml", "x-ndjson", "ndjson", "jsonl", "x-sh", "sql", "graphql", "x-www-form-urlencoded", "rtf"}

// isText: the type is one of text, and the bytes do not contradict it.
func isText(mediaType string, raw []byte) bool {
	group, name, _ := strings.Cut(mediaType, "/")
	named := group == "text" || strings.HasSuffix(name, "+json") || strings.HasSuffix(name, "+xml")
	for _, t := range textTypes {
		named = named || name == t
	}
	if !named {
		return false
	}
	wide := bytes.HasPrefix(raw, []byte("\xFF\xFE")) || bytes.HasPrefix(raw, []byte("\xFE\xFF"))
	return wide || !bytes.Contains(raw[:min(len(raw), 8<<10)], []byte{0})
}

// decode is text, and how many bytes were no characters of its encoding. UTF-8
// is left as it came, also where it is wrong: whoever keeps it keeps the bytes.
// JSON is UTF-8 whatever is said of it.
func decode(raw []byte, kind, mediaType string) (string, int64) {
	wide := bytes.HasPrefix(raw, []byte("\xFF\xFE")) || bytes.HasPrefix(raw, []byte("\xFE\xFF"))
	if strings.HasSuffix(mediaType, "json") && !wide {
		kind = "text/plain; charset=utf-8"
	}
	encoding, name, certain := charset.DetermineEncoding(raw, kind)
	if name == "utf-8" || (!certain && utf8.Valid(raw)) {
		return string(bytes.TrimPrefix(raw, []byte("\uFEFF"))), 0
	}
	text, err := encoding.NewDecoder().Bytes(raw)
	if err != nil {
		return string(raw), 0
	}
	// These decoders put one mark for each byte, or unit, that they cannot read.
	return strings.TrimPrefix(string(text), "\uFEFF"), int64(bytes.Count(text, []byte("\uFFFD")))
}

// repaired is text with a mark for each byte that is no UTF-8.
func repaired(raw string) (string, int64) {
	if utf8.ValidString(raw) {
		return raw, 0
	}
	var out strings.Builder
	var replaced int64
	for len(raw) > 0 {
		r, n := utf8.DecodeRuneInString(raw)
		if r == utf8.RuneError && n == 1 {
			replaced++
		}
		out.WriteRune(r)
		raw = raw[n:]
	}
	return out.String(), replaced
}

// page reads a page of HTML apart: what a page is made of can take any time and
// memory to understand.
func (a Answer) page(ctx context.Context, out Text, kind string, whole bool) (Text, error) {
	read, err := readPage(ctx, pageTask{URL: a.URL.String(), Kind: kind, Whole: whole}, a.Raw)
	switch {
	case errors.Is(err, apart.ErrTime), errors.Is(err, apart.ErrMemory), errors.Is(err, apart.ErrOutput):
		return out, refusef("the page is too intricate to be read: %s. It has %d bytes of HTML", err, len(a.Raw))
	case err != nil:
		return out, err
	}
	if read.Title != "" {
		out.Head = append(out.Head, "Title: "+read.Title)
	}
	if read.Note != "" {
		out.Head = append(out.Head, "Note: "+read.Note)
	}
	out.Body, out.ReplacedBytes = read.Body, read.Replaced
	return out, nil
}

// maxLine bounds a line of the head, in bytes.
const maxLine = 500

// oneLine is what a server wrote, as one bounded line.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxLine {
		s = strings.ToValidUTF8(s[:maxLine], "") + "…"
	}
	return s
}
