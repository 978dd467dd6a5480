package gate

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

func TestOneOfAKeyIsInsideAtATime(t *testing.T) {
	var g Gate
	var inside, most atomic.Int32
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			leave, err := g.Enter(t.Context(), "ann")
			if err != nil {
				t.Error(err)
				return
			}
			defer leave()
			if n := inside.Add(1); n > most.Load() {
				most.Store(n)
			}
			inside.Add(-1)
		})
	}
	group.Wait()
	if most.Load() != 1 {
		t.Errorf("%d were inside at a time", most.Load())
	}
	if len(g.lanes) != 0 {
		t.Errorf("%d keys are remembered that nobody uses", len(g.lanes))
	}
}

func TestOthersDoNotWait(t *testing.T) {
	var g Gate
	leave, err := g.Enter(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := g.TryEnter("ann"); ok {
		t.Error("two of a key are inside")
	}
	bobLeaves, ok := g.TryEnter("bob")
	if !ok {
		t.Fatal("another key is not free")
	}
	bobLeaves()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Enter(gone, "ann"); !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up waiting got %v", err)
	}
	leave()
	if again, ok := g.TryEnter("ann"); !ok {
		t.Error("the key is not free again")
	} else {
		again()
	}
}
