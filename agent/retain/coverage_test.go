package retain_test

import (
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/retain"
	"offcut/models"

	"github.com/google/go-cmp/cmp"
)

// What is left of a shortened result counts only as far as it is plain which bytes
// of the copy it is.
func TestWhatIsLeftOfAShortenedResultCounts(t *testing.T) {
	const marker = "[800 bytes left out here. 200 bytes of 1000 bytes are shown. The kept copy is out_x]\n"
	head, tail := strings.Repeat("h", 79)+"\n", strings.Repeat("t", 120)
	shown := []models.Range{{Start: 0, End: 80}, {Start: 880, End: 1000}}
	preview := head + marker + tail
	end := int64(len(preview))
	ends := []models.Range{{Start: 0, End: 30}, {Start: end - 30, End: end}}
	whole := func(text string) []models.Range { return []models.Range{{End: int64(len(text))}} }
	page := strings.Repeat("p", 100)
	for name, test := range map[string]struct {
		tool, arguments, body string
		meta                  models.ResultMetadata
		left                  []models.Range
		want                  []models.Range
		kind                  models.ReadKind
	}{
		"a whole preview":   {body: preview, meta: models.ResultMetadata{OutputID: "out_x", Shown: shown}, left: whole(preview), want: shown, kind: models.ReadPreview},
		"its ends":          {body: preview, meta: models.ResultMetadata{OutputID: "out_x", Shown: shown}, left: ends, want: []models.Range{{Start: 0, End: 30}, {Start: 970, End: 1000}}, kind: models.ReadPreview},
		"across its marker": {body: preview, meta: models.ResultMetadata{OutputID: "out_x", Shown: shown}, left: []models.Range{{Start: 70, End: end - 110}}, want: []models.Range{{Start: 70, End: 80}, {Start: 880, End: 890}}, kind: models.ReadPreview},
		"a cleared one":     {body: preview, meta: models.ResultMetadata{OutputID: "out_x", Shown: shown}},
		"one of which a terminal has overwritten the head": {
			body: "overwritten" + preview, meta: models.ResultMetadata{OutputID: "out_x", Shown: shown},
			left: []models.Range{{Start: 0, End: 30}, {Start: end - 19, End: end + 11}},
			want: []models.Range{{Start: 970, End: 1000}}, kind: models.ReadPreview,
		},
		"the head of one that is shown whole": {
			body: head, meta: models.ResultMetadata{OutputID: "out_x", Shown: []models.Range{{End: 80}}},
			left: []models.Range{{End: 10}}, want: []models.Range{{End: 10}}, kind: models.ReadPreview,
		},
		"the ends of a page": {
			tool: "read_tool_output", arguments: `{"output_id":"out_x"}`, body: page,
			meta: models.ResultMetadata{Offset: models.Ptr(int64(500)), NextOffset: models.Ptr(int64(600))},
			left: []models.Range{{End: 10}, {Start: 90, End: 100}},
			want: []models.Range{{Start: 500, End: 510}, {Start: 590, End: 600}}, kind: models.ReadPage,
		},
		"a search": {
			tool: "search_tool_output", arguments: `{"output_id":"out_x"}`, body: page, meta: models.ResultMetadata{Shown: []models.Range{{Start: 5, End: 9}}},
			left: whole(page), want: []models.Range{{Start: 5, End: 9}, {}}, kind: models.ReadSearch,
		},
		"a search that found nothing": {
			tool: "search_tool_output", arguments: `{"output_id":"out_x"}`, body: "(no match)", left: whole("(no match)"), want: []models.Range{{}}, kind: models.ReadSearch,
		},
		"the ends of a search": {
			tool: "search_tool_output", arguments: `{"output_id":"out_x"}`, body: page, meta: models.ResultMetadata{Shown: []models.Range{{Start: 5, End: 9}}},
			left: []models.Range{{End: 10}}, want: []models.Range{{}}, kind: models.ReadSearch,
		},
		"the ends of a filter's values": {
			tool: "query_tool_output", arguments: `{"output_id":"out_x"}`, body: page, left: []models.Range{{End: 10}}, want: []models.Range{{}}, kind: models.ReadQuery,
		},
		"a read that was refused": {
			tool: "read_tool_output", arguments: `{"output_id":"out_x"}`, body: page, meta: models.ResultMetadata{IsError: true}, left: whole(page),
		},
	} {
		t.Run(name, func(t *testing.T) {
			call := agent.Call{ID: "c", TurnID: "t", Tool: test.tool, Arguments: []byte(test.arguments)}
			result := agent.ToolResult{Content: test.body, IsError: test.meta.IsError, Metadata: test.meta}
			var got []models.Range
			for _, read := range retain.ReadsLeft(call, result, test.left, time.Now()) {
				if read.OutputID != "out_x" || read.Kind != test.kind || read.TurnID != "t" || read.CallID != "c" {
					t.Errorf("%+v", read)
				}
				got = append(got, read.Range)
				if read.Sought != nil {
					t.Errorf("not every place of %+v is shown", *read.Sought)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Only a search that went through everything, and of whose answer nothing is
// missing, says that more of what it looked for is nowhere.
func TestWhatWasSoughtEverywhere(t *testing.T) {
	const body = "offset 7, line 2: E17"
	all := models.ResultMetadata{Complete: models.Ptr(true)}
	for name, test := range map[string]struct {
		tool string
		meta models.ResultMetadata
		left int64
		want *models.Sought
	}{
		"all of a complete copy":    {"search_tool_output", all, int64(len(body)), &models.Sought{Pattern: "E1[0-9]", Regexp: true}},
		"more hits than it shows":   {"search_tool_output", models.ResultMetadata{Complete: all.Complete, Truncated: true}, int64(len(body)), nil},
		"a copy that lacks bytes":   {"search_tool_output", models.ResultMetadata{Complete: models.Ptr(false)}, int64(len(body)), nil},
		"an answer that was pruned": {"search_tool_output", all, 5, nil},
		"a filter":                  {"query_tool_output", all, int64(len(body)), nil},
	} {
		call := agent.Call{ID: "c", Tool: test.tool, Arguments: []byte(`{"output_id":"out_x","pattern":"E1[0-9]","regexp":true}`)}
		result := agent.ToolResult{Content: body, Metadata: test.meta}
		var got *models.Sought
		for _, read := range retain.ReadsLeft(call, result, []models.Range{{End: test.left}}, time.Now()) {
			if read.Sought != nil {
				got = read.Sought
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
