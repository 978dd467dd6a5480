package handlers

import (
	"testing"

	"offcut/models"
	"offcut/views"

	"github.com/google/go-cmp/cmp"
)

const cutBody = "[stdout]\nhead\n[900 bytes left out here. Read it.]\ntail\n[stderr]\nit failed\n"

func TestABodyIsTakenApartAtItsMarkers(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       []stream
	}{
		{"whole", "[stdout]\na\n[stderr]\nb\n", nil},
		{"one stream", "head\n[12 bytes (3 elements) left out here. Read it.]\ntail", []stream{{"", "head\n", "tail", 12}}},
		{"an incomplete copy", "head\n[12 bytes left out here, of a copy of 90 bytes; 5 more were never kept, and 9 bytes of the copy say so. Read it.]\ntail", []stream{{"", "head\n", "tail", 12}}},
		{"the head alone", "head\n[12 bytes left out here. Read it.]", []stream{{"", "head\n", "", 12}}},
		{"two streams", cutBody, []stream{{"stdout", "head\n", "tail\n", 900}, {"stderr", "it failed\n", "", 0}}},
		{"words like a marker in a line", "he said [12 bytes left out here. No.]", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, streamsOf(tt.body), cmp.AllowUnexported(stream{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatCouldNotBeKeptIsLost(t *testing.T) {
	captured := int64(914)
	meta := models.ResultMetadata{Truncated: true, Retention: models.RetentionFailed, CapturedBytes: &captured}
	body := views.CardBody{Unsaved: true}
	showStored(&body, models.ToolCall{Name: "run_command"}, &models.Message{Content: cutBody, Metadata: &meta}, meta)
	want := []views.PreviewPiece{
		{Kind: views.PieceText, Text: "head\n", Stream: "stdout", Bytes: 10},
		{Kind: views.PieceLost, Bytes: 900},
		{Kind: views.PieceText, Text: "tail\n"},
		{Kind: views.PieceText, Text: "it failed\n", Stream: "stderr", Bytes: 10, Whole: true},
	}
	if diff := cmp.Diff(want, body.Pieces); diff != "" {
		t.Errorf("pieces (-want +got):\n%s", diff)
	}
	if body.Seen != 20 || body.Total != 914 {
		t.Errorf("seen %d of %d, want 20 of 914", body.Seen, body.Total)
	}
}
