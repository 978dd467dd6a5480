package retain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/models"
)

// a tool that returns what the test says.
type fixed struct {
	spec   agent.ToolSpec
	result agent.ToolResult
	err    error
}

func (f fixed) Spec() agent.ToolSpec { return f.spec }

func (f fixed) Run(_ context.Context, call agent.Call) (agent.ToolResult, error) {
	f.result.ToolCallID = call.ID
	return f.result, f.err
}

func wrapped(t *testing.T, store Store, cfg Config, f fixed, arguments string) agent.ToolResult {
	t.Helper()
	call := testCall(f.spec.Name)
	call.Arguments = json.RawMessage(arguments)
	result, err := NewKeeper(store, cfg).Wrap(f).Run(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestAnOrdinaryResultIsBoundedAndKept(t *testing.T) {
	for name, tc := range map[string]struct {
		content   string
		retention models.Retention
	}{
		"within the budget":   {strings.Repeat("a", ResultPreviewBytes), models.RetentionNotNeeded},
		"empty":               {"", models.RetentionNotNeeded},
		"one byte over":       {strings.Repeat("a", ResultPreviewBytes+1), models.RetentionKept},
		"escapes stay":        {"\x1b[1mbold\x1b[0m a\rb", models.RetentionNotNeeded},
		"over the copy":       {strings.Repeat("line\n", 2<<20), models.RetentionKept},
		"bytes of no text":    {"\xff", models.RetentionKept},
		"binary":              {"\x00\x01", models.RetentionKept},
		"lines of one byte":   {strings.Repeat("a\n", 30_000), models.RetentionKept},
		"escapes are counted": {strings.Repeat("\x1b[1m", 10_000), models.RetentionKept},
	} {
		t.Run(name, func(t *testing.T) {
			store := newMemory()
			result := wrapped(t, store, Config{}, fixed{spec: agent.ToolSpec{Name: "list_files"}, result: agent.ToolResult{Content: tc.content}}, `{}`)
			if result.Metadata.Retention != tc.retention || result.ToolCallID != "call_1" {
				t.Errorf("the metadata are %s", result.Metadata.Line())
			}
			if tc.retention == models.RetentionNotNeeded && result.Content != tc.content {
				t.Error("the body changed")
			}
			checkResult(t, store, result, int64(len(tc.content)))
		})
	}
}

func TestWhatATextWasMadeOfIsKeptForDownload(t *testing.T) {
	page := strings.Repeat("<p>", CommandPreviewBytes)
	for name, tc := range map[string]struct {
		parent, original string
		replaced         int64
		kept             bool
	}{
		"of a model's call":                       {"", "<p>hi", 3, true},
		"long, of a script's call":                {"call_0", page, 3, true},
		"of a script's call":                      {"call_0", "<p>hi", 0, false},
		"of a script's call, with bytes replaced": {"call_0", "<p>hi", 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			store := newMemory()
			call := testCall("fetch_url")
			call.Parent = tc.parent
			made := agent.ToolResult{Content: "hi", Original: &agent.Original{MediaType: "text/html", Bytes: []byte(tc.original)}}
			made.Metadata.ReplacedBytes = tc.replaced
			result, err := NewKeeper(store, Config{}).Wrap(fixed{spec: agent.ToolSpec{Name: "fetch_url"}, result: made}).Run(t.Context(), call)
			if err != nil || result.Content != "hi" || result.Original != nil || (result.Metadata.OutputID != "") != tc.kept {
				t.Fatalf("%+v, %v", result, err)
			}
			if !tc.kept {
				return
			}
			row, raw, err := NewReader(store).Raw(t.Context(), testSession, result.Metadata.OutputID)
			if err != nil {
				t.Fatal(err)
			}
			bytes, err := io.ReadAll(raw)
			if err != nil || string(bytes) != tc.original || row.Original != "text/html" || row.TotalBytes != 2 || row.ReplacedBytes != tc.replaced || row.Binary {
				t.Errorf("%d bytes, %+v, %v", len(bytes), row, err)
			}
			page, err := NewReader(store).Page(t.Context(), testSession, row.ID, 0, MaxPageBytes)
			if err != nil || page.Text != "hi" || !page.Complete {
				t.Errorf("its page is %+v, %v", page, err)
			}
		})
	}
}

func TestBytesThatAreNoTextAreKeptHoweverFewTheyAre(t *testing.T) {
	for _, parent := range []string{"", "call_0"} {
		store := newMemory()
		call := testCall("server__tool")
		call.Parent = parent
		made := agent.ToolResult{Content: "a\xff\xfeb"}
		result, err := NewKeeper(store, Config{}).Wrap(fixed{spec: agent.ToolSpec{Name: "server__tool"}, result: made}).Run(t.Context(), call)
		meta := result.Metadata
		if err != nil || result.Content != "a\uFFFD\uFFFDb" || meta.ReplacedBytes != 2 || meta.Retention != models.RetentionKept || meta.Truncated {
			t.Fatalf("within %q: %q, %s, %v", parent, result.Content, meta.Line(), err)
		}
		_, raw, err := NewReader(store).Raw(t.Context(), testSession, meta.OutputID)
		if err != nil {
			t.Fatal(err)
		}
		if bytes, err := io.ReadAll(raw); err != nil || string(bytes) != made.Content {
			t.Errorf("within %q: %q is kept, %v", parent, bytes, err)
		}
	}
}

func TestWhatIsBoundedAlreadyPasses(t *testing.T) {
	long := strings.Repeat("\"\n", 40_000)
	for name, f := range map[string]fixed{
		"a reader of copies": {spec: agent.ToolSpec{Name: "read_tool_output", Whole: true}, result: agent.ToolResult{Content: long}},
		"a kept result":      {spec: agent.ToolSpec{Name: "run_command"}, result: agent.ToolResult{Content: long, Metadata: models.ResultMetadata{Retention: models.RetentionKept}}},
		"a failed one":       {spec: agent.ToolSpec{Name: "run_command"}, result: agent.ToolResult{Content: long, Metadata: models.ResultMetadata{Retention: models.RetentionFailed}}},
	} {
		t.Run(name, func(t *testing.T) {
			store := newMemory()
			if result := wrapped(t, store, Config{}, f, `{}`); result.Content != long || store.count() != 0 {
				t.Errorf("%d bytes and %d copies", len(result.Content), store.count())
			}
		})
	}
	broken := fixed{spec: agent.ToolSpec{Name: "list_files"}, err: errors.New("broken")}
	if _, err := NewKeeper(newMemory(), Config{}).Wrap(broken).Run(t.Context(), testCall("list_files")); err == nil {
		t.Error("the tool's own error is lost")
	}
}

// What a tool cut itself, such as a page of a file, and what its preview leaves out
// of that, is one reason.
func TestAReasonIsNamedOnce(t *testing.T) {
	page := agent.ToolResult{Content: strings.Repeat("line\n", 8000), Metadata: models.ResultMetadata{Truncated: true, Reasons: []models.Reason{models.ReasonPreview}}}
	result := wrapped(t, newMemory(), Config{}, fixed{spec: agent.ToolSpec{Name: "read_file"}, result: page}, `{}`)
	if reasons := result.Metadata.Reasons; !slices.Equal(reasons, []models.Reason{models.ReasonPreview}) {
		t.Errorf("the reasons are %v", reasons)
	}
}

func TestAnErrorResultStaysOne(t *testing.T) {
	store := newMemory()
	f := fixed{spec: agent.ToolSpec{Name: "search_files"}, result: agent.ErrorResult("call_1", "%s", strings.Repeat("bad ", 20_000))}
	if result := wrapped(t, store, Config{}, f, `{}`); !result.IsError || !result.Metadata.IsError || result.Metadata.OutputID == "" {
		t.Errorf("the metadata are %s", result.Metadata.Line())
	}
}

func TestSourceCodeIsCutBetweenDeclarations(t *testing.T) {
	var b strings.Builder
	b.WriteString("package x\n")
	for i := range 900 {
		fmt.Fprintf(&b, "\n// f%d is a function.\nfunc f%d() {\n\tif true {\n\n\t\treturn\n\t}\n}\n", i, i)
	}
	store := newMemory()
	f := fixed{spec: agent.ToolSpec{Name: "read_file"}, result: agent.ToolResult{Content: b.String()}}
	result := wrapped(t, store, Config{}, f, `{"path":"src/x.go"}`)
	checkResult(t, store, result, int64(b.Len()))
	head, rest, _ := strings.Cut(result.Content, "[")
	_, tail, _ := strings.Cut(rest, "]\n")
	if !strings.HasSuffix(head, "}\n\n") || !strings.HasPrefix(tail, "// f") {
		t.Errorf("the gap is between %q and %q", head[len(head)-20:], tail[:20])
	}
	if store.only(t).row.Title != "src/x.go" {
		t.Errorf("the title is %q", store.only(t).row.Title)
	}
}

func TestOutermostDeclarations(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"Go":               {"package x\n\nfunc a() {\n\tx()\n}\n// b does.\nfunc b() {\n}\n", []string{"func a() {", "// b does."}},
		"Python":           {"import a\nimport b\n\n@x\ndef a():\n    pass\n\n    y\ndef b():\n    pass\n", []string{"@x", "def b():"}},
		"a class's middle": {"cut\n    def a(self):\n        pass\n\n    def b(self):\n        pass\n", []string{"    def b(self):"}},
		"no indentation":   {"a\nb\nc\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			text := []byte(tc.text)
			var got []string
			for at := 0; at < len(text); {
				next := codeBoundaryFrom(text, at, len(text))
				if next < 0 {
					break
				}
				got = append(got, string(lineAt(text, next)))
				at = next + 1
			}
			if fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("declarations begin at %q", got)
			}
			if len(got) > 0 {
				last := codeBoundaryBefore(text, 0, len(text))
				if line := string(lineAt(text, last)); line != got[len(got)-1] {
					t.Errorf("the last is %q", line)
				}
			}
		})
	}
}

func TestReadsAreWhatTheModelWasShown(t *testing.T) {
	at := time.Unix(1, 0)
	call := testCall("x")
	page := agent.ToolResult{Metadata: models.ResultMetadata{Offset: models.Ptr(int64(10)), NextOffset: models.Ptr(int64(20))}}
	hits := agent.ToolResult{Metadata: models.ResultMetadata{Shown: []models.Range{{Start: 5, End: 9}, {Start: 1, End: 6}, {Start: 3, End: 3}}}}
	kept := hits
	kept.Metadata.OutputID = "out_own"
	for name, tc := range map[string]struct {
		arguments string
		result    agent.ToolResult
		id        string
		kind      models.ReadKind
		ranges    []models.Range
	}{
		"a preview":      {`{}`, kept, "out_own", models.ReadPreview, []models.Range{{Start: 1, End: 9}}},
		"a page":         {`{"output_id":"out_1"}`, page, "out_1", models.ReadPage, []models.Range{{Start: 10, End: 20}}},
		"a search":       {`{"output_id":"out_1"}`, hits, "out_1", models.ReadSearch, []models.Range{{Start: 1, End: 9}}},
		"a refused page": {`{"output_id":"out_1"}`, agent.ErrorResult("c", "no"), "", "", nil},
		"another tool":   {`{"path":"x"}`, page, "", "", nil},
		"a wrong id":     {`{"output_id":1}`, page, "", "", nil},
		"an empty page":  {`{"output_id":"out_1"}`, agent.ToolResult{Metadata: models.ResultMetadata{Offset: models.Ptr(int64(7)), NextOffset: models.Ptr(int64(7))}}, "", "", nil},
		"no arguments":   {``, page, "", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			call.Arguments = json.RawMessage(tc.arguments)
			reads := ReadsOf(call, tc.result, at)
			if len(reads) != len(tc.ranges) {
				t.Fatalf("the reads are %+v", reads)
			}
			for i, r := range reads {
				want := models.OutputRead{OutputID: tc.id, TurnID: "trn_1", CallID: "call_1", Kind: tc.kind, Range: tc.ranges[i], At: at}
				if r != want {
					t.Errorf("the read is %+v", r)
				}
			}
		})
	}
}

// FuzzPreview cuts any text in any share, and finds that what is shown stands
// in the body, in order, and is no more than the budget.
func FuzzPreview(f *testing.F) {
	f.Add(`[{"a":1},{"b":[1,2,3]},`, `{"c":"d"}]`, 300, 30, "x.json", false)
	f.Add("func a() {\n\tb\n}\n\n", "end", 400, 100, "x.go", false)
	f.Add("漢字\n\n", "😀", 256, 7, "", true)
	f.Fuzz(func(t *testing.T, unit, end string, share, times int, path string, head bool) {
		times = max(0, times) % 3000
		if len(unit)*times > 1<<18 {
			return
		}
		text := strings.ToValidUTF8(strings.Repeat(unit, times)+end, "?")
		if isBinary([]byte(text[:min(len(text), sampleBytes)]), true) {
			return
		}
		cfg := Config{Tools: map[string]ToolConfig{"read_file": {PreviewBytes: MinPreviewBytes + max(0, share)%40_000}}}
		if head {
			tool := cfg.Tools["read_file"]
			tool.Keep = KeepHead
			cfg.Tools["read_file"] = tool
		}
		store := newMemory()
		arguments, _ := json.Marshal(map[string]string{"path": path})
		result := wrapped(t, store, cfg, fixed{spec: agent.ToolSpec{Name: "read_file"}, result: agent.ToolResult{Content: text}}, string(arguments))
		checkResult(t, store, result, int64(len(text)))
		m := result.Metadata
		if m.Retention == models.RetentionNotNeeded {
			if result.Content != text {
				t.Fatal("the body is not the text")
			}
			return
		}
		if shown := covered(m.Shown); shown > int64(cfg.Tools["read_file"].PreviewBytes) || shown == 0 {
			t.Fatalf("%d bytes are shown", shown)
		}
		first := m.Shown[0]
		if first.Start != 0 || !strings.HasPrefix(result.Content, text[:first.End]) {
			t.Fatal("the body does not begin with the head")
		}
		if last := m.Shown[len(m.Shown)-1]; !head && (last.End != int64(len(text)) || !strings.HasSuffix(result.Content, text[last.Start:])) {
			t.Fatal("the body does not end with the tail")
		}
		gap := fmt.Sprintf("[%d bytes", int64(len(text))-covered(m.Shown))
		if !strings.Contains(result.Content, gap) {
			t.Fatalf("the body names no gap of %s", gap)
		}
		if json.Valid([]byte(result.Content)) {
			t.Fatal("the body is a shorter document")
		}
	})
}

// A tool that could not store all of its answer stays heard, whether its text is
// kept or needs no copy, and whoever asked for it.
func TestWhatAToolCouldNotStoreIsSaid(t *testing.T) {
	said := models.ResultMetadata{
		Truncated: true, Complete: models.Ptr(false), OmittedBytes: models.Ptr(int64(7)),
		Reasons: []models.Reason{models.ReasonRetention}, RetentionError: "a file was not stored: there is no room",
	}
	for name, tc := range map[string]struct {
		content, parent string
		retention       models.Retention
	}{
		"a short text":             {"short", "", models.RetentionFailed},
		"a short text of a script": {"short", "call_0", models.RetentionFailed},
		"a long text":              {strings.Repeat("line\n", 20_000), "", models.RetentionKept},
		"a long text of a script":  {strings.Repeat("line\n", 20_000), "call_0", models.RetentionKept},
	} {
		t.Run(name, func(t *testing.T) {
			call := testCall("own__image")
			call.Parent = tc.parent
			tool := fixed{spec: agent.ToolSpec{Name: "own__image"}, result: agent.ToolResult{Content: tc.content, Metadata: said}}
			result, err := NewKeeper(newMemory(), Config{}).Wrap(tool).Run(t.Context(), call)
			meta := result.Metadata
			if err != nil || meta.Retention != tc.retention || meta.RetentionError != said.RetentionError {
				t.Errorf("retention %q, %q, %v", meta.Retention, meta.RetentionError, err)
			}
			if !meta.Truncated || meta.Complete == nil || *meta.Complete || meta.OmittedBytes == nil || *meta.OmittedBytes != 7 || meta.Reasons[0] != models.ReasonRetention {
				t.Errorf("the metadata are %s", meta.Line())
			}
			if tc.parent == "" && meta.Passage.Captured-meta.Passage.Retained != 7 {
				t.Errorf("the figures are %+v", *meta.Passage)
			}
		})
	}
}
