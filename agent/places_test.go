package agent_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"offcut/agent"
	"offcut/models"
)

func TestPlacesAreBoundedForEachUserAndForAll(t *testing.T) {
	places := agent.NewPlaces(agent.PlaceLimits{What: "searches", PerUser: 2, All: 3, Patience: 30 * time.Millisecond})
	enter := func(user string) func() {
		t.Helper()
		leave, err := places.Enter(t.Context(), user)
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	refused := func(user, says string) {
		t.Helper()
		_, err := places.Enter(t.Context(), user)
		var busy *models.Error
		if !errors.As(err, &busy) || !errors.Is(err, models.ErrLimited) || busy.Code != "busy" || busy.RetryAfter == 0 || !strings.Contains(busy.Message, says) {
			t.Errorf("%s is told %v", user, err)
		}
	}
	first, second := enter("ann"), enter("ann")
	refused("ann", "2 searches of yours are running")
	third := enter("bob")
	refused("cat", "3 searches are running on this server")
	first()
	enter("cat")()
	second()
	third()
	enter("ann")()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	enter("ann")
	enter("ann")
	if _, err := places.Enter(stopped, "ann"); !errors.Is(err, context.Canceled) {
		t.Errorf("whoever stopped is told %v", err)
	}
}

func TestOfOnePlaceItIsSaidThatAnotherHasIt(t *testing.T) {
	places := agent.NewPlaces(agent.PlaceLimits{What: "queries", PerUser: 1, All: 3, Patience: time.Millisecond})
	if _, err := places.Enter(t.Context(), "ann"); err != nil {
		t.Fatal(err)
	}
	if _, err := places.Enter(t.Context(), "ann"); err == nil || !strings.Contains(err.Error(), "another one of your queries is running") {
		t.Errorf("ann is told %v", err)
	}
}

func TestManyWaitForTheirPlaces(t *testing.T) {
	places := agent.NewPlaces(agent.PlaceLimits{What: "searches", PerUser: 2, All: 3, Patience: time.Minute})
	var now, most atomic.Int64
	var all sync.WaitGroup
	for i := range 60 {
		all.Go(func() {
			leave, err := places.Enter(t.Context(), []string{"ann", "bob", "cat"}[i%3])
			if err != nil {
				t.Error(err)
				return
			}
			defer leave()
			n := now.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			time.Sleep(time.Millisecond)
			now.Add(-1)
		})
	}
	all.Wait()
	if most.Load() > 3 {
		t.Errorf("%d at a time", most.Load())
	}
}
