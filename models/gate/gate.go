// Package gate lets one at a time do something for each key, such as a user:
// who does much waits for themselves, and for nobody else.
package gate

import (
	"context"
	"sync"
)

// Gate is open to one of each key. Its zero value is ready.
type Gate struct {
	mu    sync.Mutex
	lanes map[string]*lane
}

type lane struct {
	free  chan struct{} // holds one value while nobody is inside
	users int           // inside or waiting
}

// Enter waits until nobody else of the key is inside, or returns ctx's error.
// leave is to be called once.
func (g *Gate) Enter(ctx context.Context, key string) (leave func(), err error) {
	l := g.join(key)
	select {
	case <-l.free:
		return g.leaving(key, l), nil
	case <-ctx.Done():
		g.quit(key, l)
		return nil, context.Cause(ctx)
	}
}

// TryEnter is Enter without waiting; it reports whether the key was free.
func (g *Gate) TryEnter(key string) (leave func(), ok bool) {
	l := g.join(key)
	select {
	case <-l.free:
		return g.leaving(key, l), true
	default:
		g.quit(key, l)
		return nil, false
	}
}

func (g *Gate) join(key string) *lane {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.lanes[key]
	if l == nil {
		l = &lane{free: make(chan struct{}, 1)}
		l.free <- struct{}{}
		if g.lanes == nil {
			g.lanes = map[string]*lane{}
		}
		g.lanes[key] = l
	}
	l.users++
	return l
}

func (g *Gate) leaving(key string, l *lane) func() {
	return func() {
		l.free <- struct{}{}
		g.quit(key, l)
	}
}

// quit forgets a key that nobody uses any more.
func (g *Gate) quit(key string, l *lane) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(g.lanes, key)
	}
}
