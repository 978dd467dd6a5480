package store

import (
	"fmt"
	"slices"
	"testing"

	"offcut/models"
)

// read is a page that a turn reads of output o.
func read(turn models.Turn, from, to int64) models.OutputRead {
	return models.OutputRead{OutputID: "o", TurnID: turn.ID, CallID: fmt.Sprint("c", from), Kind: models.ReadPage, Range: models.Range{Start: from, End: to}, At: later(int(from))}
}

func TestATurnThatReadsOnHasOneRow(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	keep(t, s, "s", "o", make([]byte, 100))
	first := run(t, s, "s", "go", start)
	preview := read(first, 0, 10)
	preview.Kind = models.ReadPreview
	shows(t, s, first, preview)
	for at := int64(10); at < 50; at += 10 { // a call each
		shows(t, s, first, read(first, at, at+10))
	}
	shows(t, s, first,
		read(first, 70, 80), read(first, 60, 70), // parallel calls, the later page first
		read(first, 90, 95),
	)
	finish(t, s, first, models.StateDone, later(1))
	second := run(t, s, "s", "go on", later(2))
	shows(t, s, second, read(second, 95, 99))

	want := []string{"preview [0 10) c0", "page [10 50) c40", "page [60 80) c60", "page [90 95) c90", "page [95 99) c95"}
	var have []string
	for _, r := range got(s.Reads(ctx, "s", "o", 50))(t) {
		have = append(have, fmt.Sprintf("%s [%d %d) %s", r.Kind, r.Range.Start, r.Range.End, r.CallID))
		if want := later(int(r.Range.Start)); r.CallID == fmt.Sprint("c", r.Range.Start) && !r.At.Equal(want) {
			t.Errorf("%s was read at %s, want %s", r.CallID, r.At, want)
		}
	}
	if !slices.Equal(have, want) {
		t.Errorf("reads are\n%q, want\n%q", have, want)
	}
	if last := got(s.Reads(ctx, "s", "o", 2))(t); len(last) != 2 || last[0].Range.Start != 90 || last[1].Range.Start != 95 {
		t.Errorf("the last two are %+v", last)
	}
	covered := []models.Range{{Start: 0, End: 50}, {Start: 60, End: 80}, {Start: 90, End: 99}}
	if have := got(s.Coverage(ctx, "s", "o"))(t); !slices.Equal(have, covered) {
		t.Errorf("coverage is %v, want %v", have, covered)
	}
}

func TestAReplyAndWhatItProvesAreStoredTogether(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	keep(t, s, "s", "o", make([]byte, 100))
	turn := run(t, s, "s", "go", start)
	call := say(t, s, turn, "", "c1")
	reply(t, s, turn, "c1", "printed")
	_, result, err := s.Call(ctx, "s", "c1")
	must(t, err)
	replied := func() bool { return got(s.Replied(ctx, *result))(t) }

	refused := models.Message{SessionID: "s", TurnID: turn.ID, Role: models.RoleAssistant, ToolCalls: call.ToolCalls}
	_, err = s.AppendReply(ctx, refused, models.Proof{Reads: []models.OutputRead{read(turn, 0, 10)}})
	wantKind(t, err, models.ErrConflict, "call_id_taken")
	if read := got(s.Coverage(ctx, "s", "o"))(t); len(read) != 0 || replied() {
		t.Errorf("of a reply that was not stored there is %v", read)
	}
	finish(t, s, turn, models.StateStopped, later(1))
	next := run(t, s, "s", "go on", later(2))
	if replied() {
		t.Error("a person's message counts as a reply")
	}
	shows(t, s, next, read(turn, 0, 10))
	if read := got(s.Coverage(ctx, "s", "o"))(t); len(read) != 1 || !replied() {
		t.Errorf("of a reply that was stored there is %v", read)
	}
}

// What the model read before costs the next page nothing: the row of the copy
// stays at hand, and no list of reads is fetched.
func TestAPageOfWhatIsReadOnAsksForNothing(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	keep(t, s, "s", "o", randomText(PieceBytes/2))
	turn := run(t, s, "s", "go", start)
	got(s.ReadOutput(ctx, "s", "o", models.StreamText, 0, 10))(t) // into the cache
	seen := watch(t, s.readers)
	for at := int64(0); at < 100; at += 10 {
		got(s.Output(ctx, "s", "o"))(t)
		got(s.ReadOutput(ctx, "s", "o", models.StreamText, at, 10))(t)
		shows(t, s, turn, read(turn, at, at+10))
	}
	if statements := seen(); len(statements) != 0 {
		t.Errorf("%d statements ran, the first: %s", len(statements), statements[0].sql)
	}
}
