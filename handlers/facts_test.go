package handlers

import (
	"testing"

	"offcut/models"
	"offcut/views"
)

func TestARowSaysWhatACallCameTo(t *testing.T) {
	truncated := models.ResultMetadata{Truncated: true}
	for _, tt := range []struct {
		name, tool string
		meta       models.ResultMetadata
		body       string
		want       views.Fact
	}{
		{"files", "list_files", models.ResultMetadata{}, "a.go\nb.go", views.Fact{Kind: views.FactFiles, N: 2}},
		{"files and folders", "list_files", models.ResultMetadata{}, "a.go\nsub/\n(left out because of .gitignore: 1 entry, x)", views.Fact{Kind: views.FactEntries, N: 2}},
		{"a long folder", "list_files", truncated, "a\nb\n(7 more entries are not shown; use a narrower pattern)", views.Fact{Kind: views.FactFiles, N: 2, More: true}},
		{"an empty folder", "list_files", models.ResultMetadata{}, "(nothing matches)", views.Fact{Kind: views.FactFiles}},
		{"hits", "search_files", models.ResultMetadata{}, "a.go:1: x (y)\nb.go:2: (x)\n(2 files searched)", views.Fact{Kind: views.FactHits, N: 2}},
		{"more hits", "search_files", truncated, "a.go:1: x\n(there are more matches; use a narrower pattern, path or glob)\n(1 file searched)", views.Fact{Kind: views.FactHits, N: 1, More: true}},
		{"no hit", "search_files", models.ResultMetadata{}, "(no match)\n(9 files searched)", views.Fact{Kind: views.FactHits}},
		{"hits in an output", "search_tool_output", models.ResultMetadata{}, "offset 7, line 1: (x)\noffset 9, line 2: x", views.Fact{Kind: views.FactHits, N: 2}},
		{"lines", "read_file", models.ResultMetadata{}, "a\nb\n", views.Fact{Kind: views.FactLines, N: 2}},
		{"lines without an end", "read_file", models.ResultMetadata{}, "a\nb", views.Fact{Kind: views.FactLines, N: 2}},
		{"a piece of a line", "read_file", models.ResultMetadata{}, "abc", views.Fact{Kind: views.FactBytes, N: 3}},
		{"an empty file", "read_file", models.ResultMetadata{}, "", views.Fact{Kind: views.FactLines}},
		{"a page", "read_tool_output", models.ResultMetadata{Offset: models.Ptr(int64(4096)), NextOffset: models.Ptr(int64(8192))}, "x", views.Fact{Kind: views.FactRange, N: 4096, M: 8192}},
		{"a change", "edit_file", models.ResultMetadata{}, "Edited x.\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-b\n+c\n+d\n", views.Fact{Kind: views.FactChange, N: 2, M: 1}},
		{"an error", "read_file", models.ResultMetadata{IsError: true}, "There is no x.", views.Fact{}},
		{"a command", "run_command", models.ResultMetadata{}, "a\nb\n", views.Fact{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := factOf(tt.tool, tt.meta, tt.body); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
