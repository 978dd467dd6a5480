package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"offcut/models"
	"offcut/models/find"

	"gorm.io/gorm"
)

const (
	// searchTimeout ends a search that would keep a reader for too long.
	searchTimeout = 10 * time.Second
	// searchWait is how long a user's search waits for the one before it, such as
	// that for the letters typed until then.
	searchWait = 3 * time.Second
	// trigram is the length of what the index knows, in characters; shorter
	// words are looked for in the messages themselves.
	trigram = 3
)

func searchTooSlow() *models.Error {
	return models.Errorf(models.ErrUnavailable, "search_too_slow",
		"the search took longer than %d seconds and was ended; look for longer or other words", int(searchTimeout.Seconds()))
}

func tooManySearches() *models.Error {
	e := models.Errorf(models.ErrLimited, "too_many_searches", "another search of yours is still under way; try again in a moment")
	e.RetryAfter = searchWait
	return e
}

// search runs f on a connection for searches. A user has one at a time: the next
// one waits for it, and is ErrLimited where that takes too long.
func (s *Store) search(ctx context.Context, owner, doing string, f func(*gorm.DB) error) error {
	waiting, cancel := context.WithTimeoutCause(ctx, searchWait, tooManySearches())
	defer cancel()
	leave, err := s.seeking.Enter(waiting, owner)
	if err != nil {
		return describe(doing, err)
	}
	defer leave()
	return searching(ctx, func(ctx context.Context) error {
		return describe(doing, f(s.seekers.WithContext(ctx)))
	})
}

// searching gives f the time that a search may take.
func searching(ctx context.Context, f func(context.Context) error) error {
	timed, cancel := context.WithTimeoutCause(ctx, searchTimeout, searchTooSlow())
	defer cancel()
	err := f(timed)
	var slow *models.Error
	if err != nil && errors.As(context.Cause(timed), &slow) {
		return slow
	}
	return err
}

// search is the words that are looked for among the sessions of an owner, and
// where.
type search struct {
	indexed     bool
	owner       string
	first, last int64 // the owner's places in the index
	words       []string
	part        models.SearchPart
	from, to    time.Time
}

func (s *Store) newSearch(db *gorm.DB, q models.SessionQuery) (search, error) {
	words, err := find.Words(q.Text)
	if err != nil {
		return search{}, err
	}
	one := search{indexed: s.indexed, owner: q.OwnerID, words: words, part: q.In, from: q.From, to: q.To}
	one.first, one.last, err = blockOf(db, q.OwnerID)
	return one, err
}

// sessions leaves those of a list that hold every word, in the title or in any
// message.
func (q search) sessions(db *gorm.DB) *gorm.DB {
	for _, word := range q.words {
		title, args := q.titled(word)
		condition, more := q.holding(word)
		switch q.part {
		case models.SearchTitles:
			db = db.Where(title, args...)
		case models.SearchMessages, models.SearchOutputs:
			db = db.Where("sessions.id IN ("+condition+")", more...)
		default:
			db = db.Where("("+title+" OR sessions.id IN ("+condition+"))", append(args, more...)...)
		}
	}
	return db
}

// titled selects the sessions whose title holds a word.
func (q search) titled(word string) (string, []any) {
	within, args := during("sessions.updated_at", q.from, q.to)
	return "holds(sessions.title, ?)" + within, append([]any{word}, args...)
}

// during are conditions on a column with a time; empty where any will do.
func during(column string, from, to time.Time) (conditions string, args []any) {
	if !from.IsZero() {
		conditions, args = " AND "+column+" >= ?", append(args, micros(from))
	}
	if !to.IsZero() {
		conditions, args = conditions+" AND "+column+" < ?", append(args, micros(to))
	}
	return conditions, args
}

// wanted are the conditions on a message that the search looks into: hidden
// messages are none, versions that are not shown are.
func (q search) wanted() (string, []any) {
	conditions := " AND messages.is_meta = 0 AND messages.content <> ''"
	switch q.part {
	case models.SearchMessages:
		conditions += " AND messages.role <> 'tool'"
	case models.SearchOutputs:
		conditions += " AND messages.role = 'tool'"
	}
	within, args := during("messages.created_at", q.from, q.to)
	return conditions + within, args
}

// holding selects the sessions in which a message holds a word.
func (q search) holding(word string) (string, []any) {
	wanted, args := q.wanted()
	own := append([]any{q.owner}, args...)
	if !q.byIndex(word) {
		return ownMessages + wanted + " AND holds(messages.content, ?)", append(own, word)
	}
	indexed := append([]any{trigrams(word), q.first, q.last}, args...)
	return `SELECT messages.session_id FROM search CROSS JOIN messages ON messages.place = search.rowid
			WHERE search MATCH ? AND search.rowid BETWEEN ? AND ?` + wanted + ` AND holds(messages.content, ?)
		UNION ALL ` + ownMessages + wanted + " AND messages.place IS NULL AND holds(messages.content, ?)",
		append(append(indexed, word), append(own, word)...)
}

const ownMessages = `SELECT messages.session_id FROM sessions AS own CROSS JOIN messages ON messages.session_id = own.id
	WHERE own.owner_id = ?`

// byIndex reports whether the index knows where a word may be.
func (q search) byIndex(word string) bool {
	return q.indexed && utf8.RuneCountInString(word) >= trigram
}

// mostTrigrams is how many the index is asked for at once; it refuses
// expressions of some hundreds. A message with so many of a word likely holds it.
const mostTrigrams = 64

// trigrams asks the index for all three characters in a row of a word, or the
// first of them.
func trigrams(word string) string {
	runes := []rune(word)
	var parts []string
	for i := 0; i+trigram <= len(runes) && len(parts) < mostTrigrams; i++ {
		part := `"` + strings.ReplaceAll(string(runes[i:i+trigram]), `"`, `""`) + `"`
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " AND ")
}

// Places finds in which messages of sessions of the query's owner its words
// stand, and returns how many of each session there are. It shows at most most of
// each session, those with more of the words first, and of these what is shown,
// and the newest; one message after the other, since each can be long. A question
// that was asked again is one place.
func (s *Store) Places(ctx context.Context, query models.SessionQuery, sessions []string, most int, show func(models.Place)) (map[string]int, error) {
	found := map[string]int{}
	err := s.search(ctx, query.OwnerID, "find the places of a search", func(db *gorm.DB) error {
		q, err := s.newSearch(db, query)
		if err != nil || len(q.words) == 0 || len(sessions) == 0 || q.part == models.SearchTitles {
			return err
		}
		best, err := q.best(db, sessions, most)
		if err != nil {
			return err
		}
		return showPlaces(db, best, found, show)
	})
	return found, err
}

// bestRow is a message and how many messages of its session are like it.
type bestRow struct {
	ID    string
	Total int
}

// best are the messages that hold most of the words, most of each session.
func (q search) best(db *gorm.DB, sessions []string, most int) ([]bestRow, error) {
	held, args := q.held()
	candidates, more := q.candidates(sessions)
	args = append(append(args, more...), most)
	var rows []bestRow
	err := db.Raw(`SELECT id, total FROM (
		SELECT id, session_id, seq,
			row_number() OVER (PARTITION BY session_id ORDER BY held DESC, shown DESC, seq DESC) AS nth,
			count(*) OVER (PARTITION BY session_id) AS total
		FROM (SELECT messages.id, messages.session_id, messages.seq, messages.shown, messages.role, messages.turn_id, `+held+` AS held FROM `+candidates+`)
		WHERE held > 0 AND (shown = 1 OR role <> 'user' OR `+askedFirst+`)
	) WHERE nth <= ? ORDER BY session_id, nth`, args...).Scan(&rows).Error
	return rows, err
}

// held counts the words that a message holds.
func (q search) held() (string, []any) {
	var terms []string
	var args []any
	for _, word := range q.words {
		terms, args = append(terms, "holds(messages.content, ?)"), append(args, word)
	}
	return strings.Join(terms, " + "), args
}

// askedFirst is the condition for a question in a version that is not shown: it
// is the first of those that ask the same, and none of them is shown.
const askedFirst = `NOT EXISTS (SELECT 1 FROM turns AS its JOIN turns AS like_it
		ON like_it.session_id = its.session_id AND like_it.parent_id = its.parent_id
		AND coalesce(nullif(like_it.repeats, ''), like_it.id) = coalesce(nullif(its.repeats, ''), its.id)
	WHERE its.id = turn_id AND (its.repeats <> '' OR like_it.shown = 1))`

// candidates are the messages of sessions of the owner among which the words
// are looked for.
func (q search) candidates(sessions []string) (string, []any) {
	const own = "messages.session_id IN (SELECT id FROM sessions WHERE owner_id = ? AND id IN ?)"
	wanted, args := q.wanted()
	args = append([]any{q.owner, sessions}, args...)
	var asked []string
	for _, word := range q.words {
		if !q.byIndex(word) {
			return "messages WHERE " + own + wanted, args
		}
		asked = append(asked, "("+trigrams(word)+")")
	}
	return `messages WHERE messages.id IN (
			SELECT messages.id FROM search CROSS JOIN messages ON messages.place = search.rowid
			WHERE search MATCH ? AND search.rowid BETWEEN ? AND ? AND ` + own + wanted + `
			UNION ALL SELECT messages.id FROM messages WHERE ` + own + wanted + " AND messages.place IS NULL)",
		slices.Concat([]any{strings.Join(asked, " OR "), q.first, q.last}, args, args)
}

// showPlaces reads the messages one after the other, in the order of best.
func showPlaces(db *gorm.DB, best []bestRow, found map[string]int, show func(models.Place)) error {
	for _, one := range best {
		var row messageRow
		if err := db.Where("id = ?", one.ID).Take(&row).Error; err != nil {
			if errors.Is(err, gorm.ErrRecordNotFound) {
				continue // deleted in this moment
			}
			return err
		}
		found[row.SessionID] = one.Total
		show(models.Place{
			MessageID: row.ID, SessionID: row.SessionID, TurnID: row.TurnID, Shown: row.Shown, Role: models.Role(row.Role),
			Content: row.Content, CreatedAt: fromMicros(row.Created),
		})
	}
	return nil
}
