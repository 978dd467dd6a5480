package views

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	xhtml "golang.org/x/net/html"
)

// textContent is what a browser has as the text of the page once its scripts
// ran: they fill what stands for NUL.
func textContent(t *testing.T, p Pager) string {
	t.Helper()
	doc := parse(t, PagerFragment(p))
	for _, n := range doc.Find("span[data-nul]").Nodes {
		n.AppendChild(&xhtml.Node{Type: xhtml.TextNode, Data: "\x00"})
	}
	text := doc.Find("[data-testid=output-text]")
	if text.Length() != 1 {
		t.Fatalf("%d texts", text.Length())
	}
	return text.Text()
}

func TestPageIsItsTextByteForByte(t *testing.T) {
	for name, p := range pagerStates() {
		t.Run(name, func(t *testing.T) {
			for _, inCard := range []bool{false, true} {
				p.InCard = inCard
				if got := textContent(t, p); got != p.Text {
					t.Errorf("in a card %v: got %q, want %q", inCard, got, p.Text)
				}
			}
		})
	}
}

func TestPageIsItsTextWhateverIsMarked(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"a", "é", "😀", "\n", "\r", "\r\n", "\x00", "<", "&amp;", "\x1b[0m", "\u202e", "\t", "needle"}
	for range 300 {
		var text strings.Builder
		for range random.IntN(40) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		p := Pager{OutputID: "o", Offset: 1000, Text: text.String(), Total: 9000, InCard: random.IntN(2) == 0}
		p.End = p.Offset + int64(len(p.Text))
		anywhere := func() int64 { return 990 + random.Int64N(int64(len(p.Text))+20) }
		for at, end := int64(0), anywhere(); at < 3 && end > 0; at++ {
			p.Read = append(p.Read, Range{end, end + random.Int64N(20)})
			p.Gaps = append(p.Gaps, Gap{At: anywhere(), MarkerBytes: random.Int64N(9)})
			p.Search.Hits = append(p.Search.Hits, Hit{Offset: anywhere()})
			end = anywhere()
		}
		p.Search.Query = "needle"
		if got := textContent(t, p); got != p.Text {
			t.Fatalf("got %q, want %q (%+v)", got, p.Text, p)
		}
	}
}

func TestWhatTheModelReadIsMarked(t *testing.T) {
	p := Pager{OutputID: "o", Offset: 100, Text: "one\ntwo\nthree\nfour\n", End: 119, Total: 500, Read: []Range{{0, 104}, {108, 114}}, InCard: true}
	doc := parse(t, PagerFragment(p))
	var got []string
	doc.Find("[data-testid=output-text] > .seg").Each(func(_ int, s *goquery.Selection) {
		got = append(got, s.AttrOr("class", "")+"|"+s.AttrOr("data-say", "")+"|"+s.Text())
	})
	want := []string{
		"seg read||one\n", "seg turn|the model read to byte 104|", "seg||two\n",
		"seg turn up|the model read from byte 108|", "seg read||three\n",
		"seg turn|the model read to byte 114|", "seg||four\n",
	}
	if strings.Join(got, "\n--\n") != strings.Join(want, "\n--\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHitsAreMarked(t *testing.T) {
	text := "a foo b fooo\nfoo"
	find := func(search Search) string {
		var marks []string
		p := Pager{OutputID: "o", Offset: 10, Text: text, End: 10 + int64(len(text)), Total: 90, Search: search}
		parse(t, PagerFragment(p)).Find("mark").Each(func(_ int, s *goquery.Selection) {
			marks = append(marks, s.Text()+s.AttrOr("class", ""))
		})
		return strings.Join(marks, ",")
	}
	hits := []Hit{{Offset: 3}, {Offset: 12}, {Offset: 18}, {Offset: 23}, {Offset: 400}}
	if got := find(Search{Query: "foo", Hits: hits}); got != "foonow,foo,foo" {
		t.Errorf("plain: %s", got)
	}
	if got := find(Search{Query: "fo+", Regexp: true, Hits: hits}); got != "foonow,fooo,foo" {
		t.Errorf("regexp: %s", got)
	}
	if got := find(Search{Query: "fo(", Regexp: true, Hits: hits, Problem: "no"}); got != "" {
		t.Errorf("refused: %s", got)
	}
}

func TestLinesShowTheirOffsetsOnAPageOfTheirOwn(t *testing.T) {
	p := Pager{OutputID: "o", Offset: 1000, Text: "é\nb\n", End: 1005, Total: 9000}
	var got []string
	parse(t, PagerFragment(p)).Find(".ln").Each(func(_ int, s *goquery.Selection) { got = append(got, s.AttrOr("data-at", "")) })
	if strings.Join(got, " ") != "1,000 1,003" {
		t.Errorf("got %q", got)
	}
}
