package tools

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"offcut/models"
)

// What a tool leaves out because the round has room for no more is told from
// what it leaves out by its own bounds.
func TestWhatCutsAResultIsNamed(t *testing.T) {
	b := newBench(t)
	b.write("f", strings.Repeat("a line of some length\n", 5000))
	for i := range 900 {
		b.write(fmt.Sprintf("many/a_file_with_a_rather_long_name_%03d", i), "x")
	}
	preview, window := []models.Reason{models.ReasonPreview}, []models.Reason{models.ReasonWindow}
	for _, tt := range []struct {
		name, tool string
		args       arguments
		budget     int
		want       []models.Reason
	}{
		{"a page of a file", "read_file", arguments{"path": "f"}, 0, preview},
		{"a page of a file in little room", "read_file", arguments{"path": "f"}, 4096, window},
		{"a line that was asked for", "read_file", arguments{"path": "f", "limit": 1}, 4096, preview},
		{"the end of a file", "read_file", arguments{"path": "f", "line": 4990}, 4096, nil},
		{"a long list", "list_files", arguments{"path": "many"}, 0, preview},
		{"a long list in little room", "list_files", arguments{"path": "many"}, 4096, window},
		{"a short list in little room", "list_files", arguments{"path": "."}, 4096, nil},
		{"many hits", "search_files", arguments{"pattern": "line", "path": "f", "max": 5}, 4096, preview},
		{"many hits in little room", "search_files", arguments{"pattern": "line", "path": "f", "max": 400}, 4096, window},
	} {
		b.budget = tt.budget
		if meta := b.ok(tt.tool, tt.args).Metadata; !slices.Equal(meta.Reasons, tt.want) || meta.Truncated != (tt.want != nil) {
			t.Errorf("%s: truncated %v because of %v, want %v", tt.name, meta.Truncated, meta.Reasons, tt.want)
		}
	}
}
