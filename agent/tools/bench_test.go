package tools

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// compare times a against b by turns, and reports the ratio of their fastest
// runs: what else the machine does then touches both alike.
func compare(b *testing.B, first, second func()) {
	b.Helper()
	fastest := [2]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		for i, do := range []func(){first, second} {
			begun := time.Now()
			do()
			fastest[i] = min(fastest[i], time.Since(begun))
		}
	}
	b.ReportMetric(float64(fastest[0])/float64(fastest[1]), "ratio")
	b.ReportMetric(float64(fastest[0].Milliseconds()), "ms")
}

const gibibyte = 1 << 30

// BenchmarkCapture captures 1 GiB from a command, against the same command into
// cat >/dev/null. The goal is a ratio of at most 1.2.
func BenchmarkCapture(b *testing.B) {
	for name, command := range map[string]string{
		"zeros": "head -c 1073741824 /dev/zero",
		"text":  "yes 'a line of some length, as logs have it' | head -c 1073741824",
	} {
		b.Run(name, func(b *testing.B) {
			bench := newBench(b)
			compare(b, func() {
				got := bench.ok("run_command", arguments{"command": command})
				if *got.Metadata.CapturedBytes != gibibyte {
					b.Fatalf("captured %s", got.Metadata.Line())
				}
			}, func() { shell(b, command+" | cat >/dev/null") })
		})
	}
}

// BenchmarkLateLine reads line 10,000,000 of a file of 1 GiB, against tail and
// head. The goal is a ratio of at most 1; the next page is to take at most 5 ms.
func BenchmarkLateLine(b *testing.B) {
	const line = 10_000_000
	bench := newBench(b)
	shell(b, "yes '0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123' | head -c 1073741824 >"+bench.path("big"))
	compare(b, func() {
		// Another time of change: nothing is remembered of the file.
		if err := os.Chtimes(bench.path("big"), time.Now(), time.Now()); err != nil {
			b.Fatal(err)
		}
		bench.ok("read_file", arguments{"path": "big", "line": line})
	}, func() {
		shell(b, "tail -n +"+strconv.Itoa(line)+" "+bench.path("big")+" | head -c 4096 >/dev/null")
	})
	begun := time.Now()
	bench.ok("read_file", arguments{"path": "big", "line": line + 300})
	b.ReportMetric(float64(time.Since(begun).Microseconds())/1000, "ms-next")
}

func shell(b *testing.B, command string) {
	b.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Stdout = io.Discard
	if err := cmd.Run(); err != nil {
		b.Fatalf("%s: %v", command, err)
	}
}
