// Package visible writes foreign text as HTML in which nothing is invisible
// and nothing is changed.
package visible

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Write appends text as HTML whose text content is the text. Characters that
// HTML parsers change are written so that they survive: a carriage return as a
// reference; a NUL, which no HTML can hold, as an empty span that a script
// fills. Those, the other control characters and the ones that turn the
// direction of writing carry a picture, so that nothing unseen can change what
// a reader sees.
func Write(b *strings.Builder, text string) {
	start := 0
	for i, r := range text {
		picture := Picture(r)
		if picture == "" {
			continue
		}
		b.WriteString(html.EscapeString(text[start:i]))
		start = i + utf8.RuneLen(r)
		if r == '\r' && strings.HasPrefix(text[start:], "\n") {
			b.WriteString("&#13;") // the end of a line, as usual elsewhere
			continue
		}
		b.WriteString(`<span class="ctl" data-pic="` + picture + `"`)
		switch r {
		case 0:
			b.WriteString(" data-nul>")
		case '\r':
			b.WriteString(">&#13;")
		default:
			b.WriteString(">" + string(r))
		}
		b.WriteString("</span>")
	}
	b.WriteString(html.EscapeString(text[start:]))
}

// String is text as Write writes it.
func String(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/16)
	Write(&b, text)
	return b.String()
}

// Plain is text for a plain file in which what would be invisible, or would
// steer a terminal, stands as its name: ESC as "‹ESC›". Line ends stay.
func Plain(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return Picture(r) != "" }) < 0 {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		picture := Picture(r)
		switch {
		case picture == "", r == '\r' && strings.HasPrefix(text[i+1:], "\n"):
			b.WriteRune(r)
		default:
			b.WriteString("‹" + picture + "›")
		}
	}
	return b.String()
}

// controls are the names of the control characters C0, as ASCII has them: the
// pictures that Unicode has for them are in few fonts.
var controls = [0x20]string{
	"NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR", "SO", "SI",
	"DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US",
}

// Picture is how an invisible character is shown; empty for one that is text.
func Picture(r rune) string {
	switch {
	case r == '\n' || r == '\t':
		return ""
	case r < 0x20:
		return controls[r]
	case r == 0x7f:
		return "DEL"
	case r < 0xa0 && r >= 0x80, Turns(r):
		return "U+" + strings.ToUpper(strconv.FormatInt(0x10000+int64(r), 16)[1:])
	}
	return ""
}

// Turns reports whether r changes the direction of the text around it, by
// which a line can be made to read as what it is not.
func Turns(r rune) bool {
	return r == 0x061c || r == 0x200e || r == 0x200f ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
