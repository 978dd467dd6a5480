package visible

import (
	"html"
	"strconv"
	"strings"
	"unicode"
)

// Strictly is text as HTML in which also those characters carry a picture that
// are seen in most texts nowhere, and mean something there: spaces of no width
// and of other widths than the usual, joiners, fillers, selectors and tags. It
// is for what somebody decides about by what they see; emoji and words of some
// languages are taken apart by it.
func Strictly(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/16)
	start := 0
	for i, r := range text {
		if !unseen(r) {
			continue
		}
		Write(&b, text[start:i])
		b.WriteString(`<span class="ctl" data-pic="U+` + strings.ToUpper(strconv.FormatInt(int64(r), 16)) + `">` + html.EscapeString(string(r)) + "</span>")
		start = i + len(string(r))
	}
	Write(&b, text[start:])
	return b.String()
}

// fillers are shown as nothing although they are no format characters.
var fillers = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1},
		{Lo: 0x115f, Hi: 0x1160, Stride: 1},
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180b, Hi: 0x180f, Stride: 1},
		{Lo: 0x2800, Hi: 0x2800, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}},
}

func unseen(r rune) bool {
	switch {
	case r < 0x80, Picture(r) != "": // Write shows those
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Z, fillers)
}
