package retain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"offcut/models"
)

func TestWhatOnlyColoursInterruptIsShownAsOneRange(t *testing.T) {
	for name, line := range map[string]string{"colours": "\x1b[32mok\x1b[0m test %d\n", "DOS line ends": "line %d\r\n"} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for i := range 10_000 {
				fmt.Fprintf(&b, line, i)
			}
			store := newMemory()
			result := record(t, store, Config{}, Exited, out(b.String()))
			checkResult(t, store, result, int64(b.Len()))
			shown := result.Metadata.Shown
			if len(shown) != 2 || covered(shown) < CommandPreviewBytes || strings.ContainsAny(result.Content, "\x1b\r") {
				t.Errorf("shown is %v", shown)
			}
			if gap := fmt.Sprintf("[%d bytes left out", shown[1].Start-shown[0].End); !strings.Contains(result.Content, gap) {
				t.Errorf("no gap of %s in the body", gap)
			}
		})
	}
}

func TestOverwrittenTextIsKept(t *testing.T) {
	store := newMemory()
	var b strings.Builder
	for i := 1; i <= 500; i++ {
		fmt.Fprintf(&b, "\rp %d", i)
	}
	b.WriteString("\n\x1b[?25lX\x1b[?25h\n")
	result := record(t, store, Config{}, Exited, out(b.String()))
	checkResult(t, store, result, int64(b.Len()))
	if result.Content != "p 500\nX\n" {
		t.Errorf("the body is %q", result.Content)
	}
	if !result.Metadata.Truncated || pages(t, store, result.Metadata.OutputID, 5) != b.String() {
		t.Errorf("the metadata are %s", result.Metadata.Line())
	}
	copied := b.String()
	for _, r := range result.Metadata.Shown {
		if s := copied[r.Start:r.End]; s != "X" && s != "\n" {
			t.Errorf("%q is said to be shown", s)
		}
	}
}

func TestBytesThatAreNoTextAreReplacedAndKept(t *testing.T) {
	store := newMemory()
	result := record(t, store, Config{}, Exited, out("\xb3\xc9\xb9\xa6\n"))
	checkResult(t, store, result, 5)
	if m := result.Metadata; result.Content != "\ufffd\u0279\ufffd\n" && m.ReplacedBytes == 0 {
		t.Errorf("the body is %q: %s", result.Content, m.Line())
	}
	m := result.Metadata
	if m.Truncated || m.Retention != models.RetentionKept || m.ReplacedBytes == 0 || !*m.Complete {
		t.Errorf("the metadata are %s", m.Line())
	}
}

func TestABinaryOutputIsDumped(t *testing.T) {
	random := make([]byte, 10<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random)
	random[100] = 0
	for name, n := range map[string]int{"one byte": 1, "three": 3, "a line": 16, "a page": 4096, "a megabyte": 1<<20 + 5, "over the limit": 10<<20 - 3} {
		t.Run(name, func(t *testing.T) {
			store := newMemory()
			data := slices.Clone(random[:n])
			data[0] = 0
			result := record(t, store, Config{}, Exited, write{Stdout, data})
			dump := checkResult(t, store, result, int64(n))
			m := result.Metadata
			if !m.Binary || m.SHA256 == "" || m.Retention != models.RetentionKept || m.ReplacedBytes != 0 {
				t.Fatalf("the metadata are %s", m.Line())
			}
			if result.Content != dump[:min(len(dump), BinaryBodyBytes)] {
				t.Error("the body is not the beginning of the dump")
			}
			if n <= 1<<20+5 && dump != string(appendDump(nil, data, 0)) {
				t.Error("the pages are not the dump")
			}
			if m.Truncated != (len(dump) > BinaryBodyBytes) {
				t.Errorf("truncated is %t of a dump of %d bytes", m.Truncated, len(dump))
			}
			if want := fmt.Sprintf("%012x  ", (n-1)/16*16); !strings.Contains(dump, "\n"+want) && !strings.HasPrefix(dump, want) && n%16 == 1 {
				t.Errorf("no line %s at the end", want)
			}
		})
	}
}

func TestABinaryOfTwoStreamsOverTheLimitHasTwoGaps(t *testing.T) {
	store := newMemory()
	data := bytes.Repeat([]byte{0, 1, 2, 3, 4, 5, 6}, 1<<20)
	result := record(t, store, Config{}, Exited, write{Stdout, data}, write{Stderr, data}, write{Stdout, []byte("end")})
	whole := checkResult(t, store, result, int64(2*len(data)+3))
	if gaps := store.only(t).row.Gaps; len(gaps) != 2 {
		t.Errorf("the gaps are %v", gaps)
	}
	if !strings.Contains(whole[len(whole)-90:], "65 6e 64") {
		t.Errorf("the dump ends with %q", whole[len(whole)-90:])
	}
	// Pages that do not fall on its lines, around each gap and at its end.
	for _, gap := range append(store.only(t).row.Gaps, models.Gap{At: int64(len(whole))}) {
		at := gap.At - 100_000
		if end := pagesBetween(t, store, result.Metadata.OutputID, at, gap.At, 999)[:100_000]; end != whole[at:gap.At] {
			t.Errorf("read from %d on in other pages it is another dump", at)
		}
	}
}

func TestJSONIsCutBetweenElements(t *testing.T) {
	type row struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
	}
	var rows []row
	for i := range 2000 {
		rows = append(rows, row{i, strings.Repeat("n", i%40)})
	}
	flat, _ := json.Marshal(rows)
	pretty, _ := json.MarshalIndent(rows, "", "  ")
	nested, _ := json.Marshal(map[string]any{"items": rows, "next": "abc"})
	for name, text := range map[string]string{"flat": string(flat), "pretty": string(pretty), "nested": string(nested)} {
		t.Run(name, func(t *testing.T) {
			store := newMemory()
			result := record(t, store, Config{}, Exited, out(text))
			checkResult(t, store, result, int64(len(text)))
			body := result.Content
			if json.Valid([]byte(body)) {
				t.Fatal("the body is valid JSON")
			}
			at := strings.Index(body, "\n[")
			marker, tail, _ := strings.Cut(body[at+1:], "\n")
			head := strings.TrimSpace(body[:at])
			if !strings.HasSuffix(head, "},") || !strings.HasPrefix(strings.TrimSpace(tail), `{`) {
				t.Errorf("the gap is between %q and %q", head[len(head)-20:], tail[:20])
			}
			shown := strings.Count(head, `"id"`) + strings.Count(tail, `"id"`)
			if want := fmt.Sprintf(" (%d elements) left out here", len(rows)-shown); !strings.Contains(marker, want) {
				t.Errorf("the marker says %q, not %q", marker, want)
			}
		})
	}
}
