package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"offcut/models"
)

// retry queues another version of a turn of ann with the same question.
func retry(t testing.TB, s *Store, turn models.Turn) models.Turn {
	t.Helper()
	again, _, _, err := s.Enqueue(t.Context(), models.NewTurn{SessionID: turn.SessionID, OwnerID: "ann", Replaces: turn.ID, Again: true, Now: start})
	must(t, err)
	return again
}

// edit queues another version of a turn of ann with another question.
func edit(t testing.TB, s *Store, turn models.Turn, content string) models.Turn {
	t.Helper()
	other, _, _, err := s.Enqueue(t.Context(), models.NewTurn{SessionID: turn.SessionID, OwnerID: "ann", Replaces: turn.ID, Content: content, Now: start})
	must(t, err)
	return other
}

// answered lets a queued turn be answered.
func answered(t testing.TB, s *Store, turn models.Turn, content string) models.Turn {
	t.Helper()
	turn = got(s.StartTurn(t.Context(), turn.ID, start))(t)
	say(t, s, turn, content)
	finish(t, s, turn, models.StateDone, start)
	return got(s.AnyTurn(t.Context(), turn.ID))(t)
}

func chooseVersion(t testing.TB, s *Store, turn models.Turn) {
	t.Helper()
	_, _, err := s.ShowTurn(t.Context(), "ann", turn.ID)
	must(t, err)
}

// wantConversation checks what is shown, forward and backward in pages of every
// size, and what is sent for the last turn.
func wantConversation(t *testing.T, s *Store, session string, want ...string) {
	t.Helper()
	for _, limit := range []int{1, 2, 7, 200} {
		forward := all(t, limit, func(ctx context.Context, p models.Page) ([]models.Message, string, error) {
			return s.Messages(ctx, models.MessageQuery{SessionID: session, IncludeHidden: true, Page: p})
		})
		if now := contents(forward); !slices.Equal(now, want) {
			t.Errorf("by pages of %d:\n got %q\nwant %q", limit, now, want)
		}
		var backward []models.Message
		for page := (models.Page{Limit: limit}); ; {
			part, next, err := s.Messages(t.Context(), models.MessageQuery{SessionID: session, IncludeHidden: true, Newest: true, Page: page})
			must(t, err)
			backward = append(part, backward...)
			if page.Cursor = next; next == "" {
				break
			}
		}
		if now := contents(backward); !slices.Equal(now, want) {
			t.Errorf("backward by pages of %d:\n got %q\nwant %q", limit, now, want)
		}
		if last := len(forward) - 1; last >= 0 {
			if sent := contents(got(s.Transcript(t.Context(), session, forward[last].TurnID))(t)); !slices.Equal(sent, want) {
				t.Errorf("sent are %q, want %q", sent, want)
			}
		}
	}
}

func TestARetryTakesThePlaceOfWhatItRepeats(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	one := answered(t, s, send(t, s, "s", "q1", start), "a1")
	two := answered(t, s, send(t, s, "s", "q2", start), "a2")
	three := answered(t, s, send(t, s, "s", "q3", start), "a3")

	again := retry(t, s, two)
	wantConversation(t, s, "s", "q1", "a1", "q2 (queued)")
	again = answered(t, s, again, "a2, better")
	wantConversation(t, s, "s", "q1", "a1", "q2", "a2, better")
	if again.ParentID != one.ID || again.Repeats != two.ID || !again.Shown || two.ParentID != one.ID || one.ParentID != "" {
		t.Errorf("the version is %+v", again)
	}
	third := answered(t, s, retry(t, s, again), "a2, best")
	if third.Repeats != two.ID {
		t.Errorf("a version of a version asks what %q asked", third.Repeats)
	}

	if hidden := contents(got(s.TurnMessages(t.Context(), "s", two.ID))(t)); !slices.Equal(hidden, []string{"q2", "a2"}) {
		t.Errorf("a turn that is not shown has %q", hidden)
	}
	chooseVersion(t, s, two)
	wantConversation(t, s, "s", "q1", "a1", "q2", "a2", "q3", "a3")
	want := []models.Version{
		{TurnID: two.ID, ParentID: one.ID, Question: two.ID, Shown: true, GoesOn: true},
		{TurnID: again.ID, ParentID: one.ID, Question: two.ID},
		{TurnID: third.ID, ParentID: one.ID, Question: two.ID},
	}
	if versions := got(s.Versions(t.Context(), "s", []string{one.ID}))(t); !slices.Equal(versions, want) {
		t.Errorf("versions are\n%+v, want\n%+v", versions, want)
	}
	if next := got(s.Turn(t.Context(), "ann", send(t, s, "s", "q4", start).ID))(t); next.ParentID != three.ID {
		t.Errorf("the next message follows %s", next.ParentID)
	}
}

func TestAnEditKeepsWhatWasThere(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	one := answered(t, s, send(t, s, "s", "q1", start), "a1")
	answered(t, s, send(t, s, "s", "q2", start), "a2")
	other := answered(t, s, edit(t, s, one, "q1, clearer"), "b1")
	if other.Repeats != "" || other.ParentID != "" {
		t.Errorf("the edited turn is %+v", other)
	}
	answered(t, s, send(t, s, "s", "q3", start), "b3")
	wantConversation(t, s, "s", "q1, clearer", "b1", "q3", "b3")
	chooseVersion(t, s, one)
	wantConversation(t, s, "s", "q1", "a1", "q2", "a2")
	everything, _, err := s.Messages(t.Context(), models.MessageQuery{SessionID: "s", IncludeVersions: true})
	must(t, err)
	if now := contents(everything); !slices.Equal(now, []string{"q1", "a1", "q2", "a2", "q1, clearer", "b1", "q3", "b3"}) {
		t.Errorf("all versions are %q", now)
	}
	list, _, err := s.SessionStats(t.Context(), models.SessionQuery{OwnerID: "ann"})
	must(t, err)
	if list[0].Messages != 8 { // those of all versions: they are stored, and go with a deletion
		t.Errorf("the session has %d messages", list[0].Messages)
	}
}

func TestContinuingIsForTheLastAnswerThatBrokeOff(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	goOn := func(turn models.Turn) (models.Turn, error) {
		next, _, _, err := s.Enqueue(t.Context(), models.NewTurn{SessionID: "s", OwnerID: "ann", Continues: turn.ID, Content: "go on", Now: start})
		return next, err
	}
	done := answered(t, s, send(t, s, "s", "q1", start), "a1")
	_, err := goOn(done)
	wantKind(t, err, models.ErrConflict, "turn_complete")
	broken := run(t, s, "s", "q2", start)
	_, err = goOn(broken)
	wantKind(t, err, models.ErrConflict, "turn_unfinished")
	say(t, s, broken, "a")
	finish(t, s, broken, models.StateInterrupted, start)
	_, err = goOn(done)
	wantKind(t, err, models.ErrConflict, "turn_not_last")

	next, err := goOn(broken)
	must(t, err)
	if next.ParentID != broken.ID {
		t.Errorf("it follows %s", next.ParentID)
	}
	answered(t, s, next, "2")
	wantConversation(t, s, "s", "q1", "a1", "q2", "a", "go on", "2")
	if people, _, _ := s.Messages(t.Context(), models.MessageQuery{SessionID: "s"}); slices.Contains(contents(people), "go on") {
		t.Error("people see the hidden message")
	}
	again := answered(t, s, retry(t, s, next), "two")
	wantConversation(t, s, "s", "q1", "a1", "q2", "a", "go on", "two")
	if message := got(messages(t, s, "s"))(t)[4]; !message.IsMeta || message.TurnID != again.ID {
		t.Errorf("its message is %+v", message)
	}

	removed := send(t, s, "s", "q3", start)
	must(t, s.RemoveQueuedTurn(t.Context(), removed.ID))
	_, err = goOn(removed)
	wantKind(t, err, models.ErrConflict, "turn_never_began")
}

func TestVersionsChangeOnlyWhereNothingRunsOrWaits(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	addSession(t, s, "ann", "other", start)
	one := answered(t, s, send(t, s, "s", "q1", start), "a1")
	two := answered(t, s, retry(t, s, one), "a2")
	waiting := send(t, s, "s", "q3", start)
	for range 2 {
		for _, ask := range []models.NewTurn{
			{SessionID: "s", OwnerID: "ann", Replaces: one.ID, Again: true},
			{SessionID: "s", OwnerID: "ann", Replaces: two.ID, Content: "x"},
		} {
			_, _, _, err := s.Enqueue(t.Context(), ask)
			wantKind(t, err, models.ErrConflict, "session_busy")
		}
		_, _, err := s.ShowTurn(t.Context(), "ann", one.ID)
		wantKind(t, err, models.ErrConflict, "session_busy")
		if waiting.State == models.StateQueued {
			waiting = got(s.StartTurn(t.Context(), waiting.ID, start))(t)
		}
	}
	if _, changes, err := s.ShowTurn(t.Context(), "ann", two.ID); err != nil || changes {
		t.Errorf("showing what is shown: %v, %v", changes, err)
	}
	finish(t, s, waiting, models.StateDone, start)

	for _, ask := range []models.NewTurn{
		{SessionID: "other", OwnerID: "ann", Replaces: one.ID, Again: true}, {SessionID: "s", OwnerID: "ann", Replaces: "never"},
	} {
		_, _, _, err := s.Enqueue(t.Context(), ask)
		wantKind(t, err, models.ErrNotFound, "turn_not_found")
	}
	_, _, err := s.ShowTurn(t.Context(), "bob", one.ID)
	wantKind(t, err, models.ErrNotFound, "turn_not_found")
}

// tree is a session of 40 turns whose places were drawn by lot, and the parents
// that they were given.
func tree(t *testing.T, s *Store, lot *rand.Rand) ([]models.Turn, map[string]string) {
	t.Helper()
	addSession(t, s, "ann", "s", start)
	turns, parents := []models.Turn{}, map[string]string{}
	last := ""
	for i := range 40 {
		text := fmt.Sprintf("q%d", i)
		var turn models.Turn
		var parent string
		if i > 0 && lot.IntN(2) == 0 {
			old := turns[lot.IntN(len(turns))]
			turn, parent = edit(t, s, old, text), parents[old.ID]
		} else {
			turn, parent = send(t, s, "s", text, start), last
		}
		turns, parents[turn.ID], last = append(turns, answered(t, s, turn, "a"+text)), parent, turn.ID
	}
	return turns, parents
}

// conversation is what is to be shown of a tree for a turn, found by its parents
// alone.
func conversation(turns []models.Turn, parents map[string]string, shown string) []string {
	text, newest := map[string]string{}, map[string]string{}
	for i, turn := range turns {
		text[turn.ID], newest[parents[turn.ID]] = fmt.Sprintf("q%d", i), turn.ID
	}
	var path []string
	for id := shown; id != ""; id = parents[id] {
		path = append([]string{text[id], "a" + text[id]}, path...)
	}
	for id := newest[shown]; id != ""; id = newest[id] {
		path = append(path, text[id], "a"+text[id])
	}
	return path
}

// Whatever order the versions were made and chosen in: only the parents are
// true, and the flags follow.
func TestTheConversationFollowsFromTheParentsAlone(t *testing.T) {
	s := openNew(t)
	lot := rand.New(rand.NewPCG(7, 40))
	turns, parents := tree(t, s, lot)
	for _, i := range append(lot.Perm(len(turns)), lot.Perm(len(turns))...) {
		chosen := turns[i]
		if _, changed, err := s.ShowTurn(t.Context(), "ann", chosen.ID); err != nil || !changed {
			must(t, err)
			continue // it stood there: what followed it stays as it was chosen
		}
		wantConversation(t, s, "s", conversation(turns, parents, chosen.ID)...)
	}
	var strays int64
	must(t, s.readers.Raw("SELECT count(*) FROM messages JOIN turns ON turns.id = messages.turn_id WHERE messages.shown <> turns.shown").Scan(&strays).Error)
	if strays > 0 {
		t.Errorf("%d messages are not flagged as their turns are", strays)
	}
}

// What is read back in any order has the same tree.
func TestTheTreeIsThatOfTheParentsInAnyOrder(t *testing.T) {
	s := openNew(t)
	lot := rand.New(rand.NewPCG(40, 7))
	turns, parents := tree(t, s, lot)
	ids := []string{""}
	for _, i := range lot.Perm(len(turns)) {
		ids = append(ids, turns[i].ID)
	}
	seen := map[string]bool{}
	for _, v := range got(s.Versions(t.Context(), "s", ids))(t) {
		seen[v.TurnID] = true
		if v.ParentID != parents[v.TurnID] {
			t.Errorf("turn %s follows %q, want %q", v.TurnID, v.ParentID, parents[v.TurnID])
		}
		goesOn := slices.ContainsFunc(turns, func(turn models.Turn) bool { return parents[turn.ID] == v.TurnID })
		if v.GoesOn != goesOn {
			t.Errorf("turn %s goes on: %v", v.TurnID, v.GoesOn)
		}
	}
	if len(seen) != len(turns) {
		t.Errorf("%d of %d turns are versions", len(seen), len(turns))
	}
}

func TestAForkCopiesTheConversationAndNoOtherVersion(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	one := answered(t, s, send(t, s, "s", "q1", start), "a1")
	two := answered(t, s, send(t, s, "s", "q2", start), "a2")
	answered(t, s, send(t, s, "s", "q3", start), "a3")
	hidden := got(messages(t, s, "s"))(t)[3] // a2
	answered(t, s, retry(t, s, two), "a2, again")
	for name, test := range map[string]struct {
		upto string
		want []string
	}{
		"what is shown":      {"", []string{"q1", "a1", "q2", "a2, again"}},
		"up to a message":    {got(messages(t, s, "s"))(t)[1].ID, []string{"q1", "a1"}},
		"to another version": {hidden.ID, []string{"q1", "a1", "q2", "a2"}},
	} {
		t.Run(name, func(t *testing.T) {
			fork := got(s.ForkSession(t.Context(), "ann", "s", test.upto, later(9)))(t)
			wantConversation(t, s, fork.ID, test.want...)
			copies := got(s.Versions(t.Context(), fork.ID, []string{""}))(t)
			if len(copies) != 1 || copies[0].TurnID == one.ID || copies[0].GoesOn != (len(test.want) > 2) {
				t.Errorf("the fork begins with %+v", copies)
			}
			answered(t, s, send(t, s, fork.ID, "next", start), "end")
			wantConversation(t, s, fork.ID, append(slices.Clone(test.want), "next", "end")...)
		})
	}
}

func TestWhatAVersionWasSentIsProvedByItsOwnRepliesAlone(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	first := run(t, s, "s", "q", start)
	say(t, s, first, "", "c1")
	reply(t, s, first, "c1", "seen?")
	finish(t, s, first, models.StateStopped, start)
	answered(t, s, retry(t, s, first), "another answer")
	result := func() models.Message {
		_, result, err := s.Call(t.Context(), "s", "c1")
		must(t, err)
		return *result
	}
	if got(s.Replied(t.Context(), result()))(t) {
		t.Error("the reply of another version proves nothing")
	}
	chooseVersion(t, s, first)
	if got(s.Replied(t.Context(), result()))(t) {
		t.Error("the reply of a version that is not shown proves nothing")
	}
	answered(t, s, send(t, s, "s", "and?", start), "seen")
	if !got(s.Replied(t.Context(), result()))(t) {
		t.Error("the next turn was sent it")
	}
}

// A session of 10,000 messages opens as one of 20 does, and a version near its
// beginning is chosen in one quick transaction.
func TestVersionsOfALongSession(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	first := run(t, s, "s", "hello", start)
	finish(t, s, first, models.StateDone, start)
	long := run(t, s, "s", "much", start)
	fill(t, s, long, 10_000)
	finish(t, s, long, models.StateDone, start)
	answered(t, s, edit(t, s, first, "hi"), "short")
	wantConversation(t, s, "s", "hi", "short")

	chooseVersion(t, s, first)
	list, _, err := s.SessionStats(t.Context(), models.SessionQuery{OwnerID: "ann"})
	must(t, err)
	if list[0].Messages < 10_000 {
		t.Errorf("%d messages came back", list[0].Messages)
	}
	read := watch(t, s.readers)
	_, _, err = s.Messages(t.Context(), models.MessageQuery{SessionID: "s", Newest: true, Page: models.Page{Limit: 20}})
	must(t, err)
	for _, one := range read() {
		if steps := explain(t, s, one); len(steps) != 1 || !strings.Contains(steps[0], "messages_shown") {
			t.Errorf("the newest are found by %q", steps)
		}
	}
}
