// Command bench measures what Offcut promises of its speed and prints each
// figure with its goal. Every ratio has both of its sides taken in this run, so
// that it means something on another machine. It fails where a goal is missed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"text/tabwriter"
	"time"

	"offcut/agent/apart"
	"offcut/agent/sandbox"
)

// row is one line of the table.
type row struct {
	what     string
	measured string
	goal     string
	met      bool
}

// bench is what the measurements share.
type bench struct {
	binary string // the program
	dir    string // for their files; it needs 3 GiB
	rows   []row
}

func main() {
	apart.Reexec()
	sandbox.Reexec() // commands run in children of this program

	binary := flag.String("bin", "bin/offcut", "the program to measure")
	tmp := flag.String("dir", "", "folder for the files, 3 GiB (a temporary one)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	met, err := measure(ctx, *binary, *tmp)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	if !met {
		os.Exit(1)
	}
}

func measure(ctx context.Context, binary, tmp string) (met bool, err error) {
	dir, err := os.MkdirTemp(tmp, "offcut-bench-")
	if err != nil {
		return false, fmt.Errorf("folder for the files: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b := &bench{binary: binary, dir: dir}
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"pages", b.pages}, {"capture", b.capture}, {"file", b.file}, {"stream", b.stream}, {"start", b.start},
	} {
		fmt.Fprintf(os.Stderr, "measuring %s …\n", part.name)
		if err := part.run(ctx); err != nil {
			return false, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	b.print()
	return !slices.ContainsFunc(b.rows, func(r row) bool { return !r.met }), nil
}

func (b *bench) print() {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WHAT\tMEASURED\tGOAL\t")
	for _, r := range b.rows {
		verdict := "met"
		if !r.met {
			verdict = "MISSED"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.what, r.measured, r.goal, verdict)
	}
	_ = table.Flush()
}

// ratio adds a row of one duration to another.
func (b *bench) ratio(what string, ours, theirs time.Duration, goal float64) {
	r := float64(ours) / float64(theirs)
	b.rows = append(b.rows, row{what, fmt.Sprintf("%.2f (%v : %v)", r, short(ours), short(theirs)), fmt.Sprintf("≤ %.1f", goal), r <= goal})
}

// delay adds a row of a duration with an absolute goal.
func (b *bench) delay(what string, d, goal time.Duration) {
	b.rows = append(b.rows, row{what, short(d).String(), "≤ " + goal.String(), d <= goal})
}

// size adds a row of a number of bytes.
func (b *bench) size(what string, bytes, goal int64) {
	b.rows = append(b.rows, row{what, mib(bytes), "≤ " + mib(goal), bytes <= goal})
}

func mib(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }

// short is d with three digits that count.
func short(d time.Duration) time.Duration {
	for unit := time.Nanosecond; ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}

// median runs f n times and returns the middle duration of those it returns.
func median(n int, f func(i int) (time.Duration, error)) (time.Duration, error) {
	taken := make([]time.Duration, 0, n)
	for i := range n {
		d, err := f(i)
		if err != nil {
			return 0, err
		}
		taken = append(taken, d)
	}
	slices.Sort(taken)
	return taken[n/2], nil
}

// timed is how long f took.
func timed(f func() error) (time.Duration, error) {
	begin := time.Now()
	err := f()
	return time.Since(begin), err
}
