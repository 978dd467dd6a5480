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

	mu       sync.Mutex
	answered func() // leaves the place of an answer that is not yet a result; nil: there is none
}

func newIntake(all *intakes) *intake { return &intake{all: all, own: semaphore.NewWeighted(1)} }

// enter takes the place for a message that turns out to be large, until leave,
// which does nothing the second time. It waits until the one before it is a
// result; ctx ends that.
func (i *intake) enter(ctx context.Context) (leave func(), err error) {
	if err := i.own.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	if err := i.all.places.Acquire(ctx, 1); err != nil {
		i.own.Release(1)
		return nil, err
	}
	return sync.OnceFunc(func() {
		i.all.places.Release(1)
		i.own.Release(1)
	}), nil
}

// free gives the place back of the answer that is a result now.
func (i *intake) free() {
	i.mu.Lock()
	leave := i.answered
	i.answered = nil
	i.mu.Unlock()
	if leave != nil {
		leave()
	}
}

// freeSoon gives the place of an answer back after a while, should nobody do so
// before.
func (i *intake) freeSoon(leave func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answered = leave
	time.AfterFunc(resultGrace, leave)
}

// A place is where one reader takes in its messages, one after another.
type place struct {
	of  *intake
	ctx context.Context // ends with the connection, and with the reader
	end context.CancelFunc

	mu    sync.Mutex
	leave func() // nil: the message is not large
}

// newPlace is the place of a reader. ctx is of its connection.
func newPlace(ctx context.Context, of *intake) *place {
	p := &place{of: of}
	p.ctx, p.end = context.WithCancel(ctx)
	return p
}

// hold takes the server's place once so much of a message has come that it is
// large.
func (p *place) hold(size int) error {
	if size <= largeBytes || p.taken() {
		return nil
	}
	leave, err := p.of.enter(p.ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.ctx.Err(); err != nil { // it was closed meanwhile
		leave()
		return err
	}
	p.leave = leave
	return nil
}

func (p *place) taken() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.leave != nil
}

// take is what gives the place back, which is whoever's that called it; nil: it
// is not taken.
func (p *place) take() (leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	leave, p.leave = p.leave, nil
	return leave
}

// mended is a message as the library takes it. One that will be a result has its
// place until it is; any other has it no longer.
func (p *place) mended(message []byte) []byte {
	out, answer := mended(message, p.taken())
	if leave := p.take(); leave != nil && answer {
		p.of.freeSoon(leave)
	} else if leave != nil {
		leave()
	}
	return out
}

// done gives the place back after a message that is over.
func (p *place) done() {
	if leave := p.take(); leave != nil {
		leave()
	}
}

// close gives it back for good: nobody reads any more.
func (p *place) close() {
	p.end()
	p.done()
}
