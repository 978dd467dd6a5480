package markdown

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"
)

func TestRenderShowsWhatWasWritten(t *testing.T) {
	cases := []struct{ name, md, want string }{
		{"a paragraph", "one *two* **three** `four`", "<p>one <em>two</em> <strong>three</strong> <code>four</code></p>\n"},
		{"headings stand below the page's own", "# a\n\n###### b", "<h3>a</h3>\n<h6>b</h6>\n"},
		{"tags are text", "a <b onclick=x>b</b>", "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>\n"},
		{"a block of tags is text", "<div>\n\n<THOUGHT>", "<p>&lt;div&gt;</p>\n<p>&lt;THOUGHT&gt;</p>\n"},
		{"links open outside", "[a](https://example.com/x)", `<p><a href="https://example.com/x" target="_blank" rel="noopener noreferrer nofollow">a</a></p>` + "\n"},
		{"images are links", "![a *b*](https://example.com/x.png)", `<p><a href="https://example.com/x.png" target="_blank" rel="noopener noreferrer nofollow">a b</a></p>` + "\n"},
		{"cells are aligned without a style", "| a |\n|--:|\n| 1 |", "<table>\n<thead>\n<tr>\n<th align=\"right\">a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td align=\"right\">1</td>\n</tr>\n</tbody>\n</table>\n"},
		{"tasks", "- [x] a", "<ul>\n<li><input checked=\"\" disabled=\"\" type=\"checkbox\"> a</li>\n</ul>\n"},
		{"code of no language", "```\na < b\n```", `<figure class="code"><figcaption></figcaption><pre tabindex="0" role="region" aria-label=""><code>a &lt; b` + "\n</code></pre></figure>\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Render(c.md)); diff != "" {
				t.Errorf("Render(%q) (-want +got):\n%s", c.md, diff)
			}
		})
	}
}

func TestCodeIsColouredByClasses(t *testing.T) {
	got := Render("```go\nfunc main() {}\n```")
	if !strings.Contains(got, `<span class="kd">func</span>`) || !strings.Contains(got, "<figcaption>Go</figcaption>") {
		t.Errorf("no classes or no name in %s", got)
	}
}

// hostile is what must come out as text, as a link without an address, or not
// at all.
var hostile = []string{
	"<script>alert(1)</script>",
	"<img src=x onerror=alert(1)>",
	"<svg><script>alert(1)</script></svg>",
	"<style>*{display:none}</style>",
	"[a](javascript:alert(1))",
	"[a](JaVaScRiPt:alert(1))",
	"[a](&#106;avascript:alert(1))",
	"[a](data:text/html,<script>alert(1)</script>)",
	"![a](data:image/svg+xml,<svg/onload=alert(1)>)",
	"![a](javascript:alert(1))",
	"<javascript:alert(1)>",
	"[a](vbscript:x)", "[a](file:///etc/passwd)", "[a](//evil.example/x)", "[a](/logout)",
	"[a](https://x/ \"title\" onclick=x)",
	"[a]: javascript:alert(1)\n\n[a]",
	"```\" onload=alert(1)\nx\n```",
	"```<img src=x onerror=alert(1)>\nx\n```",
	"<a href=\"x\" hx-get=\"/logout\" hx-trigger=\"load\">a</a>",
	"`<img src=x onerror=alert(1)>`",
	"| <img src=x onerror=alert(1)> |\n|---|\n| a |",
	"<!-- --!><script>alert(1)</script>", "<![CDATA[<script>]]>", "</div></article><script>x</script>",
	"\x1b]8;;javascript:alert(1)\x07a\x1b]8;;\x07", "a\x00b<script>",
}

func TestHostileTextIsHarmless(t *testing.T) {
	for _, text := range hostile {
		for how, got := range map[string]string{"Markdown": Render(text), "terminal": Terminal(text)} {
			checkHarmless(t, how, text, got)
		}
	}
}

func checkHarmless(t *testing.T, how, source, got string) {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	if n := doc.Find("script,img,svg,style,iframe,object,embed,form,link,meta,base,video,audio,math").Length(); n > 0 {
		t.Errorf("%s %q became an element: %s", how, source, got)
	}
	doc.Find("*").Each(func(_ int, s *goquery.Selection) {
		for _, a := range s.Nodes[0].Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || strings.HasPrefix(a.Key, "hx-") || a.Key == "srcdoc" {
				t.Errorf("%s %q has the attribute %s: %s", how, source, a.Key, got)
			}
			if a.Key == "href" && !strings.HasPrefix(a.Val, "http://") && !strings.HasPrefix(a.Val, "https://") && !strings.HasPrefix(a.Val, "mailto:") {
				t.Errorf("%s %q leads to %q", how, source, a.Val)
			}
		}
	})
}

func TestWhatTurnsTheDirectionIsShown(t *testing.T) {
	for how, got := range map[string]string{"Markdown": Render("a\u202eb"), "terminal": Terminal("a\u202eb\r\n")} {
		if !strings.Contains(got, "<span class=\"ctl\" data-pic=\"U+202E\">\u202e</span>") {
			t.Errorf("%s: %q", how, got)
		}
	}
}

func FuzzRenderIsHarmless(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkHarmless(t, "Markdown", text, Render(text))
		checkHarmless(t, "terminal", text, Terminal(text))
	})
}
