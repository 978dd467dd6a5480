package retain

// A growing head is what can be read of a copy while its command runs: a
// beginning of the final copy, whatever else will be printed. It grows until
// one of the streams reaches the least that it will keep as its own head.
type growing struct {
	bytes  int64    // captured bytes in it
	text   [2]int64 // length of its text, by stream
	frozen bool
}

// guaranteed is the length of text that a stream keeps at its beginning in any
// copy.
var guaranteed = func() (least [2]int64) {
	least[Stdout], _ = shares(MaxOutputBytes - leastShare)
	least[Stderr], _ = shares(leastShare)
	return least
}()

// grow takes in what came since, in the order of reading.
func (g *growing) grow(c *Capture, binary bool) {
	var at int64
	c.order.each(false, func(s Stream, from, to int64) bool {
		known := min(max(0, g.bytes-at), to-from)
		at += to - from
		for from += known; from < to && !g.frozen; {
			end := min(from+blockBytes, to)
			if end < to {
				end = c.tapes[s].floor(end)
			}
			taken := g.take(s, c.tapes[s].view(from, end), binary)
			from += taken
		}
		return !g.frozen
	})
}

// take adds bytes of a stream as far as its guaranteed head goes.
func (g *growing) take(s Stream, b []byte, binary bool) int64 {
	taken, cost := int64(len(b)), int64(len(b))
	if !binary {
		cost = textCost(b)
	}
	if room := guaranteed[s] - g.text[s]; cost > room {
		g.frozen = true
		taken, cost = room, room
		if !binary {
			taken = prefixWithin(b, room)
			cost = textCost(b[:taken])
		}
	}
	g.bytes += taken
	g.text[s] += cost
	return taken
}

// textBytes is the length of the text of the head.
func (g *growing) textBytes() int64 { return g.text[Stdout] + g.text[Stderr] }
