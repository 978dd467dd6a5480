package retain

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"offcut/agent"
	"offcut/models"
)

// A write is what a command prints to one stream at once.
type write struct {
	stream Stream
	data   []byte
}

func out(s string) write { return write{Stdout, []byte(s)} }

func fail(s string) write { return write{Stderr, []byte(s)} }

// record records writes as those of a command.
func record(t *testing.T, store Store, cfg Config, end Ending, writes ...write) agent.ToolResult {
	t.Helper()
	r := NewKeeper(store, cfg).Record(t.Context(), testCall("run_command"), "test")
	for _, w := range writes {
		to := r.Stdout()
		if w.stream == Stderr {
			to = r.Stderr()
		}
		if n, err := to.Write(w.data); n != len(w.data) || err != nil {
			t.Fatalf("wrote %d of %d bytes: %v", n, len(w.data), err)
		}
	}
	return r.Finish(t.Context(), end, models.ResultMetadata{ExitCode: models.Ptr(0)})
}

func lines(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "%d\n", i)
	}
	return b.String()
}

func size(writes []write) (n int64) {
	for _, w := range writes {
		n += int64(len(w.data))
	}
	return n
}

func TestACommandWithinItsBudgetIsShownWhole(t *testing.T) {
	for name, tc := range map[string]struct {
		writes []write
		body   string
	}{
		"nothing":                   {nil, NoOutput},
		"one line":                  {[]write{out("hello\n")}, "hello\n"},
		"one long line":             {[]write{out(strings.Repeat("x", 2000))}, strings.Repeat("x", 2000)},
		"exactly the budget":        {[]write{out(strings.Repeat("a", 24575) + "\n")}, strings.Repeat("a", 24575) + "\n"},
		"5,000 lines of a byte":     {[]write{out(strings.Repeat("a\n", 5000))}, strings.Repeat("a\n", 5000)},
		"both streams in order":     {[]write{out("a\n"), fail("b\n"), out("c\n")}, "a\nb\nc\n"},
		"a character in two writes": {[]write{out("\xf0\x9f"), fail("!\n"), out("\x98\x80")}, "!\n😀"},
		"colours":                   {[]write{out("\x1b[31mred\x1b[0m\n")}, "red\n"},
		"only escapes":              {[]write{out("\x1b[?25h")}, NoOutput},
		"DOS line ends":             {[]write{out("a\r\nb\r"), out("\nc")}, "a\nb\nc"},
	} {
		t.Run(name, func(t *testing.T) {
			store := newMemory()
			result := record(t, store, Config{}, Exited, tc.writes...)
			if result.Content != tc.body {
				t.Errorf("the body is %.200q", result.Content)
			}
			if m := result.Metadata; m.Truncated || m.Retention != models.RetentionNotNeeded || m.OutputID != "" || *m.ExitCode != 0 {
				t.Errorf("the metadata are %s", m.Line())
			}
			checkResult(t, store, result, size(tc.writes))
		})
	}
}

func TestALongOutputIsCutInTheMiddleAndKept(t *testing.T) {
	for name, text := range map[string]string{
		"many lines":                    lines(20000),
		"one line":                      strings.Repeat("0123456789", 30000),
		"an emoji across the budget":    strings.Repeat("a", 24575) + "😀",
		"one byte over":                 strings.Repeat("a", 24577),
		"wide characters":               strings.Repeat("漢字", 20000),
		"paragraphs":                    strings.Repeat(strings.Repeat("word ", 60)+"\n\n", 300),
		"no newline at the end":         lines(9000) + "FATAL X",
		"exactly the limit of a copy":   strings.Repeat("0123456\n", MaxOutputBytes/8),
		"one over the limit of a copy":  strings.Repeat("0123456\n", MaxOutputBytes/8) + "!",
		"far over the limit of a copy":  strings.Repeat("0123456\n", 2*MaxOutputBytes/8),
		"characters over that limit":    strings.Repeat("漢字", MaxOutputBytes/4),
		"invalid bytes over that limit": strings.Repeat("\xb3\xc9 text ", MaxOutputBytes/10),
	} {
		t.Run(name, func(t *testing.T) {
			store := newMemory()
			result := record(t, store, Config{}, Exited, out(text))
			copied := checkResult(t, store, result, int64(len(text)))
			m := result.Metadata
			if !m.Truncated || m.Retention != models.RetentionKept || !slices.Contains(m.Reasons, models.ReasonPreview) {
				t.Fatalf("the metadata are %s", m.Line())
			}
			body := withoutMarkers(result.Content)
			shown := strictlyShown(t, result, copied)
			if spare := int64(len(body)) - shown; spare < 0 || spare > 1 {
				t.Errorf("%d bytes of body show %d bytes of the copy", len(body), shown)
			}
			if shown > CommandPreviewBytes || shown < CommandPreviewBytes*9/10-4 {
				t.Errorf("%d bytes are shown", shown)
			}
			gap := fmt.Sprintf("[%d bytes left out here. ", *m.TotalBytes-shown)
			if !*m.Complete {
				markers := *m.TotalBytes - (*m.CapturedBytes - *m.OmittedBytes)
				if m.ReplacedBytes > 0 {
					markers = 93 // replacements are longer than what they stand for
				}
				gap = fmt.Sprintf("[%d bytes left out here, of a copy of %d bytes; %d more were never kept, and %d bytes of the copy say so. %d bytes of %d bytes are shown. ",
					*m.TotalBytes-shown, *m.TotalBytes, *m.OmittedBytes, markers, shown, *m.CapturedBytes)
			}
			if !strings.Contains(result.Content, gap) || !strings.Contains(result.Content, m.OutputID) {
				t.Errorf("no %q in the body", gap)
			}
			if !strings.HasSuffix(copied, text[len(text)-len("FATAL X")+4:]) || m.Shown[len(m.Shown)-1].End != *m.TotalBytes {
				t.Error("the end is lost")
			}
			if *m.OmittedBytes == 0 && m.ReplacedBytes == 0 && (copied != text || !*m.Complete) {
				t.Error("the copy is not what was printed")
			}
		})
	}
}

func TestLimitsKeepThreeQuartersOfHeadAndOneOfTail(t *testing.T) {
	const mib = 1 << 20
	for name, tc := range map[string]struct {
		out, err         int64
		keptOut, keptErr int64 // at least
		reasons          []models.Reason
	}{
		"8 MiB of stdout":            {8 * mib, 0, 8 * mib, 0, []models.Reason{models.ReasonPreview}},
		"10 MiB of stdout":           {10 * mib, 0, 8*mib - 200, 0, []models.Reason{models.ReasonCapture, models.ReasonRetention, models.ReasonPreview}},
		"5 MiB each":                 {5 * mib, 5 * mib, 5 * mib, 3*mib - 200, []models.Reason{models.ReasonRetention, models.ReasonPreview}},
		"10 MiB and a little stderr": {10 * mib, 100, 8*mib - 300, 100, []models.Reason{models.ReasonCapture, models.ReasonRetention, models.ReasonPreview}},
		"a little stdout and 10 MiB": {100, 10 * mib, 100, 8*mib - 300, []models.Reason{models.ReasonCapture, models.ReasonRetention, models.ReasonPreview}},
		"10 MiB each":                {10 * mib, 10 * mib, 6*mib - 300, 2 * mib, []models.Reason{models.ReasonCapture, models.ReasonRetention, models.ReasonPreview}},
	} {
		t.Run(name, func(t *testing.T) {
			store := newMemory()
			var writes []write
			left := [2]int64{tc.out, tc.err}
			for line := 0; left[Stdout]+left[Stderr] > 0; line++ {
				for s := range left {
					chunk := fmt.Appendf(nil, "%s %09d %s\n", Stream(s), line, strings.Repeat(".", 8000))
					chunk = chunk[:min(int64(len(chunk)), left[s])]
					if left[s] -= int64(len(chunk)); len(chunk) > 0 {
						writes = append(writes, write{Stream(s), chunk})
					}
				}
			}
			result := record(t, store, Config{}, Exited, writes...)
			copied := checkResult(t, store, result, tc.out+tc.err)
			if !slices.Equal(result.Metadata.Reasons, tc.reasons) {
				t.Errorf("the reasons are %v", result.Metadata.Reasons)
			}
			omitted := map[string]int64{}
			for _, gap := range store.only(t).row.Gaps {
				omitted[gap.Stream] += gap.Omitted
			}
			if kept := tc.out - omitted["stdout"]; kept < tc.keptOut {
				t.Errorf("%d bytes of stdout are kept, not %d", kept, tc.keptOut)
			}
			if kept := tc.err - omitted["stderr"]; kept < tc.keptErr {
				t.Errorf("%d bytes of stderr are kept, not %d", kept, tc.keptErr)
			}
			// What is kept stands in the order in which it was read.
			var all strings.Builder
			for _, w := range writes {
				all.Write(w.data)
			}
			gaps := store.only(t).row.Gaps
			if len(gaps) > 0 && !strings.HasPrefix(all.String(), copied[:gaps[0].At]) {
				t.Error("the head is not what was printed first")
			}
			last := copied[max(0, len(copied)-1000):]
			if !strings.HasSuffix(all.String(), last) {
				t.Error("the tail is not what was printed last")
			}
		})
	}
}

func TestStderrIsSeenAmongMuchStdout(t *testing.T) {
	store := newMemory()
	writes := []write{out(lines(10000)), fail("error: the reason\n"), out(lines(10000))}
	result := record(t, store, Config{}, Exited, writes...)
	checkResult(t, store, result, size(writes))
	copied := pages(t, store, result.Metadata.OutputID, MaxPageBytes)
	shown := strictlyShown(t, result, copied)
	if !strings.Contains(result.Content, "[stderr]\nerror: the reason\n") || !strings.HasPrefix(result.Content, "[stdout]\n1\n") {
		t.Errorf("the body is %.300q … %q", result.Content, result.Content[len(result.Content)-100:])
	}
	if body := withoutMarkers(result.Content); int64(len(body)) != shown || shown > CommandPreviewBytes || shown < CommandPreviewBytes*9/10 {
		t.Errorf("%d bytes of body show %d bytes", len(body), shown)
	}
}

func TestTheEndOfStderrKeepsAQuarter(t *testing.T) {
	store := newMemory()
	result := record(t, store, Config{}, Exited, out(lines(20000)), fail(strings.Repeat("e\n", 50000)))
	_, stderr, _ := strings.Cut(result.Content, "[stderr]\n")
	if n := len(withoutMarkers(stderr)); n < CommandPreviewBytes/4*9/10 || n > CommandPreviewBytes/4 {
		t.Errorf("stderr has %d bytes of the preview", n)
	}
}

func TestInterleavedStreamsSayOnlyWhatIsShown(t *testing.T) {
	store := newMemory()
	var writes []write
	for i := range 20000 {
		writes = append(writes, out(fmt.Sprintf("out %d\n", i)), fail(fmt.Sprintf("err %d\n", i)))
	}
	result := record(t, store, Config{}, Exited, writes...)
	checkResult(t, store, result, size(writes))
	if n := len(result.Metadata.Shown); n == 0 || n > MaxShownRanges {
		t.Errorf("%d ranges", n)
	}
	copied := pages(t, store, result.Metadata.OutputID, MaxPageBytes)
	for _, r := range result.Metadata.Shown {
		for line := range strings.Lines(copied[r.Start:r.End]) {
			if !strings.Contains(result.Content, line) {
				t.Fatalf("%q does not stand in the body", line)
			}
		}
	}
}

func TestAStoppedCommandIsNeverComplete(t *testing.T) {
	store := newMemory()
	result := record(t, store, Config{}, Stopped, out("half"))
	checkResult(t, store, result, 4)
	if m := result.Metadata; result.Content != "half" || m.OutputID == "" || *m.Complete || m.Truncated {
		t.Errorf("the metadata are %s", m.Line())
	}
}

func TestACommandThatTimedOutIsCompleteAsPrinted(t *testing.T) {
	store := newMemory()
	result := record(t, store, Config{}, TimedOut, out(lines(20000)))
	if m := result.Metadata; !m.TimedOut || !*m.Complete {
		t.Errorf("the metadata are %s", m.Line())
	}
}

func TestAFailedSaveCostsTheCopyOnly(t *testing.T) {
	disk := errors.New("disk I/O error at /var/lib/offcut.db")
	quota := models.Errorf(models.ErrTooLarge, "storage_full", "your storage of 2 GB is used up")
	for name, tc := range map[string]struct {
		fail   func(*memory)
		text   string
		reason string
	}{
		"create":           {func(m *memory) { m.createErr = disk }, lines(20000), "the copy could not be written to the database"},
		"write":            {func(m *memory) { m.writeErr = disk }, lines(20000), "the copy could not be written to the database"},
		"quota":            {func(m *memory) { m.createErr = quota }, lines(20000), quota.Message},
		"without a marker": {func(m *memory) { m.writeErr = disk }, "\xff\n", "the copy could not be written to the database"},
	} {
		t.Run(name, func(t *testing.T) {
			store := newMemory()
			tc.fail(store)
			result := record(t, store, Config{}, Exited, out(tc.text))
			checkResult(t, store, result, int64(len(tc.text)))
			m := result.Metadata
			if m.Retention != models.RetentionFailed || m.RetentionError != tc.reason || m.IsError || *m.CapturedBytes != int64(len(tc.text)) {
				t.Errorf("the metadata are %s", m.Line())
			}
			if m.OutputID != "" || m.TotalBytes != nil || m.OmittedBytes != nil || m.Complete != nil || m.Shown != nil {
				t.Errorf("the metadata tell of a copy: %s", m.Line())
			}
			if strings.Contains(m.Line(), "/var/lib") {
				t.Errorf("the metadata are %s", m.Line())
			}
			if !strings.Contains(result.Content, "recovery is unavailable") || strings.Contains(result.Content, "out_") {
				t.Errorf("the body ends with %q", result.Content[max(0, len(result.Content)-200):])
			}
			if store.count() != 0 {
				t.Error("a half copy is left")
			}
		})
	}
}

func TestKeepHeadShowsTheHeadAlone(t *testing.T) {
	store := newMemory()
	cfg := Config{Tools: map[string]ToolConfig{"run_command": {PreviewBytes: 1000, Keep: KeepHead}}, Message: "{original} {kept} {output_id}"}
	text := lines(5000)
	result := record(t, store, cfg, Exited, out(text))
	checkResult(t, store, result, int64(len(text)))
	m := result.Metadata
	if len(m.Shown) != 1 || m.Shown[0].Start != 0 || m.Shown[0].End > 1000 || m.Shown[0].End < 900 {
		t.Errorf("shown is %v", m.Shown)
	}
	want := fmt.Sprintf("[%d bytes left out here. %d bytes %d bytes %s]", int64(len(text))-m.Shown[0].End, len(text), m.Shown[0].End, m.OutputID)
	if !strings.HasSuffix(result.Content, "\n"+want) {
		t.Errorf("the body ends with %q, not %q", result.Content[len(result.Content)-100:], want)
	}
}

func TestBudgetsAreHonoured(t *testing.T) {
	for name, tc := range map[string]struct {
		cfg     Config
		round   int
		most    int64
		unit    string
		reasons []models.Reason
	}{
		"the default":             {Config{}, 0, CommandPreviewBytes, "bytes", []models.Reason{models.ReasonPreview}},
		"fewer bytes":             {Config{Tools: map[string]ToolConfig{"run_command": {PreviewBytes: 5000}}}, 0, 5000, "bytes", []models.Reason{models.ReasonPreview}},
		"more bytes":              {Config{Tools: map[string]ToolConfig{"run_command": {PreviewBytes: 50000}}}, 0, 50000, "bytes", []models.Reason{models.ReasonPreview}},
		"tokens":                  {Config{Tools: map[string]ToolConfig{"run_command": {MaxResultTokens: 1000}}}, 0, 4000, "tokens", []models.Reason{models.ReasonPreview}},
		"more tokens":             {Config{Tools: map[string]ToolConfig{"run_command": {MaxResultTokens: 10000}}}, 0, 40000, "tokens", []models.Reason{models.ReasonPreview}},
		"tokens for every tool":   {Config{MaxResultTokens: 2000}, 0, 8000, "tokens", []models.Reason{models.ReasonPreview}},
		"more tokens for every":   {Config{MaxResultTokens: 10000}, 0, 40000, "tokens", []models.Reason{models.ReasonPreview}},
		"its own before those":    {Config{MaxResultTokens: 1000, Tools: map[string]ToolConfig{"run_command": {MaxResultTokens: 2000}}}, 0, 8000, "tokens", []models.Reason{models.ReasonPreview}},
		"its own bytes too":       {Config{MaxResultTokens: 1000, Tools: map[string]ToolConfig{"run_command": {PreviewBytes: 5000}}}, 0, 5000, "bytes", []models.Reason{models.ReasonPreview}},
		"the round's share":       {Config{}, 3000, 3000, "bytes", []models.Reason{models.ReasonPreview, models.ReasonWindow}},
		"more than the round has": {Config{Tools: map[string]ToolConfig{"run_command": {PreviewBytes: 500000}}}, 3000, 3000, "bytes", []models.Reason{models.ReasonWindow}},
	} {
		t.Run(name, func(t *testing.T) {
			store := newMemory()
			call := testCall("run_command")
			call.Budget = tc.round
			r := NewKeeper(store, tc.cfg).Record(t.Context(), call, "test")
			text := lines(20000)
			_, _ = r.Stdout().Write([]byte(text))
			result := r.Finish(t.Context(), Exited, models.ResultMetadata{})
			checkResult(t, store, result, int64(len(text)))
			if n := covered(result.Metadata.Shown); n > tc.most || n < tc.most*9/10 {
				t.Errorf("%d bytes are shown, not %d", n, tc.most)
			}
			if !slices.Equal(result.Metadata.Reasons, tc.reasons) || !strings.Contains(result.Content, " "+tc.unit+" are shown") {
				t.Errorf("the reasons are %v, the body %.100q", result.Metadata.Reasons, result.Content)
			}
		})
	}
}

func TestLiveTextIsValidAndSaysWhatItLeavesOut(t *testing.T) {
	c := NewCapture()
	var seen [2]int64
	w := c.Writer(Stdout)
	_, _ = w.Write([]byte("a\xe6\xbc"))
	if got := c.since(&seen); got != "a" {
		t.Errorf("half a character shows as %q", got)
	}
	_, _ = w.Write([]byte("\xa2\xff"))
	_, _ = c.Writer(Stderr).Write([]byte("err"))
	if got := c.since(&seen); got != "漢\ufffderr" {
		t.Errorf("the text is %q", got)
	}
	_, _ = w.Write(bytes.Repeat([]byte("漢"), 1<<20))
	got := c.since(&seen)
	if !utf8.ValidString(got) || strings.Contains(got, "\ufffd") || len(got) > liveBytes+100 || !strings.Contains(got, "bytes went by") {
		t.Errorf("a flood shows as %d bytes, %.100q", len(got), got)
	}
}
