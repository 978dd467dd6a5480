package retain

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"offcut/models"
)

func TestMemoryStaysBoundedWhateverIsPrinted(t *testing.T) {
	// What a command holds beside what this process held before.
	inUse := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for name, tc := range map[string]struct{ out, err string }{
		"lines":          {strings.Repeat("0123456\n", 8<<10), strings.Repeat("e\n", 1<<10)},
		"invalid bytes":  {strings.Repeat("\xff text", 8<<10), strings.Repeat("\xb3\xc9", 8<<10)},
		"changing often": {"o", "e"},
	} {
		t.Run(name, func(t *testing.T) {
			before := inUse()
			c := NewCapture()
			o, e := c.Writer(Stdout), c.Writer(Stderr)
			for range min(1<<20, 48<<20/len(tc.out)) {
				_, _ = o.Write([]byte(tc.out))
				_, _ = e.Write([]byte(tc.err))
			}
			l := c.layout(false)
			sum := c.compose(l, func(part) {})
			text, raw := c.copyFrom(l, sum, 0, 0, true, nil)
			if used := inUse() - before; used > 32<<20 {
				t.Errorf("%d bytes are held", used)
			}
			if sum.kept+sum.omitted != c.total() || int64(len(text)) != sum.total || int64(len(raw)) != sum.raw {
				t.Errorf("the figures of %d bytes are %+v", c.total(), sum)
			}
			runtime.KeepAlive(c)
		})
	}
}

func TestTheOrderIsExactUntilItIsTooLong(t *testing.T) {
	c := NewCapture()
	o, e := c.Writer(Stdout), c.Writer(Stderr)
	var want bytes.Buffer
	for i := range maxRuns {
		fmt.Fprintf(&want, "%d\n%d\n", i%10, i%7)
		fmt.Fprintf(o, "%d\n", i%10)
		fmt.Fprintf(e, "%d\n", i%7)
	}
	l := c.layout(false)
	sum := c.compose(l, func(part) {})
	text, _ := c.copyFrom(l, sum, 0, 0, false, nil)
	if !bytes.Equal(text[:1<<20], want.Bytes()[:1<<20]) {
		t.Error("the first half is not in the order of reading")
	}
	if len(text) != want.Len() || len(c.order.runs) > maxRuns+coarseRun {
		t.Errorf("%d bytes in %d runs", len(text), len(c.order.runs))
	}
}

func TestForgettingTheOrderOfLostBytesChangesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	c := NewCapture()
	var last [2]int64
	for range 1200 {
		s := Stream(rng.IntN(2))
		chunk := bytes.Repeat([]byte{byte('a' + s)}, rng.IntN(30000))
		_, _ = c.Writer(s).Write(chunk)
		last[s] += int64(len(chunk))
		c.order.shorten = 0
		c.order.compact(func(s Stream) (int64, int64) { return c.tapes[s].lost() })
	}
	l := c.layout(false)
	sum := c.compose(l, func(part) {})
	if sum.kept+sum.omitted != last[Stdout]+last[Stderr] || len(sum.gaps) != 2 {
		t.Errorf("%d and %d bytes came; the figures are %+v", last[Stdout], last[Stderr], sum)
	}
}

func TestReadingStraightInHoldsTheSame(t *testing.T) {
	data := make([]byte, 21<<20+17)
	for i := range data {
		data[i] = byte('a' + i%23)
	}
	written, read := NewCapture(), NewCapture()
	_, _ = written.Writer(Stdout).Write(data)
	n, err := io.Copy(read.Writer(Stdout), io.MultiReader(bytes.NewReader(data[:100]), bytes.NewReader(data[100:])))
	if n != int64(len(data)) || err != nil {
		t.Fatalf("%d bytes were read: %v", n, err)
	}
	texts := [2][]byte{}
	for i, c := range []*Capture{written, read} {
		l := c.layout(false)
		texts[i], _ = c.copyFrom(l, c.compose(l, func(part) {}), 0, 0, false, nil)
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("the copies differ")
	}
}

func TestReadingWhileTheCopyIsTaken(t *testing.T) {
	c := NewCapture()
	var wait sync.WaitGroup
	for _, s := range []Stream{Stdout, Stderr} {
		wait.Go(func() {
			_, _ = c.Writer(s).(io.ReaderFrom).ReadFrom(io.LimitReader(yes{}, 20<<20))
		})
	}
	done := make(chan struct{})
	go func() { wait.Wait(); close(done) }()
	var seen [2]int64
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		time.Sleep(5 * time.Millisecond)
		c.mu.Lock()
		l := c.layout(false)
		sum := c.compose(l, func(part) {})
		if sum.kept+sum.omitted != c.total() {
			t.Errorf("%d bytes, and the figures are %+v", c.total(), sum)
		}
		c.mu.Unlock()
		if text := c.since(&seen); strings.Trim(text, "y\n") != "" && !strings.Contains(text, "went by") {
			t.Errorf("other text: %.100q", text)
		}
	}
}

type yes struct{}

func (yes) Read(p []byte) (int, error) {
	p = p[:min(len(p), 60000)]
	for i := range p {
		p[i] = "y\n"[i%2]
	}
	return len(p), nil
}

// printed makes writes out of a list of bytes: each pair is a stream, a kind of
// text and a length.
func printed(plan []byte, times int) []write {
	texts := []string{"line %d\n", "\xff\xfe%d", "漢字😀%d", "\x1b[3%dm\r", `{"a":%d},`, "\x00%d", "%d\r\n", "\xe6"}
	var writes []write
	for ; len(plan) >= 2; plan = plan[2:] {
		unit := strings.ReplaceAll(texts[plan[0]>>1&7], "%d", fmt.Sprint(plan[1]))
		n := int(plan[1])
		if plan[0]&64 != 0 {
			n *= times
		}
		writes = append(writes, write{Stream(plan[0] & 1), []byte(strings.Repeat(unit, n))})
	}
	return writes
}

// checkPrinted records writes and holds that the result adds up.
func checkPrinted(t *testing.T, writes []write, end Ending, budget int) {
	t.Helper()
	store := newMemory()
	call := testCall("run_command")
	call.Budget = budget
	r := NewKeeper(store, Config{}).Record(t.Context(), call, "test")
	for _, w := range writes {
		to := r.Stdout()
		if w.stream == Stderr {
			to = r.Stderr()
		}
		_, _ = to.Write(w.data)
	}
	result := r.Finish(t.Context(), end, models.ResultMetadata{})
	checkResult(t, store, result, size(writes))
	// A few newlines put markers and labels on lines of their own.
	if body := withoutMarkers(result.Content); budget > 0 && len(body) > budget+4 && result.Content != NoOutput {
		t.Errorf("%d bytes are shown for a budget of %d", len(body), budget)
	}
}

func TestFiguresAddUpForAnyMixOfLargeOutputs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 3 {
		plan := make([]byte, 2+rng.IntN(16))
		for i := range plan {
			plan[i] = byte(rng.Uint32())
		}
		checkPrinted(t, printed(plan, 1500), Ending(rng.IntN(3)), 0)
	}
}

func FuzzCapture(f *testing.F) {
	f.Add([]byte{0, 3, 1, 40, 7, 200, 12, 255, 3, 255, 16, 9}, uint8(0), 3000)
	f.Add([]byte{64, 255, 65, 255, 66, 255, 8, 250, 9, 250}, uint8(2), 0)
	f.Fuzz(func(t *testing.T, plan []byte, end uint8, budget int) {
		if len(plan) <= 64 {
			checkPrinted(t, printed(plan, 10), Ending(end%3), max(0, budget)%100_000)
		}
	})
}

func BenchmarkCapture1GiB(b *testing.B) {
	const gib = 1 << 30
	command := func() *exec.Cmd { return exec.Command("head", "-c", fmt.Sprint(gib), "/dev/zero") }
	b.Run("captured", func(b *testing.B) {
		b.SetBytes(gib)
		for b.Loop() {
			c := NewCapture()
			cmd := command()
			cmd.Stdout = c.Writer(Stdout)
			if err := cmd.Run(); err != nil || c.Bytes() != gib {
				b.Fatalf("%d bytes: %v", c.Bytes(), err)
			}
		}
	})
	b.Run("into cat", func(b *testing.B) {
		b.SetBytes(gib)
		for b.Loop() {
			cat := exec.Command("sh", "-c", fmt.Sprintf("head -c %d /dev/zero | cat >/dev/null", gib))
			cat.Stderr = os.Stderr
			if err := cat.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
