package retain

import (
	"fmt"
	"time"
)

// What is shown of a running command: at most liveBytes of new text each
// liveEvery, so that a flood does not drown the watchers.
const (
	liveEvery = 50 * time.Millisecond
	liveBytes = 32 << 10
)

// since is the text that came after the given positions, in the order of
// reading and at most the last liveBytes of it, and moves them. What it leaves
// out it says.
func (c *Capture) since(seen *[2]int64) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	end := [2]int64{}
	for s := range c.tapes {
		end[s] = c.tapes[s].total - c.order.waiting[s]
	}
	fresh := end[Stdout] - seen[Stdout] + end[Stderr] - seen[Stderr]
	pieces, taken := c.newest(*seen, end)
	*seen = end
	var (
		r    Replacer
		text []byte
	)
	if fresh > taken {
		text = fmt.Appendf(text, "\n[… %d bytes went by …]\n", fresh-taken)
	}
	for i := len(pieces) - 1; i >= 0; i-- {
		text = r.Append(text, pieces[i])
	}
	return string(r.Flush(text))
}

// newest collects backwards what lies between seen and end.
func (c *Capture) newest(seen, end [2]int64) (pieces [][]byte, taken int64) {
	for i := len(c.order.runs) - 1; i >= 0 && taken < liveBytes && (end[Stdout] > seen[Stdout] || end[Stderr] > seen[Stderr]); i-- {
		s, n := streamOf(c.order.runs[i]), int64(c.order.runs[i]&runLength)
		if n == 0 {
			break // here bytes were lost
		}
		from := max(end[s]-n, seen[s])
		if from < end[s] {
			from = c.tapes[s].ceil(max(from, end[s]-(liveBytes-taken)))
			piece := append([]byte(nil), c.tapes[s].view(from, end[s])...)
			pieces = append(pieces, piece)
			taken += int64(len(piece))
		}
		end[s] -= n
	}
	return pieces, taken
}
