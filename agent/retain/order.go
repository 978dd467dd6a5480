package retain

// Stream is one of the two streams of a command.
type Stream uint8

// The streams. What an ordinary tool returned is captured as Stdout.
const (
	Stdout Stream = iota
	Stderr
)

func (s Stream) String() string {
	if s == Stderr {
		return "stderr"
	}
	return "stdout"
}

// How finely the order of reading is remembered. Up to maxRuns changes between
// the streams (2 MiB of memory) it is exact; a command that goes on changing
// more often than that has its later changes remembered to coarseRun bytes.
const (
	maxRuns   = 1 << 19
	coarseRun = 4 << 10
)

const (
	runStderr = 1 << 31
	runLength = runStderr - 1
)

// An order remembers in which order the bytes of two streams were read, as
// runs of bytes of one stream. A run is its length, with the top bit set for
// stderr; a run of length 0 stands where bytes were lost.
type order struct {
	runs    []uint32
	waiting [2]int64 // bytes that are in no run yet
	lost    [2]int64 // length of what the run of length 0 stands for
	shorten int      // the number of runs at which to shorten them
	least   int64    // the shortest run
}

func newOrder() order { return order{shorten: maxRuns, least: 1} }

// add appends n bytes of a stream, of which the last ones, unfinished many,
// wait for more of the same stream so that no run splits a character.
func (o *order) add(s Stream, n int, unfinished int64) {
	o.waiting[s] += int64(n)
	ready := o.waiting[s] - unfinished
	if ready <= 0 || (ready < o.least && !o.lastIs(s)) {
		return
	}
	o.place(s, ready)
	o.waiting[s] -= ready
}

func (o *order) lastIs(s Stream) bool {
	last := len(o.runs) - 1
	return last >= 0 && o.runs[last]&runLength != 0 && streamOf(o.runs[last]) == s
}

// place puts n bytes of a stream at the end, joined to the last run where that
// is of the same stream.
func (o *order) place(s Stream, n int64) {
	if n > 0 && o.lastIs(s) {
		last := &o.runs[len(o.runs)-1]
		fits := min(n, int64(runLength-*last&runLength))
		*last += uint32(fits)
		n -= fits
	}
	for n > 0 {
		fits := min(n, runLength)
		o.runs = append(o.runs, run(s, fits))
		n -= fits
	}
}

func run(s Stream, n int64) uint32 {
	if s == Stderr {
		return uint32(n) | runStderr
	}
	return uint32(n)
}

func streamOf(run uint32) Stream { return Stream(run >> 31) }

// each yields the runs in order as ranges of their streams, and at the end
// what waits where that is asked for.
func (o *order) each(waiting bool, yield func(s Stream, from, to int64) bool) {
	var at [2]int64
	for _, r := range o.runs {
		s, n := streamOf(r), int64(r&runLength)
		if n == 0 {
			n = o.lost[s]
		}
		if !yield(s, at[s], at[s]+n) {
			return
		}
		at[s] += n
	}
	for s, n := range o.waiting {
		if waiting && n > 0 && !yield(Stream(s), at[s], at[s]+n) {
			return
		}
	}
}

// compact forgets the order of bytes that are held no longer: of each stream
// the range that lost names. It does nothing while the runs are few.
func (o *order) compact(lost func(Stream) (from, to int64)) {
	if len(o.runs) < o.shorten {
		return
	}
	old := *o
	o.runs, o.lost = make([]uint32, 0, maxRuns), [2]int64{}
	old.each(false, func(s Stream, from, to int64) bool {
		lostFrom, lostTo := lost(s)
		o.place(s, max(0, min(to, lostFrom)-from))
		if gone := min(to, lostTo) - max(from, lostFrom); gone > 0 {
			if o.lost[s] == 0 {
				o.runs = append(o.runs, run(s, 0))
			}
			o.lost[s] += gone
		}
		o.place(s, max(0, to-max(from, lostTo)))
		return true
	})
	if len(o.runs) > maxRuns/2 {
		o.least = coarseRun
	}
	o.shorten = max(maxRuns, len(o.runs)+maxRuns/8)
}
