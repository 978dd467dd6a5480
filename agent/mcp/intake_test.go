package mcp

import (
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"offcut/agent"
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
	leave, err := slow.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if isFree(slow) || !isFree(other) {
		t.Error("a server that sends slowly holds up itself, and no other one")
	}
	if _, err := other.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	if isFree(third) {
		t.Error("more are taken in than memory allows")
	}
	leave()
	leave() // is nothing the second time
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
		p := newPlace(t.Context(), of)
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

// isLarge checks a large answer, after which all places are free.
func (h *house) isLarge(result agent.ToolResult, err error) {
	h.Helper()
	if err != nil || result.IsError || len(result.Content) != 2*largeBytes {
		h.Errorf("the large answer is %.300q, %v", result.Content, err)
	}
	if !isFree(h.servers.all[0].large) {
		h.Error("a place is left taken")
	}
}

// broken is a body that ends with an error.
type broken struct{ io.Reader }

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Whoever reads may leave in the middle of a message, and a message may be none
// that comes to an end.
func TestAReaderThatIsLeftHasNoPlace(t *testing.T) {
	large, long := strings.Repeat("x", 2*largeBytes), strings.Repeat("x", maxAnswerBytes+largeBytes)
	lines := func(from io.ReadCloser, place *place) io.ReadCloser {
		return messages(from, io.Discard, place, func() {})
	}
	stream := func(from io.ReadCloser, place *place) io.ReadCloser { return events(from, place, func() {}) }
	body := func(from io.ReadCloser, place *place) io.ReadCloser { return oneMessage(from, place, func() {}) }
	for name, test := range map[string]struct {
		read  func(io.ReadCloser, *place) io.ReadCloser
		sent  string
		most  int64 // that is read of it before it is left
		taken bool  // until it is closed
	}{
		"a line that is too long":             {read: lines, sent: `{"` + long, most: 1},
		"noise that is too long":              {read: lines, sent: long, most: 1},
		"noise without an end":                {read: lines, sent: large, most: maxAnswerBytes},
		"a message without an end":            {read: lines, sent: `{"` + large, most: maxAnswerBytes},
		"an event that is too long":           {read: stream, sent: "data: " + long, most: 1},
		"an event without an end":             {read: stream, sent: "data: " + large, most: maxAnswerBytes},
		"a line of a stream without an end":   {read: stream, sent: large, most: maxAnswerBytes},
		"a line of a stream that is left":     {read: stream, sent: ":" + large + "\n:\n", most: 1, taken: true},
		"a body that is too long":             {read: body, sent: long, most: 1},
		"a body that is no answer":            {read: body, sent: large, most: 1},
		"a line of a stream that is too long": {read: stream, sent: ":" + long, most: 1},
	} {
		t.Run(name, func(t *testing.T) {
			for _, from := range []io.Reader{strings.NewReader(test.sent), broken{strings.NewReader(test.sent)}} {
				of := newIntake(newIntakes(0))
				reader := test.read(io.NopCloser(from), newPlace(t.Context(), of))
				_, _ = io.CopyN(io.Discard, reader, test.most)
				if isFree(of) == test.taken {
					t.Errorf("before it is closed it has its place: %v", test.taken)
				}
				if err := reader.Close(); err != nil || !isFree(of) {
					t.Errorf("it is closed (%v), and has its place", err)
				}
			}
		})
	}
}

// A reader that waits for its place gets none once it is closed.
func TestAReaderThatIsClosedWaitsNoLonger(t *testing.T) {
	of := newIntake(newIntakes(0))
	leave, err := of.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	reader := events(io.NopCloser(strings.NewReader(strings.Repeat("x", 2*largeBytes))), newPlace(t.Context(), of), func() {})
	read := make(chan error)
	go func() {
		_, err := io.Copy(io.Discard, reader)
		read <- err
	}()
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if err := within(t, read); err == nil {
		t.Error("it read on")
	}
	leave()
	if !isFree(of) {
		t.Error("a place is left taken")
	}
}
