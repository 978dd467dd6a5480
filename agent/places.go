package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"offcut/models"
)

// Places bounds how much costly work is done at the same time, for each user
// and for all of them together. It is safe for use from many goroutines.
type Places struct {
	limits PlaceLimits
	all    chan struct{}

	mu  sync.Mutex
	own map[string]*ownPlaces
}

// PlaceLimits are the bounds of Places.
type PlaceLimits struct {
	What     string // is done, for people: searches
	PerUser  int
	All      int
	Patience time.Duration // how long a place is waited for
}

// ownPlaces are one user's, while anybody holds one or waits for one.
type ownPlaces struct {
	taken chan struct{}
	users int
}

// NewPlaces makes places that are all free.
func NewPlaces(l PlaceLimits) *Places {
	return &Places{limits: l, all: make(chan struct{}, l.All), own: map[string]*ownPlaces{}}
}

// Enter takes a place for a user, and waits for one where all are taken; leave
// gives it back. Without one in time it is models.ErrLimited with the code
// busy.
func (p *Places) Enter(ctx context.Context, userID string) (leave func(), err error) {
	own := p.ownOf(userID)
	waited, cancel := context.WithTimeout(ctx, p.limits.Patience)
	defer cancel()
	if !take(waited, own.taken) {
		p.release(userID, own)
		return nil, p.refused(ctx, p.limits.ownTaken())
	}
	if !take(waited, p.all) {
		<-own.taken
		p.release(userID, own)
		return nil, p.refused(ctx, fmt.Sprintf("%d %s are running on this server; try again in a moment", p.limits.All, p.limits.What))
	}
	return func() {
		<-p.all
		<-own.taken
		p.release(userID, own)
	}, nil
}

func take(ctx context.Context, places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (l PlaceLimits) ownTaken() string {
	if l.PerUser == 1 {
		return fmt.Sprintf("another one of your %s is running; try again when it has ended", l.What)
	}
	return fmt.Sprintf("%d %s of yours are running; try again when one has ended", l.PerUser, l.What)
}

func (p *Places) refused(ctx context.Context, sentence string) error {
	if err := ctx.Err(); err != nil {
		return err // whoever asked does not wait any more
	}
	busy := models.Errorf(models.ErrLimited, "busy", "%s", sentence)
	busy.RetryAfter = p.limits.Patience
	return busy
}

func (p *Places) ownOf(userID string) *ownPlaces {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.own[userID]
	if own == nil {
		own = &ownPlaces{taken: make(chan struct{}, p.limits.PerUser)}
		p.own[userID] = own
	}
	own.users++
	return own
}

func (p *Places) release(userID string, own *ownPlaces) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(p.own, userID)
	}
}
