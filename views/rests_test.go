package views

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/a-h/templ"
)

func sampleRests() *Rests {
	log := Rest{OutputID: "out_log", Tool: "run_command", Title: "npm run build", Seen: 24_576, Total: 5_213_908, First: 8_184, Read: []Range{{0, 8_184}, {5_197_516, 5_213_908}}}
	return &Rests{
		SessionID: "s1",
		Own:       []Rest{log, {OutputID: "out_all", Title: "make", Seen: 8_388_608, Total: 8_388_608, Lacking: true, Omitted: 611_392, Read: []Range{{0, 8_388_608}}}},
		Earlier:   []Rest{{OutputID: "res_c9", CallID: "c9", Tool: "read_file", Total: 20_000, Taken: 20_000}},
		Absence:   &Absence{Sentence: "There is no `E17` in it.", More: 1, Term: "E17", Outputs: []Rest{log, {OutputID: "out_two", Title: "make test", Total: 9}, {OutputID: "out_gone", Gone: true, Total: 9}}, Unnamed: 2},
	}
}

func TestAnAnswerSaysWhatItRestsOn(t *testing.T) {
	doc := parse(t, TurnFooter(TurnEnd{TurnID: "t", State: "done", Rests: sampleRests()}))
	want(t, doc, "[data-testid=answer-coverage]", 1, "2 outputs that the model has not read whole: 8,413,184 of 13,602,516 bytes.")
	want(t, doc, "details[open] li.rest", 2, "npm run build: 24,576 of 5,213,908 bytes.")
	want(t, doc, `a[href="/s/s1/out/out_log?offset=8184"]`, 1, "Read the rest")
	want(t, doc, `li[data-output=out_all]`, 1, "all 8,388,608 bytes that were kept.", "Open it", "The copy is incomplete: 611,392 bytes were never kept.")
	want(t, doc, "li[data-output=out_all] rect.lost", 1, "")
	want(t, doc, "div.rest[data-output=res_c9]", 1, "Of read_file, from an earlier turn, the model had none of the 20,000 bytes any more.", "20,000 bytes that it had read were taken out")
	want(t, doc, `a[href="#t-c9"]`, 1, "Show the result")
	want(t, doc, "[data-testid=absence-mark] q", 1, "There is no `E17` in it.")
	want(t, doc, "[data-testid=absence-mark] [data-ask]", 1, "Ask the model to look")
	want(t, doc, "[data-testid=absence-mark] .dim", 1, "2 more outputs were not read whole either.")
	if ask := doc.Find("[data-ask]").AttrOr("data-ask", ""); !strings.Contains(ask, "the kept outputs out_log, out_two for “E17”") {
		t.Errorf("the model is asked %q", ask)
	}
	want(t, doc, "div.rest[data-output=out_never]", 0, "")
	never := parse(t, TurnFooter(TurnEnd{TurnID: "t", State: "done", Rests: &Rests{SessionID: "s1", Earlier: []Rest{{OutputID: "out_never", Title: "make", Total: 9}}}}))
	want(t, never, "div.rest[data-output=out_never]", 1, "Of make, from an earlier turn, the model has had none of the 9 bytes before it.")

	for name, frame := range map[string]Layout{"unmarked": {Unmarked: true}, "read only": {ReadOnly: true}} {
		footer := TurnFooter(TurnEnd{TurnID: "t", State: "done", Rests: sampleRests()})
		doc := parse(t, templ.ComponentFunc(func(ctx context.Context, w io.Writer) error { return footer.Render(With(ctx, frame), w) }))
		if n := doc.Find("[data-testid=absence-mark]").Length(); (n == 0) != frame.Unmarked || doc.Find("[data-ask]").Length() != 0 {
			t.Errorf("%s: %d marks", name, n)
		}
	}
	if doc := parse(t, TurnFooter(TurnEnd{TurnID: "t", State: "running", Rests: sampleRests()})); strings.Contains(doc.Text(), "rests on") {
		t.Error("a running answer says what it rests on")
	}
}

func TestNoNameOrSentenceTurnsTheFiguresAroundIt(t *testing.T) {
	rests := sampleRests()
	rests.Own[0].Title, rests.Absence.Outputs[0].Title = "seq 9 # \u202exyz", "seq 9 # \u202exyz"
	rests.Absence.Sentence, rests.Absence.Term = "There is no \u202ezebra.", "\u202ezebra"
	doc := parse(t, TurnFooter(TurnEnd{TurnID: "t", State: "done", Rests: rests}))
	for _, place := range []string{"li.rest code .ctl", "[data-testid=absence-mark] q .ctl", "[data-testid=absence-mark] code .ctl"} {
		if picture, _ := doc.Find(place).Attr("data-pic"); picture != "U+202E" {
			t.Errorf("%s has the picture %q", place, picture)
		}
	}
	doc.Find(".ctl").Remove()
	if strings.Contains(doc.Text(), "\u202e") {
		t.Error("a mark turns the text round")
	}
	for _, link := range doc.Find("a").EachIter() {
		if label, _ := link.Attr("aria-label"); strings.Contains(label, "\u202e") {
			t.Errorf("the label %q turns round", label)
		}
	}
}
