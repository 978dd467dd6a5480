package visible

import (
	"strings"
	"testing"

	xhtml "golang.org/x/net/html"
)

func TestInvisibleCharactersCarryAPicture(t *testing.T) {
	cases := []struct{ text, want string }{
		{"a\tb\n", "a\tb\n"},
		{"<&>\"'", "&lt;&amp;&gt;&#34;&#39;"},
		{"a\r\nb", "a&#13;\nb"},
		{"a\rb", `a<span class="ctl" data-pic="CR">&#13;</span>b`},
		{"\x00", `<span class="ctl" data-pic="NUL" data-nul></span>`},
		{"\x1b[0m", "<span class=\"ctl\" data-pic=\"ESC\">\x1b</span>[0m"},
		{"\u202e", "<span class=\"ctl\" data-pic=\"U+202E\">\u202e</span>"},
		{"\u0085", "<span class=\"ctl\" data-pic=\"U+0085\">\u0085</span>"},
		{"价😀\u200d", "价😀\u200d"},
	}
	for _, c := range cases {
		if got := String(c.text); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// Whatever the text, a browser that parses the HTML has the text again.
func FuzzTextContentIsTheText(f *testing.F) {
	for _, text := range []string{"\n\na\r\n\rb\x00c", "</div><script>", "\u202e\ufeff\u2028\x7f\x0c", "&#13;&amp;"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\ufffd")
		doc, err := xhtml.Parse(strings.NewReader("<!doctype html><body><div>" + String(text) + "</div>"))
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		collect(doc, &got)
		if got.String() != text {
			t.Errorf("got %q, want %q", got.String(), text)
		}
	})
}

// collect gathers text as a browser would, NUL filled in as the script does.
func collect(n *xhtml.Node, b *strings.Builder) {
	if n.Type == xhtml.TextNode {
		b.WriteString(n.Data)
	}
	for _, a := range n.Attr {
		if a.Key == "data-nul" {
			b.WriteByte(0)
		}
	}
	for child := range n.ChildNodes() {
		collect(child, b)
	}
}
