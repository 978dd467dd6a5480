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
	// Encoding is that of the answer where it is not plain UTF-8, such as gbk.
	Encoding string
	// ReplacedBytes of the answer were no characters of its encoding.
	ReplacedBytes int64
	// Made: Body is not the answer as it came, but made of it.
	Made bool
	// MediaType of the answer; never empty.
	MediaType string
	// Cut: Body is not all that the server had.
	Cut bool
}

// Content is the text as the result of a tool: the head, an empty line, the
// body.
func (t Text) Content() string { return strings.Join(t.Head, "\n") + "\n\n" + t.Body }

// read makes the text of an answer: of a page of HTML its main text as Markdown,
// or all of its text; JSON and other text as they are. What is no text is named
// with its size.
func (a Answer) read(ctx context.Context, whole bool) (Text, error) {
	kind := a.kind()
	out := Text{Head: []string{a.Status, "URL: " + a.URL.String(), "Content-Type: " + kind}, Cut: a.Cut != "", MediaType: kind}
	if a.Redirected {
		out.Head[1] += " (after redirects)"
	}
	if a.Cut != "" {
		out.Head = append(out.Head, "Incomplete: "+a.Cut)
	}
	mediaType, _, _ := mime.ParseMediaType(kind) // what is no media type is no text either
	switch {
	case a.Packed != "":
		out.Head = append(out.Head, "Content-Encoding: "+a.Packed+", which is not unpacked here")
	case isPage(mediaType):
		return a.page(ctx, out, kind, whole)
	case isText(mediaType, a.Raw):
		text := decode(a.Raw, kind, mediaType)
		out.Body, out.Encoding, out.ReplacedBytes = text.body, text.encoding, text.replaced
		out.Made = out.Body != string(a.Raw) || !utf8.Valid(a.Raw)
		return out, nil
	}
	out.Binary, out.Made = true, len(a.Raw) > 0
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

// decoded is text, and what it was decoded from.
type decoded struct {
	body     string
	encoding string // empty: plain UTF-8
	replaced int64  // bytes, or units, that were no characters
}

// decode makes text of bytes. UTF-8 is left as it came, also where it is wrong:
// whoever keeps it counts what he replaces. JSON is UTF-8 whatever is said of
// it.
func decode(raw []byte, kind, mediaType string) decoded {
	wide := bytes.HasPrefix(raw, []byte("\xFF\xFE")) || bytes.HasPrefix(raw, []byte("\xFE\xFF"))
	if strings.HasSuffix(mediaType, "json") && !wide {
		kind = "text/plain; charset=utf-8"
	}
	encoding, name, certain := charset.DetermineEncoding(raw, kind)
	if name == "utf-8" || (!certain && utf8.Valid(raw)) {
		return decodedUTF8(raw)
	}
	text, err := encoding.NewDecoder().Bytes(raw)
	if err != nil {
		return decoded{body: string(raw)}
	}
	// These decoders put one mark for each byte, or unit, that they cannot read.
	return decoded{strings.TrimPrefix(string(text), "\uFEFF"), name, int64(bytes.Count(text, []byte("\uFFFD")))}
}

func decodedUTF8(raw []byte) decoded {
	text, marked := bytes.CutPrefix(raw, []byte("\uFEFF"))
	out := decoded{body: string(text)}
	switch {
	case !utf8.Valid(text):
		out.encoding = "not UTF-8"
	case marked:
		out.encoding = "UTF-8 with BOM"
	}
	return out
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
	if len(a.Raw) > 0 {
		out.Head = append(out.Head, fmt.Sprintf("Note: "+read.Part.note(), len(a.Raw)))
	}
	out.Body, out.Encoding, out.ReplacedBytes, out.Made = read.Body, read.Encoding, read.Replaced, len(a.Raw) > 0
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
