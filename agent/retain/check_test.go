package retain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"offcut/agent"
	"offcut/models"
)

// checkResult holds whatever was printed: the figures of a result add up, the
// copy is readable whole, and what is said to be shown stands in the body. It
// returns the copy, read page by page; empty where nothing was kept.
func checkResult(t *testing.T, store *memory, result agent.ToolResult, captured int64) (text string) {
	t.Helper()
	meta := result.Metadata
	if !utf8.ValidString(result.Content) {
		t.Error("the body is not valid UTF-8")
	}
	checkPassage(t, store, result)
	if meta.Retention != models.RetentionKept {
		if meta.OutputID != "" || meta.Shown != nil || meta.TotalBytes != nil {
			t.Errorf("nothing was kept, and the metadata speak of a copy: %s", meta.Line())
		}
		if meta.Retention == models.RetentionNotNeeded && (meta.Truncated || len(meta.Reasons) > 0 || store.count() > 0) {
			t.Errorf("no copy was needed, with %d stored, yet: %s", store.count(), meta.Line())
		}
		return ""
	}
	row := store.only(t).row
	text = pages(t, store, meta.OutputID, MaxPageBytes)
	if row.Running || row.EndedAt == nil {
		t.Error("the copy is still running")
	}
	if spill := store.only(t).streams[models.StreamSpill]; len(spill) > 0 {
		t.Errorf("%d spilled bytes are left", len(spill))
	}
	if !utf8.ValidString(text) || int64(len(text)) != *meta.TotalBytes || row.TotalBytes != *meta.TotalBytes {
		t.Errorf("the copy has %d bytes, valid %t; the result says %d, the row %d", len(text), utf8.ValidString(text), *meta.TotalBytes, row.TotalBytes)
	}
	checkFigures(t, row, meta, text, captured)
	checkShown(t, result, text)
	checkRaw(t, store, row, text)
	return text
}

func checkFigures(t *testing.T, row models.RetainedOutput, meta models.ResultMetadata, text string, captured int64) {
	t.Helper()
	if *meta.CapturedBytes != captured || row.CapturedBytes != captured {
		t.Errorf("captured_bytes is %d (row: %d), not %d", *meta.CapturedBytes, row.CapturedBytes, captured)
	}
	var gaps, markers int64
	for _, gap := range row.Gaps {
		gaps += gap.Omitted
		markers += gap.MarkerBytes
		line := text[gap.At : gap.At+gap.MarkerBytes]
		if !strings.Contains(line, fmt.Sprint(gap.Omitted, " bytes")) || !strings.HasSuffix(line, "]\n") {
			t.Errorf("the marker line is %q", line)
		}
	}
	if gaps != *meta.OmittedBytes || row.OmittedBytes != *meta.OmittedBytes {
		t.Errorf("omitted_bytes is %d (row: %d), the gaps have %d", *meta.OmittedBytes, row.OmittedBytes, gaps)
	}
	if kept := row.TotalBytes - markers - row.ReplacedBytes*2; !row.Binary && kept != captured-gaps {
		t.Errorf("%d bytes are kept of %d, and %d omitted", kept, captured, gaps)
	}
	if limited := *meta.OmittedBytes > 0; limited && (*meta.Complete || !meta.Truncated) {
		t.Errorf("bytes are missing, yet: %s", meta.Line())
	}
	if row.Complete != *meta.Complete {
		t.Errorf("complete is %t in the row and %t in the result", row.Complete, *meta.Complete)
	}
	if row.TotalBytes > MaxOutputBytes && !row.Binary {
		t.Errorf("the copy has %d bytes", row.TotalBytes)
	}
	if meta.Truncated != (len(meta.Reasons) > 0) {
		t.Errorf("truncated is %t for the reasons %v", meta.Truncated, meta.Reasons)
	}
}

func checkShown(t *testing.T, result agent.ToolResult, text string) {
	t.Helper()
	if len(result.Metadata.Shown) > MaxShownRanges {
		t.Errorf("%d ranges are shown", len(result.Metadata.Shown))
	}
	last := int64(0)
	for i, r := range result.Metadata.Shown {
		if r.Start < last || r.End <= r.Start || r.End > int64(len(text)) || (i > 0 && r.Start == last) {
			t.Fatalf("the ranges %v are out of order, empty or past the end", result.Metadata.Shown)
		}
		last = r.End
	}
}

func checkRaw(t *testing.T, store *memory, row models.RetainedOutput, text string) {
	t.Helper()
	_, reader, err := NewReader(store).Raw(t.Context(), testSession, row.ID)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(reader)
	if err != nil || int64(len(raw)) != row.RawBytes {
		t.Errorf("%d original bytes are readable, not %d: %v", len(raw), row.RawBytes, err)
	}
	if row.Binary {
		sum := sha256.Sum256(raw)
		if row.SHA256 != hex.EncodeToString(sum[:]) || row.RawBytes != row.CapturedBytes-row.OmittedBytes {
			t.Errorf("of a binary copy %d of %d bytes are there, sha256 %s", len(raw), row.CapturedBytes, row.SHA256)
		}
		return
	}
	var r Replacer
	if replaced := r.Flush(r.Append(nil, raw)); !bytes.Equal(replaced, []byte(text)) || r.Replaced != row.ReplacedBytes {
		t.Errorf("the text is not the original bytes with %d replaced, but with %d", row.ReplacedBytes, r.Replaced)
	}
}

// strictlyShown is the shown ranges' bytes, each of which must stand in the
// body as it is.
func strictlyShown(t *testing.T, result agent.ToolResult, text string) int64 {
	t.Helper()
	var n int64
	for _, r := range result.Metadata.Shown {
		if !strings.Contains(result.Content, text[r.Start:r.End]) {
			t.Errorf("the bytes %d to %d do not stand in the body: %.200q", r.Start, r.End, text[r.Start:r.End])
		}
		n += r.Len()
	}
	return n
}

// withoutMarkers is a body without the lines that stand for gaps and name
// streams.
func withoutMarkers(body string) string {
	var b strings.Builder
	for line := range strings.Lines(body) {
		if !strings.Contains(line, " left out here") && line != "[stdout]\n" && line != "[stderr]\n" {
			b.WriteString(line)
		}
	}
	return b.String()
}

// covered is how many bytes the ranges hold together, each byte once.
func covered(ranges []models.Range) int64 {
	var n int64
	for _, r := range models.MergeRanges(ranges) {
		n += r.Len()
	}
	return n
}
