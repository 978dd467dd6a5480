package mcp

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// A message is held several times while it is read, mended, decoded and made a
// result. So of those that are large only so many are taken in at a time as a
// part of the machine's memory holds, and of one server one: whoever sends slowly
// holds up no other.
const (
	// largeBytes is what a message has that is large.
	largeBytes = 1 << 20
	// takenBytes is what the largest message takes until it is a result.
	takenBytes = 8 * maxAnswerBytes
	// resultGrace is how long a message that nobody waits for any more has its
	// place.
	resultGrace = 10 * time.Second
)

// intakes are the places of the large messages of all servers.
type intakes struct{ places *semaphore.Weighted }

// newIntakes makes the places: in a quarter of so much memory, and one at least.
func newIntakes(memory int64) *intakes {
	return &intakes{semaphore.NewWeighted(max(1, memory/4/takenBytes))}
}

// An intake is the place of one server's large message.
type intake struct {
	all *intakes
	own *semaphore.Weighted

	mu    sync.Mutex
	leave func() // nil: it is free
}

func newIntake(all *intakes) *intake { return &intake{all: all, own: semaphore.NewWeighted(1)} }

// enter takes the place for a message that turns out to be large. It waits until
// the one before it is a result; ctx ends that.
func (i *intake) enter(ctx context.Context) error {
	if err := i.own.Acquire(ctx, 1); err != nil {
		return err
	}
	if err := i.all.places.Acquire(ctx, 1); err != nil {
		i.own.Release(1)
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.leave = sync.OnceFunc(func() {
		i.all.places.Release(1)
		i.own.Release(1)
	})
	return nil
}

// free gives the place back, where it is taken.
func (i *intake) free() {
	i.mu.Lock()
	leave := i.leave
	i.leave = nil
	i.mu.Unlock()
	if leave != nil {
		leave()
	}
}

// freeSoon gives it back after a while, should nobody do so before.
func (i *intake) freeSoon() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.leave != nil {
		time.AfterFunc(resultGrace, i.leave)
	}
}

// A place is where one reader takes in its messages, one after another.
type place struct {
	of    *intake
	ctx   context.Context // of the connection
	taken bool            // the message is large
}

// hold takes the server's place once so much of a message has come that it is
// large.
func (p *place) hold(size int) error {
	if p.taken || size <= largeBytes {
		return nil
	}
	if err := p.of.enter(p.ctx); err != nil {
		return err
	}
	p.taken = true
	return nil
}

// mended is a message as the library takes it. One that will be a result has its
// place until it is; any other has it no longer.
func (p *place) mended(message []byte) []byte {
	out, answer := mended(message, p.taken)
	if answer && p.taken {
		p.of.freeSoon()
		p.taken = false
	}
	p.done()
	return out
}

// done gives the place back after a message that is over.
func (p *place) done() {
	if p.taken {
		p.of.free()
		p.taken = false
	}
}
