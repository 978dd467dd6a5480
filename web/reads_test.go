package web

import (
	"strings"
	"testing"
	"time"

	"offcut/models"
)

func TestTheListOfReadsIsBoundedAndSaysSo(t *testing.T) {
	s := start(t)
	id, output := s.withOutput(lines(1000))
	turn := s.wants(200, ann, "GET", "/sessions/"+id+"/messages", nil)["items"].([]any)[0].(map[string]any)["turn_id"].(string)
	b := s.signedIn(ann)
	page := "/s/" + id + "/out/" + output
	if a := b.get(page); strings.Contains(string(a.body), "of its reads") {
		t.Error("a short list is called cut")
	}
	var reads []models.OutputRead
	for at := range int64(300) { // none touches the one before
		reads = append(reads, models.OutputRead{
			OutputID: output, TurnID: turn, CallID: "c", Kind: models.ReadPage, Range: models.Range{Start: 10 * at, End: 10*at + 5}, At: time.Now(),
		})
	}
	must(t, s.store.AppendResults(t.Context(), nil, reads))
	doc := b.get(page).page(t)
	if n := doc.Find("aside.side time[data-clock]").Length(); n != 100 {
		t.Errorf("%d reads are listed", n)
	}
	if text := doc.Find("aside.side").Text(); !strings.Contains(text, "The last 100 of its reads.") {
		t.Errorf("it does not say that there are more: %s", text)
	}
}
