package store

import (
	"fmt"
	"testing"

	"offcut/models"

	"github.com/google/go-cmp/cmp"
)

// stored are the messages of a request that the session has just so.
func stored(messages ...models.Message) (parts []models.SentPart) {
	for _, m := range messages {
		parts = append(parts, models.SentPart{MessageID: m.ID})
	}
	return parts
}

func own(text string) models.SentPart {
	return models.SentPart{Own: &models.Message{Role: models.RolePerson, IsMeta: true, Content: text}}
}

// held are the contents of a request, as it was sent.
func held(t *testing.T, s *Store, session string, number int64) (texts []string) {
	t.Helper()
	for _, m := range got(s.SentMessages(t.Context(), session, number, 0, 100))(t) {
		if m.Place != len(texts) {
			t.Errorf("request %d has place %d after %d messages", number, m.Place, len(texts))
		}
		texts = append(texts, m.Content)
	}
	return texts
}

func TestEachRequestStaysAsItWasSent(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s1", start)
	turn := run(t, s, "s1", "first", later(1))
	question := got(s.TurnMessages(t.Context(), "s1", turn.ID))(t)[0]
	one, two, three := say(t, s, turn, "one"), say(t, s, turn, "two"), say(t, s, turn, "three")
	request := models.SentRequest{SessionID: "s1", TurnID: turn.ID, Model: "m", System: "Be good.", Tools: []models.SentTool{{Name: "t", Description: "d"}}, At: later(2)}
	save := func(same int, parts ...models.SentPart) int64 {
		t.Helper()
		return got(s.SaveRequest(t.Context(), request, same, parts))(t)
	}
	save(0, stored(question)...)
	save(1, stored(one, two)...)
	save(1, own("one, shortened"), stored(two)[0])
	save(0, own("a summary"), stored(two)[0], stored(three)[0]) // the turns before it are gone
	save(0, own("a summary"), stored(two)[0])                   // another version: shorter
	for number, want := range map[int64][]string{
		1: {"first"}, 2: {"first", "one", "two"}, 3: {"first", "one, shortened", "two"},
		4: {"a summary", "two", "three"}, 5: {"a summary", "two"},
	} {
		if diff := cmp.Diff(want, held(t, s, "s1", number)); diff != "" {
			t.Errorf("request %d:\n%s", number, diff)
		}
	}
	must(t, s.SaveRequestTokens(t.Context(), "s1", 5, 1234))
	last := got(s.Request(t.Context(), "s1", 0))(t)
	if last.Number != 5 || last.Tokens != 1234 || last.System != "Be good." || len(last.Tools) != 1 || !last.Shown {
		t.Errorf("the last request is %+v", last)
	}
	if page := got(s.SentMessages(t.Context(), "s1", 3, 1, 1))(t); len(page) != 1 || page[0].Content != "one, shortened" || page[0].Stored {
		t.Errorf("a page of it is %+v", page)
	}
	_, err := s.Request(t.Context(), "s1", 6)
	wantKind(t, err, models.ErrNotFound, "request_not_found")
	_, err = s.Request(t.Context(), "s2", 1)
	wantKind(t, err, models.ErrNotFound, "request_not_found")
	for upto, newest := range map[int64]int64{0: 5, 9: 5, 3: 3} {
		if list := got(s.Requests(t.Context(), "s1", upto, 2))(t); len(list) != 2 || list[0].Number != newest {
			t.Errorf("the newest up to %d are %+v", upto, list)
		}
	}
	// A request for a summary is one of them, and not what the conversation was sent as.
	number := got(s.SaveRequest(t.Context(), models.SentRequest{
		SessionID: "s1", TurnID: last.TurnID, System: "Sum up.", Messages: 1, Summary: true, At: start,
	}, 0, []models.SentPart{{Own: &models.Message{Role: models.RolePerson, Content: "All of it."}}}))(t)
	if list := got(s.Requests(t.Context(), "s1", 0, 1))(t); list[0].Number != number || !list[0].Summary {
		t.Errorf("the newest is %+v", list)
	}
	if now := got(s.Request(t.Context(), "s1", 0))(t); now.Number != last.Number || now.Summary {
		t.Errorf("the last request of the conversation is %+v", now)
	}
}

// What is stored grows with what changes: hundreds of requests of a conversation
// that only becomes longer take a row for each message, and its instructions
// once.
func TestRequestsOfALongConversationAreSmall(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s1", start)
	turn := run(t, s, "s1", "first", later(1))
	var parts []models.SentPart
	const requests = 300
	for n := range requests {
		parts = append(parts, stored(say(t, s, turn, fmt.Sprint("answer ", n)))...)
		same := len(parts) - 1
		if n%50 == 0 {
			same = 0 // as at the begin of a turn
		}
		got(s.SaveRequest(t.Context(), models.SentRequest{SessionID: "s1", TurnID: turn.ID, System: "Be good.", At: start}, same, parts[same:]))(t)
	}
	for table, want := range map[string]int{"sent_places": requests, "sent_texts": 2, "requests": requests} {
		var count int
		must(t, s.readers.Raw("SELECT count(*) FROM "+table).Scan(&count).Error)
		if count != want {
			t.Errorf("%s has %d rows, want %d", table, count, want)
		}
	}
	must(t, s.DeleteSession(t.Context(), "s1"))
	var left int
	must(t, s.readers.Raw("SELECT (SELECT count(*) FROM sent_places) + (SELECT count(*) FROM sent_texts) + (SELECT count(*) FROM requests)").Scan(&left).Error)
	if left != 0 {
		t.Errorf("%d rows outlive their session", left)
	}
}
