package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

func commas(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", commas(n/1000), n%1000)
}

// said is what a pager says of an offset or a pattern that it could not take.
func said(page *goquery.Document) string { return page.Find(".pager .problem:not([hidden])").Text() }

func TestThePagerGoesThroughAnOutputByteForByte(t *testing.T) {
	s := start(t)
	text := strings.Repeat("Zeile für Zeile – 行\r\n\x1b[31mrot\x1b[0m\n", 400)
	id, output := s.withOutput(text)
	b := s.signedIn(ann)
	at := "/s/" + id + "/out/" + output
	var joined strings.Builder
	for next := at; next != ""; {
		doc := b.get(next).page(t)
		joined.WriteString(doc.Find("[data-testid=output-text]").Text())
		button := doc.Find("[data-testid=output-next]")
		next = ""
		if _, off := button.Attr("disabled"); !off {
			next = at + "?offset=" + button.AttrOr("value", "")
		}
	}
	if got := strings.Count(joined.String(), "Zeile für Zeile – 行"); got != 400 {
		t.Errorf("the pages hold %d of 400 lines", got)
	}
	doc := b.get(at + "?offset=" + fmt.Sprint(len(text)*2)).page(t)
	if doc.Find(".end").Length() != 1 {
		t.Error("past the end is not the last page")
	}
	for typed, want := range map[string]string{
		"100000000": "Byte 100000000 is past the end", "99999999999999999999": "past the end: the copy has " + fmt.Sprint(len(text)) + " bytes",
		"8": "inside a character; this page begins where the character does, at byte 7", "abc": "“abc” is no byte", "-5": "“-5” is no byte", "1e3": "“1e3” is no byte",
		"4096": "", "4,096": "", fmt.Sprint(len(text)): "",
	} {
		if got := said(b.get(at + "?offset=" + typed).page(t)); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("at byte %s the page says %q, want %q", typed, got, want)
		}
	}
	doc = b.get(at + "?q=rot&from=5000").page(t)
	if doc.Find("mark").Length() == 0 || doc.Find(".hits a").Length() == 0 {
		t.Error("a search shows no hit")
	}
	if doc := b.get(at + "?q=%28&regexp=true").page(t); said(doc) == "" {
		t.Error("a pattern that cannot be used is not said")
	}
	if about := b.get(at).page(t).Find(".side").Text(); !strings.Contains(about, "12 ms") {
		t.Errorf("the page does not say how long the call took: %s", about)
	}
	fragment := b.get(at+"/pager?offset=100", "HX-Request", "true")
	if fragment.status != 200 || strings.Contains(string(fragment.body), "<html") {
		t.Errorf("the pager of a card: %d\n%s", fragment.status, clip(fragment.body))
	}
	if a := b.get(at + "/raw"); string(a.body) != text || a.header.Get("Content-Security-Policy") == "" {
		t.Errorf("the download has %d bytes of %d", len(a.body), len(text))
	}
	a := b.post(at+"/delete", nil)
	if a.status != 303 || !strings.HasPrefix(a.header.Get("Location"), "/s/"+id+"#t-") {
		t.Errorf("deleting: %d %q", a.status, a.header.Get("Location"))
	}
	if a := b.get(at); a.status != 404 || !strings.Contains(a.page(t).Find("[role=alert]").Text(), "deleted on") {
		t.Errorf("a deleted output: %d %q", a.status, a.page(t).Find("[role=alert]").Text())
	}
	call := strings.TrimPrefix(a.header.Get("Location"), "/s/"+id+"#t-")
	body := b.get("/s/" + id + "/calls/" + call)
	if body.status != 200 || body.page(t).Find("a.cut").Length() != 0 {
		t.Errorf("the card of a deleted output: %d\n%s", body.status, clip(body.body))
	}
}

func TestAForkLeadsBackToTheOutputsOfItsOriginal(t *testing.T) {
	s := start(t)
	id, output := s.withOutput(lines(300))
	b := s.signedIn(ann)
	a := b.post("/s/"+id+"/fork", nil)
	fork := strings.TrimPrefix(a.header.Get("Location"), "/s/")
	if a.status != 303 || fork == id {
		t.Fatalf("forking: %d %q", a.status, a.header.Get("Location"))
	}
	doc := b.get("/s/" + fork).page(t)
	if doc.Find("[data-fork-notice] a").AttrOr("href", "") != "/s/"+id || roles(doc) != "user done, assistant done" {
		t.Errorf("the fork: %q", roles(doc))
	}
	missing := b.get("/s/" + fork + "/out/" + output)
	if missing.status != 404 || missing.page(t).Find(`a[href="/s/`+id+`"]`).Length() == 0 {
		t.Errorf("an output of the original in the fork: %d", missing.status)
	}
}
