package handlers

import (
	"cmp"
	"context"
	"slices"
	"time"

	"offcut/agent/attach"
	"offcut/agent/events"
	"offcut/models"
	"offcut/views"
	"offcut/views/i18n"
)

// What a page holds of a conversation when it opens, whichever is less, but a
// whole turn at least; what was said before comes as one scrolls up. Numbers and
// HTML alike are bounded, so that a session of ten thousand messages opens as fast
// as one of twenty.
const (
	firstMessages = 20
	laterMessages = 60        // as one scrolls up
	firstHTML     = 256 << 10 // bytes
)

// mostMessages is how many messages are shown before the cursor.
func mostMessages(cursor string) int {
	if cursor == "" {
		return firstMessages
	}
	return laterMessages
}

// turnMessages is what was said in one turn, hidden messages among it.
type turnMessages struct {
	turn     models.Turn
	messages []models.Message
	versions []models.Version // the turns of its place, itself among them
	grounds  []models.Ground  // what the answer rests on
}

// log is what was said before the cursor, or last where it is empty: whole
// turns, at least one, and as many as fit the bounds of a page. The live
// snapshot has to be older than what is read here of the store.
func (h *Handlers) log(ctx context.Context, sess models.Session, cursor string, live events.Live) (views.Log, error) {
	messages, older, err := h.messagesBefore(ctx, sess.ID, cursor)
	if err != nil {
		return views.Log{}, err
	}
	turns, err := h.byTurn(ctx, sess.ID, messages)
	if err != nil {
		return views.Log{}, err
	}
	if older != "" && len(turns) > 1 {
		turns = turns[1:] // the oldest may be there only in part
	}
	shown, kept, size := [][]views.Entry{}, 0, 0
	for i := len(turns) - 1; i >= 0; i-- {
		entries, err := h.entries(ctx, sess, turns[i], live, cursor == "" && i == len(turns)-1)
		if err != nil {
			return views.Log{}, err
		}
		size += sizeOf(entries)
		if more := kept + len(turns[i].messages); len(shown) > 0 && (size > firstHTML || more > mostMessages(cursor)) {
			break
		}
		shown, kept = append(shown, entries), kept+len(turns[i].messages)
	}
	if kept < len(messages) {
		if older, err = h.cursorAfter(ctx, sess.ID, cursor, kept); err != nil {
			return views.Log{}, err
		}
	}
	slices.Reverse(shown)
	if err := h.fold(ctx, sess.ID, shown, turns[len(turns)-len(shown):]); err != nil {
		return views.Log{}, err
	}
	log := views.Log{
		SessionID: sess.ID, Older: older, Entries: slices.Concat(shown...), Seq: live.Seq, RunningTurn: live.TurnID,
	}
	if cursor == "" {
		log.Meter = h.meter(sess, used(turns))
		if log.Behind, err = h.behind(ctx, sess); err != nil {
			return views.Log{}, err
		}
	}
	return log, nil
}

// messagesBefore reads messages backward from the cursor until there is a
// whole turn among them, and the cursor of what is before them.
func (h *Handlers) messagesBefore(ctx context.Context, sessionID, cursor string) ([]models.Message, string, error) {
	var all []models.Message
	limit := mostMessages(cursor) + 2 // with the least of a turn, since the oldest may be there only in part
	for {
		page, next, err := h.backward(ctx, sessionID, cursor, limit)
		if err != nil {
			return nil, "", err
		}
		all = append(page, all...)
		if next == "" || all[0].TurnID != all[len(all)-1].TurnID {
			return all, next, nil
		}
		cursor, limit = next, models.MaxPageLimit // one turn is longer than the page
	}
}

func (h *Handlers) backward(ctx context.Context, sessionID, cursor string, limit int) ([]models.Message, string, error) {
	return h.Store.Messages(ctx, models.MessageQuery{
		SessionID: sessionID, Newest: true, IncludeHidden: true, Page: models.Page{Cursor: cursor, Limit: limit},
	})
}

// cursorAfter is the cursor that one gets after reading n messages backward.
func (h *Handlers) cursorAfter(ctx context.Context, sessionID, cursor string, n int) (string, error) {
	for n > 0 {
		page, next, err := h.backward(ctx, sessionID, cursor, min(n, models.MaxPageLimit))
		if err != nil || next == "" {
			return "", err
		}
		cursor, n = next, n-len(page)
	}
	return cursor, nil
}

// byTurn groups messages by their turns. Hidden ones count: a turn that goes on
// with another may have no other yet.
func (h *Handlers) byTurn(ctx context.Context, sessionID string, messages []models.Message) ([]turnMessages, error) {
	var groups []turnMessages
	var ids []string
	for _, m := range messages {
		last := len(groups) - 1
		if last < 0 || ids[last] != m.TurnID {
			groups, ids, last = append(groups, turnMessages{}), append(ids, m.TurnID), last+1
		}
		groups[last].messages = append(groups[last].messages, m)
	}
	turns, err := h.Store.Turns(ctx, sessionID, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]models.Turn, len(turns))
	for _, turn := range turns {
		byID[turn.ID] = turn
	}
	versions, err := h.versionsOf(ctx, sessionID, turns...)
	if err != nil {
		return nil, err
	}
	grounds, err := h.Store.Grounds(ctx, sessionID, ids)
	if err != nil {
		return nil, err
	}
	for i := range groups {
		groups[i].turn, groups[i].grounds = byID[ids[i]], grounds[ids[i]]
		groups[i].versions = versions[groups[i].turn.ParentID]
	}
	return groups, nil
}

// entries is one turn on the screen: what the person wrote, and one answer,
// however many replies and tools it took.
func (h *Handlers) entries(ctx context.Context, sess models.Session, t turnMessages, live events.Live, newest bool) ([]views.Entry, error) {
	var entries []views.Entry
	for _, m := range t.messages {
		if m.Role == models.RolePerson && !m.IsMeta {
			said := h.userMessage(m, cmp.Or(t.turn.Model, sess.Model))
			said.Versions = questions(t.turn, t.versions)
			entries = append(entries, views.Entry{User: said})
		}
	}
	answer := views.Answer{TurnID: t.turn.ID, State: string(t.turn.State), At: answeredAt(t), End: h.turnEnd(t)}
	moved, err := h.movedNotes(ctx, sess, t)
	if err != nil {
		return nil, err
	}
	answer.End.Moved = moved
	if answer.Asks, err = h.asks(ctx, t.turn); err != nil {
		return nil, err
	}
	if t.turn.State == models.StateAwaitingApproval {
		answer.State = string(models.StateRunning)
	}
	if again := live.Retry; again != nil && live.TurnID == t.turn.ID {
		answer.End.Retry = &views.RetryNotice{
			TurnID: t.turn.ID, Until: again.Until, Attempt: again.Attempt, Most: again.Most, Reason: i18n.Error(ctx, retrying, again.Reason, nil),
		}
	}
	if answer.Parts, answer.Earlier, err = h.parts(ctx, sess, t, "", live, newest); err != nil {
		return nil, err
	}
	if len(answer.Parts) > 0 || began(t.turn) {
		entries = append(entries, views.Entry{Answer: &answer})
	}
	return entries, nil
}

// saysNothing reports whether a reply that is over left nothing to show.
func saysNothing(m models.Message) bool {
	return m.State != models.StateRunning && m.Content == "" && m.Reasoning == "" && len(m.ToolCalls) == 0
}

// began reports whether a turn has left the queue, and not by being taken out
// of it.
func began(t models.Turn) bool {
	return t.State != models.StateQueued && (t.State != models.StateStopped || t.StartedAt != nil)
}

// userMessage is what a person wrote to a model.
func (h *Handlers) userMessage(m models.Message, model string) *views.UserMessage {
	said := &views.UserMessage{ID: m.ID, SessionID: m.SessionID, TurnID: m.TurnID, State: string(m.State), At: m.CreatedAt}
	said.Content, said.Bytes = shortened(m.Content, maxSaid)
	for _, a := range m.Attachments {
		said.Files = append(said.Files, views.FileChip{Path: a.Path, Size: a.Size, Picture: a.Image})
		said.Unseen = said.Unseen || attach.Displayable(a.Type) && h.TakesImages != nil && !h.TakesImages(model)
	}
	return said
}

func answeredAt(t turnMessages) time.Time {
	for _, m := range t.messages {
		if m.Role == models.RoleAssistant {
			return m.CreatedAt
		}
	}
	if t.turn.StartedAt != nil {
		return *t.turn.StartedAt
	}
	return t.turn.CreatedAt
}
