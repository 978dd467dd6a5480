package handlers

import (
	"testing"

	"offcut/models"
	"offcut/views"

	"github.com/google/go-cmp/cmp"
)

func TestSubjectsSayWhatACallWorkedOn(t *testing.T) {
	for _, tt := range []struct{ tool, arguments, want string }{
		{"run_command", `{"command":"ls -l","timeout_s":5}`, "ls -l"},
		{"read_file", `{"path":"a.txt"}`, "a.txt"},
		{"read_file", `{"path":"a.txt","line":12}`, "a.txt:12"},
		{"list_files", `{"path":"src"}`, "src"},
		{"list_files", `{"path":"src","pattern":"*.go"}`, "*.go"},
		{"read_tool_output", `{"output_id":"out_a","offset":4096}`, "out_a"},
		{"elsewhere__do", `{"a":1}`, `{"a":1}`},
		{"elsewhere__do", `{}`, ""},
		{"run_command", `{"command":`, `{"command":`},
		{"run_command", `null`, ""},
		{"run_command", `{"command":7}`, `{"command":7}`},
	} {
		if got := subject(models.ToolCall{Name: tt.tool, Arguments: tt.arguments}); got != tt.want {
			t.Errorf("%s(%s) worked on %q, want %q", tt.tool, tt.arguments, got, tt.want)
		}
	}
}

func TestADiffIsToldFromTheSentenceBeforeIt(t *testing.T) {
	diff := "--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n"
	want := changes{said: "Changed x.", diff: diff, added: 2, removed: 1}
	if got := changesOf("edit_file", "Changed x.\n\n"+diff); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	cut := changesOf("write_file", "Wrote x.\n"+diff+"… 40 more lines of this diff\n")
	if cut.added+cut.removed > 0 {
		t.Errorf("of a diff that was cut the lines are counted: %+v", cut)
	}
	if got := changesOf("run_command", diff); got.diff != "" || got.said != diff {
		t.Errorf("what a command printed is taken for a change: %+v", got)
	}
}

func TestBetweenShownTextsStandCutEdgesAndLostBytes(t *testing.T) {
	gap := models.Gap{At: 600, MarkerBytes: 50, Omitted: 7000, Stream: "stdout"}
	cut := func(from, to int64) views.PreviewPiece {
		return views.PreviewPiece{Kind: views.PieceCut, Start: from, End: to, Bytes: to - from}
	}
	lost := views.PreviewPiece{Kind: views.PieceLost, Start: 600, End: 650, Bytes: 7000, Stream: "stdout"}
	for _, tt := range []struct {
		name string
		gaps []models.Gap
		r    models.Range
		want []views.PreviewPiece
	}{
		{"nothing", nil, models.Range{Start: 10, End: 10}, nil},
		{"a cut", nil, models.Range{Start: 10, End: 20}, []views.PreviewPiece{cut(10, 20)}},
		{"a gap in a cut", []models.Gap{gap}, models.Range{Start: 100, End: 900}, []views.PreviewPiece{cut(100, 600), lost, cut(650, 900)}},
		{"a gap alone", []models.Gap{gap}, models.Range{Start: 600, End: 650}, []views.PreviewPiece{lost}},
		{"a gap elsewhere", []models.Gap{gap}, models.Range{Start: 650, End: 700}, []views.PreviewPiece{cut(650, 700)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, between(tt.gaps, tt.r)); diff != "" {
				t.Errorf("pieces (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCoverageIsShownWhereSomethingIsUnreadOrLost(t *testing.T) {
	whole := kept{RetainedOutput: models.RetainedOutput{TotalBytes: 100, Coverage: []models.Range{{Start: 0, End: 100}}}}
	if got := coverageOf(whole); got != nil {
		t.Errorf("what was seen whole has a bar: %+v", got)
	}
	part := kept{RetainedOutput: models.RetainedOutput{TotalBytes: 100, Coverage: []models.Range{{Start: 50, End: 60}}}} // its preview was not sent yet
	meta := models.ResultMetadata{Truncated: true, Reasons: []models.Reason{models.ReasonPreview}, Shown: []models.Range{{Start: 0, End: 10}}}
	want := &views.Coverage{Total: 100, Read: []views.Range{{Start: 50, End: 60}}, Gaps: []views.Gap{}}
	if diff := cmp.Diff(want, coverageOf(part)); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
	if got := leftOut(meta, part, ""); got != 90 {
		t.Errorf("left out %d bytes, want 90", got)
	}
	if got := coverageOf(kept{gone: true}); got != nil {
		t.Errorf("what is gone has a bar: %+v", got)
	}
}
