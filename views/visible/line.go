package visible

import "strings"

// Line is Strictly for a text that is to stay on one line, such as the name of a
// file: line breaks and tabs carry a picture too.
func Line(text string) string {
	var b strings.Builder
	for {
		at := strings.IndexAny(text, "\n\t")
		if at < 0 {
			b.WriteString(Strictly(text))
			return b.String()
		}
		b.WriteString(Strictly(text[:at]))
		b.WriteString(`<span class="ctl" data-pic="` + controls[text[at]] + `">` + text[at:at+1] + "</span>")
		text = text[at+1:]
	}
}
