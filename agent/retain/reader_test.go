package retain

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"offcut/models"
)

// put stores a text as a kept copy.
func put(t *testing.T, store *memory, id, text string) {
	t.Helper()
	o := models.RetainedOutput{ID: id, SessionID: testSession, TotalBytes: int64(len(text)), RawBytes: int64(len(text)), Complete: true}
	if err := errors.Join(store.CreateOutput(t.Context(), o), store.WriteOutput(t.Context(), o, models.OutputWrite{Text: []byte(text)})); err != nil {
		t.Fatal(err)
	}
}

func TestAPageEndsOnACharacterBoundary(t *testing.T) {
	store := newMemory()
	put(t, store, "out_1", "aé漢😀z") // boundaries 0 1 3 6 10 11
	for _, tc := range []struct {
		offset  int64
		limit   int
		text    string
		next    int64
		hasMore bool
	}{
		{0, 4096, "aé漢😀z", 11, false},
		{0, 5, "aé", 3, true},
		{0, 0, "aé", 3, true}, // clamped to 4
		{0, -9, "aé", 3, true},
		{6, 4, "😀", 10, true},
		{6, 1, "😀", 10, true},
		{10, 4, "z", 11, false},
		{11, 4, "", 11, false},
		{3, 1 << 30, "漢😀z", 11, false},
	} {
		page, err := NewReader(store).Page(t.Context(), testSession, "out_1", tc.offset, tc.limit)
		want := models.OutputPage{Offset: tc.offset, Text: tc.text, NextOffset: tc.next, TotalBytes: 11, HasMore: tc.hasMore, Complete: true}
		if err != nil || page != want {
			t.Errorf("the page at %d of %d is %+v: %v", tc.offset, tc.limit, page, err)
		}
	}
}

func TestAWrongOffsetIsRefusedWithWhatIsRight(t *testing.T) {
	store := newMemory()
	put(t, store, "out_1", "aé漢😀z")
	for _, tc := range []struct {
		offset  int64
		code    string
		details map[string]any
	}{
		{2, "offset_inside_character", map[string]any{"before": int64(1), "after": int64(3)}},
		{5, "offset_inside_character", map[string]any{"before": int64(3), "after": int64(6)}},
		{7, "offset_inside_character", map[string]any{"before": int64(6), "after": int64(10)}},
		{9, "offset_inside_character", map[string]any{"before": int64(6), "after": int64(10)}},
		{12, "offset_past_end", map[string]any{"totalBytes": int64(11)}},
		{1 << 62, "offset_past_end", map[string]any{"totalBytes": int64(11)}},
		{-1, "offset_negative", nil},
	} {
		_, err := NewReader(store).Page(t.Context(), testSession, "out_1", tc.offset, 4)
		var refused *models.Error
		if !errors.As(err, &refused) || !errors.Is(err, models.ErrMalformed) || refused.Code != tc.code || fmt.Sprint(refused.Details) != fmt.Sprint(tc.details) {
			t.Errorf("the offset %d gives %v, %+v", tc.offset, err, refused)
		}
	}
}

func TestAnotherSessionsOutputIsNotThere(t *testing.T) {
	store := newMemory()
	put(t, store, "out_1", "secret")
	r := NewReader(store)
	_, pageErr := r.Page(t.Context(), "ses_2", "out_1", 0, 4096)
	_, searchErr := r.Search(t.Context(), "ann", "ses_2", "out_1", "secret", false, 20)
	_, _, rawErr := r.Raw(t.Context(), "ses_2", "out_1")
	_, unknownErr := r.Page(t.Context(), testSession, "out_none", 0, 4096)
	for _, err := range []error{pageErr, searchErr, rawErr, unknownErr} {
		if !errors.Is(err, models.ErrNotFound) || err.Error() != "no such output in this session" {
			t.Errorf("the error is %v", err)
		}
	}
}

func TestSearchFindsTextAndExpressions(t *testing.T) {
	text := "first line\nERROR one\n漢字 ERROR two\nlast ERROR"
	for name, tc := range map[string]struct {
		pattern string
		regexp  bool
		most    int
		want    []models.Match
	}{
		"literal":           {"ERROR", false, 0, []models.Match{{Offset: 11, Line: 2, Text: "ERROR one"}, {Offset: 28, Line: 3, Text: "漢字 ERROR two"}, {Offset: 43, Line: 4, Text: "last ERROR"}}},
		"at most one":       {"ERROR", false, 1, []models.Match{{Offset: 11, Line: 2, Text: "ERROR one"}}},
		"dots are literal":  {"f.rst", false, 20, nil},
		"expression":        {"f.rst", true, 20, []models.Match{{Offset: 0, Line: 1, Text: "first line"}}},
		"lines begin":       {"^ERROR", true, 20, []models.Match{{Offset: 11, Line: 2, Text: "ERROR one"}}},
		"lines end":         {"two$", true, 20, []models.Match{{Offset: 34, Line: 3, Text: "漢字 ERROR two"}}},
		"across lines":      {"line\nERR", false, 20, []models.Match{{Offset: 6, Line: 1, Text: "first line"}}},
		"wide characters":   {"字", false, 20, []models.Match{{Offset: 24, Line: 3, Text: "漢字 ERROR two"}}},
		"nothing":           {"absent", false, 20, nil},
		"hits side by side": {"[RO]", true, 3, []models.Match{{Offset: 12, Line: 2, Text: "ERROR one"}, {Offset: 13, Line: 2, Text: "ERROR one"}, {Offset: 14, Line: 2, Text: "ERROR one"}}},
	} {
		t.Run(name, func(t *testing.T) {
			store := newMemory()
			put(t, store, "out_1", text)
			got, err := NewReader(store).Search(t.Context(), "ann", testSession, "out_1", tc.pattern, tc.regexp, tc.most)
			if err != nil || got == nil || len(got) != len(tc.want) {
				t.Fatalf("the matches are %+v: %v", got, err)
			}
			for i, m := range got {
				if text[m.Shown.Start:m.Shown.End] != m.Text {
					t.Errorf("%q is not at %v", m.Text, m.Shown)
				}
				m.Shown = models.Range{}
				if m != tc.want[i] {
					t.Errorf("match %d is %+v", i, m)
				}
			}
		})
	}
}

func TestSearchFindsWhatLiesAcrossItsParts(t *testing.T) {
	for name, filler := range map[string]string{"lines": "0123456789abcde\n", "one line": "0123456789abcdef", "wide": "漢字漢字漢\n"} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			var offsets []int64
			for b.Len() < 3<<20 {
				b.WriteString(strings.Repeat(filler, 2048)[:2048*len(filler)-len(filler)])
				offsets = append(offsets, int64(b.Len()))
				b.WriteString("the NEEDLE here")
				b.WriteString(strings.Repeat("-", b.Len()%7))
			}
			store := newMemory()
			put(t, store, "out_1", b.String())
			for pattern, isRegexp := range map[string]bool{"the NEEDLE here": false, `the [A-Z]+ h\w{3}`: true} {
				got, err := NewReader(store).Search(t.Context(), "ann", testSession, "out_1", pattern, isRegexp, 1000)
				if err != nil || len(got) != min(len(offsets), MaxMatches) {
					t.Fatalf("%d matches, not %d: %v", len(got), len(offsets), err)
				}
				for i, m := range got {
					line := int64(strings.Count(b.String()[:offsets[i]], "\n")) + 1
					if m.Offset != offsets[i] || m.Line != line || len(m.Text) > MaxMatchText || !utf8.ValidString(m.Text) || !strings.Contains(m.Text, "NEEDLE") {
						t.Fatalf("match %d is %+v; it is at %d in line %d", i, m, offsets[i], line)
					}
				}
			}
		})
	}
}

func TestSearchRefusesWhatItCannotLookFor(t *testing.T) {
	store := newMemory()
	put(t, store, "out_1", "text")
	for pattern, code := range map[string]string{
		"": "empty_pattern", "a(": "invalid_pattern", "\xff": "invalid_utf8", strings.Repeat("a", 2000): "pattern_too_long",
		"x*": "empty_pattern", "^$": "empty_pattern", `\b`: "empty_pattern", "a|(b?)": "empty_pattern", "(a{0,3}c*)+": "empty_pattern",
		"(?:a|b|[c-z ]){1,900}Q": "pattern_too_costly", "((a{1,30}){1,30})": "pattern_too_costly",
	} {
		_, err := NewReader(store).Search(t.Context(), "ann", testSession, "out_1", pattern, true, 20)
		var refused *models.Error
		if !errors.As(err, &refused) || refused.Code != code {
			t.Errorf("%.10q gives %v", pattern, err)
		}
	}
	if _, err := NewReader(store).Search(t.Context(), "ann", testSession, "out_1", "a(", true, 20); !strings.HasSuffix(err.Error(), ": `a(`") {
		t.Errorf("the pattern is quoted otherwise than it was given: %v", err)
	}
	for _, pattern := range []string{"t*e", "(x|te)xt?", `\bte`, "[a-z]{100}|ex", `^\w+$`} {
		if got, err := NewReader(store).Search(t.Context(), "ann", testSession, "out_1", pattern, true, 20); err != nil || len(got) != 1 {
			t.Errorf("%q finds %v: %v", pattern, got, err)
		}
	}
}

// slowPattern is among the costliest that are allowed: all of it is alive at
// every character of the text below.
const slowPattern = "(?:[a-y]|[b-z ]){1,120}Q"

func TestASlowSearchIsGivenUp(t *testing.T) {
	store := newMemory()
	put(t, store, "out_1", strings.Repeat("abcdefghijklmnopqrstuvwxy", 300_000))
	for name, tc := range map[string]struct {
		patience, stop time.Duration // until the search gives up, and until its caller does
		gives          func(error) bool
	}{
		"by itself": {100 * time.Millisecond, time.Hour, func(err error) bool {
			var refused *models.Error
			return errors.As(err, &refused) && refused.Code == "search_too_slow" && errors.Is(err, models.ErrInvalid)
		}},
		"when it is stopped": {time.Hour, 100 * time.Millisecond, func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }},
	} {
		t.Run(name, func(t *testing.T) {
			reader := NewReader(store)
			reader.searchTime = tc.patience
			ctx, cancel := context.WithTimeout(t.Context(), tc.stop)
			defer cancel()
			store.reads = 0
			if _, err := reader.Search(ctx, "ann", testSession, "out_1", slowPattern, true, 20); !tc.gives(err) {
				t.Errorf("the search ended with %v", err)
			}
			// The whole copy takes some thirty reads and minutes: it ends in the
			// part at which its time is over, not when all was searched.
			if store.reads > 3 {
				t.Errorf("it went on for %d reads", store.reads)
			}
		})
	}
}

func TestASearchSaysWhetherThereIsMore(t *testing.T) {
	store := newMemory()
	var text strings.Builder
	for i := range 250 {
		fmt.Fprintf(&text, "hit %d\n", i)
	}
	put(t, store, "out_1", text.String())
	for name, tc := range map[string]struct {
		pattern    string
		most, want int
		more       bool
	}{
		"none":             {"two", 10, 0, false},
		"the usual most":   {"hit", 0, DefaultMatches, true},
		"more than may be": {"hit", 250, MaxMatches, true},
		"exactly all":      {`hit \d$`, 10, 10, false},
		"one too many":     {`hit \d$`, 9, 9, true},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := NewReader(store).Find(t.Context(), testSession, "out_1", Query{Pattern: tc.pattern, Regexp: true, Most: tc.most})
			if err != nil || len(found.Matches) != tc.want || found.More != tc.more || !found.Complete {
				t.Errorf("%d hits, more %v, complete %v: %v", len(found.Matches), found.More, found.Complete, err)
			}
		})
	}
}

func TestSearchInABinaryOutputSearchesItsDump(t *testing.T) {
	store := newMemory()
	data := "\x00" + strings.Repeat("x", 100_000) + "NEEDLE!"
	result := record(t, store, Config{}, Exited, out(data))
	dump := pages(t, store, result.Metadata.OutputID, 4096)
	got, err := NewReader(store).Search(t.Context(), "ann", testSession, result.Metadata.OutputID, "NEEDLE", false, 20)
	if err != nil || len(got) != 1 || !strings.HasPrefix(dump[got[0].Offset:], "NEEDLE!|") {
		t.Errorf("the matches are %+v: %v", got, err)
	}
}
