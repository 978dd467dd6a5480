package workspace

import (
	"context"
	"errors"
	"time"
)

// ErrUncounted is the size of a folder that is still being counted.
var ErrUncounted = errors.New("the files are still being counted")

// countsAtOnce is how many folders of sessions are walked through at a time.
const countsAtOnce = 2

// knownAge is how old a size may be that a list shows.
const knownAge = time.Minute

// count is what is known of a session's folder.
type count struct {
	bytes   int64
	at      time.Time     // zero: it was never counted
	running chan struct{} // closed when the count that is under way has ended; nil: none is
}

// Known is about how many bytes a session's folder holds. It is counted beside
// the caller, who gets the last count at once; the first one is waited for as long
// as ctx allows, and is ErrUncounted after that.
func (f *Folders) Known(ctx context.Context, sessionID string) (int64, error) {
	f.mu.Lock()
	c := f.counts[sessionID]
	if c == nil {
		c = &count{}
		f.counts[sessionID] = c
	}
	if c.running == nil && time.Since(c.at) > knownAge {
		c.running = make(chan struct{})
		go f.countSession(sessionID, c, c.running)
	}
	bytes, running, never := c.bytes, c.running, c.at.IsZero()
	f.mu.Unlock()
	if !never {
		return bytes, nil
	}
	select {
	case <-running:
		f.mu.Lock()
		defer f.mu.Unlock()
		return c.bytes, nil
	case <-ctx.Done():
		return 0, ErrUncounted
	}
}

func (f *Folders) countSession(sessionID string, c *count, ended chan struct{}) {
	f.walking <- struct{}{}
	bytes, err := f.Size(context.Background(), sessionID)
	<-f.walking
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		c.bytes = bytes
	}
	c.at, c.running = time.Now(), nil
	close(ended)
}

// forget drops what is known of the size of a session's folder.
func (f *Folders) forget(sessionID string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.counts, sessionID)
}
