package retain

import (
	"bytes"
	"strings"
	"testing"

	"offcut/agent"
	"offcut/models"
)

// checkPassage holds whatever was printed: what one layer lets through is what
// comes to the next, and what the preview hides are the bytes of the copy that
// are not shown, its own markers left out.
func checkPassage(t *testing.T, store *memory, result agent.ToolResult) {
	t.Helper()
	meta := result.Metadata
	if meta.Passage == nil {
		if meta.Truncated {
			t.Error("a cut result was not counted")
		}
		return
	}
	p := *meta.Passage
	layers := p.Layers()
	for i, l := range layers {
		if l.Hidden() < 0 {
			t.Errorf("the layer %s lets through more than came: %+v", l.Layer, l)
		}
		if i > 0 && l.Layer != models.LayerDisplay && l.In != layers[i-1].Out {
			t.Errorf("%d bytes come out of %s, and %d come to %s", layers[i-1].Out, layers[i-1].Layer, l.In, l.Layer)
		}
	}
	switch meta.Retention {
	case models.RetentionNotNeeded:
		if p.Hidden() != 0 {
			t.Errorf("nothing was cut, and %d bytes are hidden", p.Hidden())
		}
	case models.RetentionFailed:
		if p.Retained != p.Shown {
			t.Errorf("a copy that failed retains %d bytes, and its body shows %d", p.Retained, p.Shown)
		}
	case models.RetentionKept:
		row := store.only(t).row
		hidden := meta.HiddenRanges(row.Gaps)
		if n := models.Length(hidden); n != p.Retained-p.Shown {
			t.Errorf("the ranges %v have %d bytes, and the preview hides %d", hidden, n, p.Retained-p.Shown)
		}
		if n := models.Length(models.Intersect(hidden, meta.Shown)); n != 0 {
			t.Errorf("%d bytes are both hidden and shown", n)
		}
		if !row.Binary && p.Produced != row.CapturedBytes+2*row.ReplacedBytes {
			t.Errorf("the tool produced %d bytes, of which %d are no UTF-8, and %d are counted", row.CapturedBytes, row.ReplacedBytes, p.Produced)
		}
	}
}

func TestEachLayerSaysWhatItTook(t *testing.T) {
	long := func(n int) []byte { return bytes.Repeat([]byte("0123456789abcde\n"), n/16) }
	for name, test := range map[string]struct {
		printed []byte
		broken  bool // the copy cannot be stored
		want    models.Passage
	}{
		"a short one":           {printed: []byte("short\n"), want: models.Passage{Produced: 6, Captured: 6, Retained: 6, Shown: 6}},
		"nothing":               {},
		"colours":               {printed: []byte("\x1b[31mred\x1b[0m\n"), want: models.Passage{Produced: 4, Captured: 4, Retained: 4, Shown: 4}},
		"a long one":            {printed: long(1 << 20), want: models.Passage{Produced: 1 << 20, Captured: 1 << 20, Retained: 1 << 20, Shown: CommandPreviewBytes}},
		"one that is not saved": {printed: long(1 << 20), broken: true, want: models.Passage{Produced: 1 << 20, Captured: 1 << 20, Retained: CommandPreviewBytes, Shown: CommandPreviewBytes}},
		"one beyond the limit":  {printed: long(20 << 20), want: models.Passage{Produced: 20 << 20, Captured: MaxStreamBytes, Retained: MaxOutputBytes - markerReserve, Shown: CommandPreviewBytes}},
	} {
		t.Run(name, func(t *testing.T) {
			store := newMemory()
			keeper := NewKeeper(store, Config{})
			recording := keeper.Record(t.Context(), testCall("run_command"), "x")
			if _, err := recording.Stdout().Write(test.printed); err != nil {
				t.Fatal(err)
			}
			if test.broken {
				store.createErr, store.writeErr = models.ErrTooLarge, models.ErrTooLarge
			}
			result := recording.Finish(t.Context(), Exited, models.ResultMetadata{})
			p := *result.Metadata.Passage
			checkPassage(t, store, result)
			for what, pair := range map[string][2]int64{
				"produced": {p.Produced, test.want.Produced}, "captured": {p.Captured, test.want.Captured},
				"retained": {p.Retained, test.want.Retained}, "shown": {p.Shown, test.want.Shown},
			} {
				// Cuts fall on lines, so that a little less is kept and shown.
				if got, want := pair[0], pair[1]; got > want || want-got > want/10 {
					t.Errorf("%s: %d bytes, want %d or a little less: %+v", what, got, want, p)
				}
			}
			if strings.Contains(result.Metadata.Line(), "assage") {
				t.Error("the model is told of the figures")
			}
		})
	}
}
