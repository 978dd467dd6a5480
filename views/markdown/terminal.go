package markdown

import "html"

// Terminal is a first version.
func Terminal(text string) string { return html.EscapeString(text) }
