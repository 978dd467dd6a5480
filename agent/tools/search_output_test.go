package tools

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"offcut/agent/retain"
	"offcut/models"
)

func TestASearchOfAKeptOutputSaysWhatItLeavesOut(t *testing.T) {
	b := newBench(t)
	kept := b.ok("run_command", arguments{"command": "seq -f 'line %06g of a long output, with a good deal of text behind it' 1 20000"})
	id, total := kept.Metadata.OutputID, *kept.Metadata.TotalBytes
	for name, test := range map[string]struct {
		args   arguments
		budget int
		hits   int // at most; all of them where it is not truncated
		cut    bool
		says   string
	}{
		"the usual number of many":   {arguments{"pattern": "line"}, 0, retain.DefaultMatches, true, "\n(there are more than these 20 matches: "},
		"a number of many":           {arguments{"pattern": "line", "max": 3}, 0, 3, true, "\n(there are more than these 3 matches: "},
		"all there are":              {arguments{"pattern": "line 0190[0-4]5 ", "regexp": true, "max": 5}, 0, 5, false, ""},
		"one":                        {arguments{"pattern": "line 019999"}, 0, 1, false, ""},
		"none":                       {arguments{"pattern": "absent"}, 0, 0, false, "(no match)"},
		"more than the round leaves": {arguments{"pattern": "line", "max": 200}, 4096, 40, true, "\n(there is no room for more matches: "},
	} {
		t.Run(name, func(t *testing.T) {
			b.t, b.budget = t, test.budget
			test.args["output_id"] = id
			found := b.ok("search_tool_output", test.args)
			meta := found.Metadata
			hits := strings.Count(found.Content, "\noffset ") + strings.Count(found.Content[:7], "offset ")
			if hits > test.hits || (hits < test.hits && test.budget == 0) || meta.Truncated != test.cut || !strings.Contains(found.Content, test.says) {
				t.Errorf("%d hits, truncated %v: %s", hits, meta.Truncated, found.Content)
			}
			if test.budget > 0 && len(found.Content) > test.budget {
				t.Errorf("%d bytes of %d", len(found.Content), test.budget)
			}
			if meta.Complete == nil || !*meta.Complete || meta.OutputID != "" {
				t.Errorf("metadata %s", meta.Line())
			}
			for _, r := range meta.Shown {
				page, err := b.store.ReadOutput(b.ctx, "s1", id, models.StreamText, r.Start, int(r.Len()))
				if err != nil || r.End > total || !strings.Contains(found.Content, strings.SplitN(string(page), "\n", 2)[0]) {
					t.Errorf("%v is not shown: %v", r, err)
				}
			}
			if len(meta.Shown) > retain.MaxShownRanges || (len(meta.Shown) == 0) != (hits == 0) {
				t.Errorf("shown %v", meta.Shown)
			}
		})
	}
}

// More than the copy holds was printed, so that nothing may be concluded from
// what is not found.
func TestASearchOfAnIncompleteCopySaysSo(t *testing.T) {
	b := newBench(t)
	kept := b.ok("run_command", arguments{"command": "yes 0123456789abcdef | head -c 9000000"})
	found := b.ok("search_tool_output", arguments{"output_id": kept.Metadata.OutputID, "pattern": "absent"})
	if *found.Metadata.Complete || !slices.Equal(strings.Split(found.Content, "\n"), []string{"(no match)", "(the kept copy is not complete: what is missing was not searched)"}) {
		t.Errorf("%s\n%s", found.Metadata.Line(), found.Content)
	}
	if fmt.Sprint(found.Metadata.Shown) != "[]" {
		t.Errorf("shown %v", found.Metadata.Shown)
	}
}

func TestAnOutputThatWasDeletedIsSaidInASentence(t *testing.T) {
	b := newBench(t)
	id := b.ok("run_command", arguments{"command": "seq 1 20000"}).Metadata.OutputID
	if err := b.store.DeleteOutput(t.Context(), b.turn.SessionID, id, time.Now()); err != nil {
		t.Fatal(err)
	}
	for tool, args := range map[string]arguments{
		"read_tool_output":   {"output_id": id},
		"search_tool_output": {"output_id": id, "pattern": "1"},
	} {
		if said := b.call(tool, args).Content; !strings.HasPrefix(said, "this output was deleted on ") || strings.ContainsAny(said, "{\n") {
			t.Errorf("%s says %q", tool, said)
		}
	}
}
