package mcp

import (
	"strings"
	"sync"
	"testing"
)

// isFree reports whether somebody gets the place of a server's large message now.
func isFree(of *intake) bool {
	if !of.own.TryAcquire(1) {
		return false
	}
	defer of.own.Release(1)
	if !of.all.places.TryAcquire(1) {
		return false
	}
	of.all.places.Release(1)
	return true
}

func TestLargeMessagesAreTakenInAsMemoryAllows(t *testing.T) {
	all := newIntakes(8 * takenBytes) // of which two are for them
	slow, other, third := newIntake(all), newIntake(all), newIntake(all)
	if err := slow.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	if isFree(slow) || !isFree(other) {
		t.Error("a server that sends slowly holds up itself, and no other one")
	}
	if err := other.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	if isFree(third) {
		t.Error("more are taken in than memory allows")
	}
	slow.free()
	slow.free() // is nothing the second time
	if !isFree(third) || isFree(other) {
		t.Error("what one left is another one's")
	}
}

// A place is taken by what is large alone, and only for as long as it lasts.
func TestAnAnswerHasItsPlaceUntilItIsAResult(t *testing.T) {
	of := newIntake(newIntakes(0))
	answer := func(bytes int) []byte {
		return []byte(`{"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", bytes) + `"}]}}`)
	}
	take := func(message []byte) (free, told bool) {
		p := &place{of: of, ctx: t.Context()}
		if err := p.hold(len(message)); err != nil {
			t.Fatal(err)
		}
		out := p.mended(message)
		return isFree(of), strings.Contains(string(out), largeKey)
	}
	if free, told := take(answer(1000)); !free || told {
		t.Errorf("a small answer: free %v, told %v", free, told)
	}
	if free, told := take([]byte(`{"method":"` + strings.Repeat("x", largeBytes) + `"}`)); !free || told {
		t.Errorf("what is no answer: free %v, told %v", free, told)
	}
	if free, told := take(answer(largeBytes)); free || !told {
		t.Errorf("a large answer: free %v, told %v", free, told)
	}
}

func TestLargeAnswersAtTheSameTimeAllCome(t *testing.T) {
	h := newHouse(t, own(t, "hostile"))
	of := h.servers.all[0].large
	text := strings.Repeat("<é>", largeBytes/2)
	tool := h.tool("own__bare")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			result, err := tool.Run(t.Context(), h.newCall("own__bare", args{"answer": []byte(`{"content":[{"type":"text","text":"` + text + `"}]}`)}))
			if err != nil || result.Content != text {
				t.Errorf("%d bytes, %v", len(result.Content), err)
			}
		})
	}
	group.Wait()
	if !isFree(of) {
		t.Error("a place is left taken")
	}
}
