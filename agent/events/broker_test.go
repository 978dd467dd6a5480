package events

import (
	"strings"
	"sync"
	"testing"
	"time"
)

func TestEventsAreHandedOnInOrder(t *testing.T) {
	b := NewBroker()
	from := b.Seq("s")
	one, two := subscribe(t, b, "s", from), subscribe(t, b, "s", from)
	other := subscribe(t, b, "other", b.Seq("other"))
	for range 1000 {
		b.Publish(Event{SessionID: "s", Kind: KindText, Text: "x"})
	}
	for _, sub := range []*Subscription{one, two} {
		for i := range 1000 {
			if e := next(t, sub); e.Seq != from+int64(i)+1 {
				t.Fatalf("event %d has the number %d, begun after %d", i, e.Seq, from)
			}
		}
	}
	b.Publish(Event{SessionID: "other", Text: "mine"})
	if e := next(t, other); e.Text != "mine" {
		t.Errorf("another session's watcher got %+v", e)
	}
}

func subscribe(t *testing.T, b *Broker, session string, after int64) *Subscription {
	t.Helper()
	sub, ok := b.Subscribe(session, after)
	if !ok {
		t.Fatalf("cannot subscribe to %s after %d", session, after)
	}
	t.Cleanup(sub.Close)
	return sub
}

func next(t *testing.T, sub *Subscription) Event {
	t.Helper()
	select {
	case e, ok := <-sub.Events():
		if !ok {
			t.Fatal("the subscription was closed")
		}
		return e
	case <-time.After(5 * time.Second):
		t.Fatal("nothing came")
	}
	return Event{}
}

func publish(b *Broker, n int, text string) (last int64) {
	for range n {
		last = b.Publish(Event{SessionID: "s", Text: text}).Seq
	}
	return last
}

func TestAWatcherComesBackWithoutLossOrRepeat(t *testing.T) {
	for name, test := range map[string]struct {
		events int
		text   string
		missed int64 // how many events before the last it has not seen
		ok     bool
	}{
		"it saw all":                   {100, "x", 0, true},
		"it missed some":               {100, "x", 40, true},
		"it missed all":                {100, "x", 100, true},
		"as many as are kept":          {3000, "x", MaxEvents, true},
		"one more than is kept":        {3000, "x", MaxEvents + 1, false},
		"before the first":             {100, "x", 101, false},
		"ahead of the last":            {100, "x", -1, false},
		"long texts":                   {100, strings.Repeat("x", 1<<20), 3, true},
		"more long texts than is kept": {100, strings.Repeat("x", 1<<20), 5, false},
		"one event over the limit":     {3, strings.Repeat("x", MaxBytes+1), 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := NewBroker()
			last := publish(b, test.events, test.text)
			sub, ok := b.Subscribe("s", last-test.missed)
			if ok != test.ok {
				t.Fatalf("replayed: %v, want %v", ok, test.ok)
			}
			if !ok {
				return
			}
			defer sub.Close()
			for i := range test.missed {
				if e := next(t, sub); e.Seq != last-test.missed+i+1 {
					t.Fatalf("event %d has the number %d", i, e.Seq)
				}
			}
			b.Publish(Event{SessionID: "s", Text: "new"})
			if e := next(t, sub); e.Text != "new" {
				t.Errorf("then came %+v", e.Seq)
			}
		})
	}
}

func TestASlowWatcherIsClosedAndMayComeBack(t *testing.T) {
	b := NewBroker()
	sub := subscribe(t, b, "s", b.Seq("s"))
	last := publish(b, MaxEvents+500, "x")
	var got int64
	for e := range sub.Events() {
		if got != 0 && e.Seq != got+1 {
			t.Fatalf("%d follows %d", e.Seq, got)
		}
		got = e.Seq
		if got == last {
			return // it was quick enough to miss nothing
		}
	}
	if _, ok := b.Subscribe("s", got); ok {
		t.Error("it was closed although it missed nothing")
	}
	subscribe(t, b, "s", last)
}

func TestAClosedSubscriptionEnds(t *testing.T) {
	b := NewBroker()
	sub := subscribe(t, b, "s", b.Seq("s"))
	sub.Close()
	sub.Close()
	publish(b, 10, "x")
	for range sub.Events() {
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.streams["s"].watchers); n != 0 {
		t.Errorf("%d watchers are left", n)
	}
}

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestIdleSessionsAreForgottenAndNumbersNeverComeTwice(t *testing.T) {
	clock := &clock{now: time.Unix(1_800_000_000, 0)}
	b := NewBroker()
	b.now = clock.Now
	watched := subscribe(t, b, "watched", b.Seq("watched"))
	b.Publish(Event{SessionID: "watched"})
	next(t, watched)
	last := publish(b, 100, "x")

	clock.add(DefaultIdle / 2)
	b.sweep()
	resumed := subscribe(t, b, "s", last-100)
	resumed.Close()
	for range resumed.Events() { // until it has left
	}

	clock.add(DefaultIdle * 2)
	b.sweep()
	b.mu.Lock()
	_, kept := b.streams["s"]
	events := len(b.streams["watched"].recent)
	b.mu.Unlock()
	if kept || events != 0 {
		t.Errorf("the idle session is held: %v; the watched one holds %d events", kept, events)
	}
	b.Publish(Event{SessionID: "watched", Text: "again"})
	if e := next(t, watched); e.Text != "again" {
		t.Errorf("the watcher got %+v", e)
	}

	clock.mu.Lock()
	clock.now = time.Unix(1_700_000_000, 0) // set back, as clocks are
	clock.mu.Unlock()
	if again := publish(b, 1, "x"); again <= last {
		t.Errorf("%d came after %d", again, last)
	}
}

func TestNumbersGrowOverARestart(t *testing.T) {
	before := NewBroker()
	last := publish(before, 100, "x")
	time.Sleep(time.Millisecond) // a hundred events take less than a restart
	if first := publish(NewBroker(), 1, "x"); first <= last {
		t.Errorf("%d came after %d", first, last)
	}
}

func TestTheSweeperRestsWhenNothingIsHeld(t *testing.T) {
	b := NewBroker()
	b.idle = time.Millisecond
	publish(b, 1, "x")
	for range 1000 {
		b.mu.Lock()
		resting := b.sweeper == nil && len(b.streams) == 0
		b.mu.Unlock()
		if resting {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("it still runs")
}

func TestManyPublishAndWatchAtOnce(t *testing.T) {
	b := NewBroker()
	from := b.Seq("s")
	const publishers, each = 8, 200
	var group sync.WaitGroup
	for range 4 {
		sub := subscribe(t, b, "s", from)
		group.Go(func() {
			for i := range int64(publishers * each) {
				if e := <-sub.Events(); e.Seq != from+i+1 {
					t.Errorf("event %d has the number %d", i, e.Seq)
					return
				}
			}
		})
	}
	for range publishers {
		group.Go(func() { publish(b, each, "x") })
	}
	group.Wait()
}
