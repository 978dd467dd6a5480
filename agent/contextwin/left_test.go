package contextwin

import (
	"strings"
	"testing"

	"offcut/models"

	"github.com/google/go-cmp/cmp"
)

func TestWhatOfAResultAShortenedMessageHolds(t *testing.T) {
	body := strings.Repeat("é", 3000) + strings.Repeat("x", 3000)
	stored := models.Message{ID: "m", Role: models.RoleTool, ToolCallID: "c", Content: body}
	for name, test := range map[string]struct {
		sent models.Message
		want []models.Range
	}{
		"as it is stored": {stored, []models.Range{{End: 9000}}},
		"trimmed":         {Decision{Keep: keptAtEnds}.apply(stored, "read_file", false, nil), []models.Range{{End: 3000}, {Start: 7500, End: 9000}}},
		"cleared":         {Decision{}.apply(stored, "read_file", false, nil), nil},
	} {
		if diff := cmp.Diff(test.want, LeftOf(stored, test.sent)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
