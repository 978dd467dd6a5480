package web

import (
	"strings"
	"testing"
)

func TestWhatADeletionTakesIsCountedWhenOneAsks(t *testing.T) {
	s := start(t)
	id, _ := s.withOutput(lines(1000))
	b := s.signedIn(ann)
	page := b.get("/s/" + id).page(t)
	list := page.Find("#dlg-delete .goes")
	if asked, _ := list.Attr("hx-get"); asked != "/s/"+id+"/goes" {
		t.Fatalf("it is asked at %q", asked)
	}
	if text := list.Text(); strings.ContainsAny(text, "0123456789") {
		t.Errorf("the page has counted already: %s", text)
	}
	a := b.get("/s/"+id+"/goes", "HX-Request", "true")
	text := strings.Join(strings.Fields(a.page(t).Text()), " ")
	if a.status != 200 || !strings.Contains(text, "Messages4Kept outputs1 22.9 kB") {
		t.Errorf("status %d: %s", a.status, text)
	}
	if a := s.signedIn(root).get("/s/" + id + "/goes"); a.status != 403 {
		t.Errorf("an administrator, who cannot delete it there, gets %d", a.status)
	}
}
