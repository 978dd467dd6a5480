package script

import "time"

// clock measures the time of a program's own.
type clock struct {
	most  time.Duration
	used  time.Duration // until it was last stopped
	since time.Time     // zero: it stands
	timer *time.Timer
}

func newClock(most time.Duration) *clock {
	return &clock{most: most, since: time.Now(), timer: time.NewTimer(most)}
}

// over is told when the time is.
func (c *clock) over() <-chan time.Time { return c.timer.C }

// stop: the program waits for the server.
func (c *clock) stop() {
	if !c.since.IsZero() {
		c.used += time.Since(c.since)
		c.since = time.Time{}
		c.timer.Stop()
	}
}

// start: it goes on.
func (c *clock) start() {
	if c.since.IsZero() {
		c.since = time.Now()
		c.timer.Reset(c.most - c.used)
	}
}

// end stops it for good.
func (c *clock) end() { c.timer.Stop() }
