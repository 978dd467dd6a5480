package retain

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"offcut/agent"
	"offcut/models"
)

// running is the saver of a command, written when the test says so.
func running(store Store) (*Capture, *saver) {
	c := NewCapture()
	return c, NewKeeper(store, Config{}).newSaver(c, testCall("run_command"), "test")
}

func TestARunningCommandCanBeReadAndItsHeadOnlyGrows(t *testing.T) {
	store := newMemory()
	c, s := running(store)
	o, e := c.Writer(Stdout), c.Writer(Stderr)
	var before string
	for i := range 14 {
		for j := range 3000 {
			fmt.Fprintf(o, "out %d/%d %s漢\n", i, j, strings.Repeat(".", 200))
			if j%3 == 0 {
				fmt.Fprintf(e, "err %d/%d %s\n", i, j, strings.Repeat(".", 80))
			}
		}
		if err := s.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		row := store.only(t).row
		if !row.Running || row.Complete || row.OmittedBytes+int64(len(before)) > row.CapturedBytes {
			t.Fatalf("the row is %+v", row)
		}
		text := pages(t, store, row.ID, MaxPageBytes)
		if !strings.HasPrefix(text, before) || !utf8.ValidString(text) {
			t.Fatal("the head changed")
		}
		before = text
	}
	if len(before) < 1<<20 {
		t.Errorf("only %d bytes can be read of %d", len(before), c.Bytes())
	}
	call := testCall("run_command")
	result := s.resultFor(t, store, call, Exited)
	checkResult(t, store, result, c.Bytes())
	if final := pages(t, store, result.Metadata.OutputID, MaxPageBytes); !strings.HasPrefix(final, before) {
		t.Error("the final copy does not begin with the head")
	}
}

// resultFor ends a recording that the test wrote itself.
func (s *saver) resultFor(t *testing.T, store Store, call agent.Call, end Ending) agent.ToolResult {
	t.Helper()
	k := NewKeeper(store, Config{})
	b := k.cfg.budget(call, CommandPreviewBytes)
	return k.result(t.Context(), s, outcome{call: call, budget: b, shape: previewShape{budget: b.bytes(), terminal: true}, end: end})
}

func TestAfterACrashWhatWasPrintedIsThere(t *testing.T) {
	for name, tc := range map[string]struct {
		writes []write
		binary bool
	}{
		"a little":              {writes: []write{out("start\n")}},
		"nothing":               {},
		"invalid bytes":         {writes: []write{out("a\xffb"), fail("\xe6")}},
		"more than the head":    {writes: []write{out(lines(800_000)), fail("the end\n")}},
		"over the limit":        {writes: []write{out(strings.Repeat("0123456\n", 5<<18)), fail(strings.Repeat("e\n", 5<<18)), out("last words")}},
		"invalid over it":       {writes: []write{out(strings.Repeat("\xff012\xfe6\n", 3<<18)), fail("\xff last words")}},
		"binary":                {writes: []write{out("\x00\x01\x02"), fail("abc")}, binary: true},
		"binary over the limit": {writes: []write{out("\x00" + strings.Repeat("0123456\n", 5<<18)), fail("last words")}, binary: true},
	} {
		t.Run(name, func(t *testing.T) {
			store := newMemory()
			c, s := running(store)
			for i, w := range tc.writes {
				half := len(w.data) / 2
				_, _ = c.Writer(w.stream).Write(w.data[:half])
				if i == 0 {
					if err := s.run(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				_, _ = c.Writer(w.stream).Write(w.data[half:])
			}
			if err := s.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			// The program is gone here. What it would have kept, had the command
			// ended now:
			l := c.layout(c.binary(tc.binary))
			sum := c.compose(l, func(part) {})
			want, raw := c.copyFrom(l, sum, 0, 0, true, nil)

			if err := NewKeeper(store, Config{}).Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			row := store.only(t).row
			if row.Running || row.Complete || row.EndedAt == nil || row.Binary != tc.binary {
				t.Errorf("the row is %+v", row)
			}
			text := pages(t, store, row.ID, MaxPageBytes)
			if !tc.binary && text != string(want) {
				t.Errorf("%d bytes are there, not %d", len(text), len(want))
			}
			meta := models.ResultMetadata{CapturedBytes: &row.CapturedBytes, OmittedBytes: &row.OmittedBytes, Complete: models.Ptr(false)}
			meta.Truncated, meta.Reasons = true, []models.Reason{models.ReasonCapture}
			checkFigures(t, row, meta, text, c.Bytes())
			checkRaw(t, store, row, text)
			if tc.binary && !bytes.Equal(store.only(t).streams[models.StreamRaw], raw) {
				t.Error("the bytes are others")
			}
		})
	}
}

func TestADamagedSpillLeavesTheHead(t *testing.T) {
	for name, spilled := range map[string][]byte{
		"short": {1}, "length": {0, 0, 0, 200}, "no header": []byte("xx\x00\x00\x00\x02"),
		"lengths": []byte("{\"text\":9}\x00\x00\x00\x0a"),
	} {
		t.Run(name, func(t *testing.T) {
			store := newMemory()
			c, s := running(store)
			_, _ = c.Writer(Stdout).Write([]byte("head"))
			if err := s.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			store.only(t).streams[models.StreamSpill] = spilled
			if err := NewKeeper(store, Config{}).Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			if row := store.only(t).row; pages(t, store, row.ID, 4096) != "head" || row.Running {
				t.Errorf("the row is %+v", row)
			}
		})
	}
}

func TestAShortCommandThatRanLongLeavesNoCopy(t *testing.T) {
	store := newMemory()
	c, s := running(store)
	_, _ = c.Writer(Stdout).Write([]byte("a\n"))
	if err := s.run(t.Context()); err != nil || store.count() != 1 {
		t.Fatalf("%d copies are stored: %v", store.count(), err)
	}
	result := s.resultFor(t, store, testCall("run_command"), Exited)
	if store.count() != 0 || result.Metadata.Retention != models.RetentionNotNeeded || result.Content != "a\n" {
		t.Errorf("%d copies, %q, %s", store.count(), result.Content, result.Metadata.Line())
	}
}

func TestAWriteThatFailedIsMadeUpForAtTheEnd(t *testing.T) {
	store := newMemory()
	c, s := running(store)
	text := lines(50_000)
	_, _ = c.Writer(Stdout).Write([]byte(text[:1000]))
	if err := s.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	store.writeErr = errors.New("database is locked")
	_, _ = c.Writer(Stdout).Write([]byte(text[1000:]))
	if err := s.run(t.Context()); err == nil {
		t.Fatal("the failure is not told")
	}
	store.writeErr = nil
	result := s.resultFor(t, store, testCall("run_command"), Exited)
	checkResult(t, store, result, int64(len(text)))
	if pages(t, store, result.Metadata.OutputID, 4096) != text {
		t.Error("the copy is not what was printed")
	}
}

func TestAnOutputThatTurnsOutBinary(t *testing.T) {
	store := newMemory()
	c, s := running(store)
	for _, chunk := range []string{"looks like text\xff", "until\x00", strings.Repeat("now", 20)} {
		_, _ = c.Writer(Stdout).Write([]byte(chunk))
		if err := s.run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if row := store.only(t).row; !row.Binary || row.TotalBytes != dumpLen(c.Bytes()/16*16) {
		t.Errorf("the row is %+v", row)
	}
	result := s.resultFor(t, store, testCall("run_command"), Exited)
	checkResult(t, store, result, c.Bytes())
}

func TestARecordingIsWrittenAfterASecondAndShownAtOnce(t *testing.T) {
	store := newMemory()
	var mu sync.Mutex
	var live strings.Builder
	call := testCall("run_command")
	call.Live = func(text string, _ int64) {
		mu.Lock()
		defer mu.Unlock()
		live.WriteString(text)
	}
	var kept atomic.Value
	call.Kept = func(id string) { kept.Store(id) }
	r := NewKeeper(store, Config{}).Record(t.Context(), call, "sleep")
	_, _ = r.Stdout().Write([]byte("start\n"))
	waitFor(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return live.String() == "start\n"
	})
	if store.count() != 0 || kept.Load() != nil {
		t.Error("it is stored at once")
	}
	waitFor(t, func() bool { return store.count() == 1 && pages(t, store, store.only(t).row.ID, 4096) == "start\n" })
	result := r.Finish(t.Context(), Stopped, models.ResultMetadata{})
	checkResult(t, store, result, 6)
	if kept.Load() != result.Metadata.OutputID {
		t.Errorf("the call was told of %v, and the result of %s", kept.Load(), result.Metadata.OutputID)
	}
	if r.capture.Bytes() != 6 || *result.Metadata.Complete {
		t.Errorf("%d bytes, %s", r.capture.Bytes(), result.Metadata.Line())
	}
}

func TestOfAFloodIsToldHowMuchWasPrinted(t *testing.T) {
	var printed atomic.Int64
	call := testCall("run_command")
	call.Live = func(_ string, n int64) { printed.Store(n) }
	r := NewKeeper(newMemory(), Config{}).Record(t.Context(), call, "yes")
	block := bytes.Repeat([]byte("abcdefghi\n"), 100_000)
	for range 3 {
		_, _ = r.Stdout().Write(block)
		_, _ = r.Stderr().Write([]byte("warning\n"))
	}
	waitFor(t, func() bool { return printed.Load() == 3_000_024 })
	r.Finish(t.Context(), Exited, models.ResultMetadata{})
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for range 300 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it does not come")
}

// FuzzPages reads a copy in pages of any size, and finds that joined they are
// the copy.
func FuzzPages(f *testing.F) {
	f.Add("a漢😀\xff", 5, 40, false)
	f.Add("\x00\x01text", 83, 3000, true)
	f.Fuzz(func(t *testing.T, unit string, limit, times int, stop bool) {
		times = max(1, times) % 2000
		if len(unit) == 0 || len(unit)*times > 1<<20 {
			return
		}
		text := strings.Repeat(unit, times)
		store := newMemory()
		end := Exited
		if stop {
			end = Stopped
		}
		result := record(t, store, Config{}, end, out(text))
		checkResult(t, store, result, int64(len(text)))
		id := result.Metadata.OutputID
		if id == "" {
			return
		}
		limit = max(0, limit) % 5000
		joined := pages(t, store, id, limit)
		if joined != pages(t, store, id, MaxPageBytes) {
			t.Fatal("pages of another size are another copy")
		}
		if row := store.only(t).row; !row.Binary {
			if want := strings.ToValidUTF8(text, "\ufffd"); row.ReplacedBytes == 0 && joined != want {
				t.Fatal("the pages joined are not what was printed")
			}
		} else if joined != string(appendDump(nil, []byte(text), 0)) {
			t.Fatal("the pages joined are not the dump")
		}
		// From any offset: a page, or the boundaries around it.
		at := int64(limit*7) % (int64(len(joined)) + 1)
		page, err := NewReader(store).Page(t.Context(), testSession, id, at, limit)
		if utf8.RuneStart(append([]byte(joined), 'x')[at]) != (err == nil) || (err == nil && !strings.HasPrefix(joined[at:], page.Text)) {
			t.Fatalf("the page at %d is %q: %v", at, page.Text, err)
		}
	})
}

func TestRawGivesTheBytesAsTheyWere(t *testing.T) {
	store := newMemory()
	text := strings.Repeat("a\xffb\n", 10000)
	result := record(t, store, Config{}, Exited, out(text))
	row, r, err := NewReader(store).Raw(t.Context(), testSession, result.Metadata.OutputID)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(r)
	if err != nil || string(raw) != text || row.RawBytes != int64(len(text)) {
		t.Errorf("%d bytes of %d, the row says %d: %v", len(raw), len(text), row.RawBytes, err)
	}
}
