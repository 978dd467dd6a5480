package retain

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"time"

	"offcut/agent"
	"offcut/models"
)

// Bounds of a search.
const (
	DefaultMatches  = models.DefaultMatches
	MaxMatches      = models.MaxMatches
	MaxPatternBytes = models.MaxPatternBytes
	// MaxMatchText bounds the line around a hit, in bytes.
	MaxMatchText = 200
)

const (
	// searchRead is how much of a copy is read at a time.
	searchRead = 256 << 10
	// searchBytes is how much is searched before it is asked again whether the
	// search is still wanted: of the costliest expressions some tenths of a
	// second.
	searchBytes = 32 << 10
	// textOverlap and regexpOverlap are the longest hits that are surely found
	// whole where two such parts meet, of a plain text and of an expression.
	// What they hold is searched twice.
	textOverlap   = MaxPatternBytes + MaxMatchText
	regexpOverlap = 16 << 10
	// searchTime bounds one search. Plain text takes some hundredths of a
	// second, and most expressions less than one.
	searchTime = 20 * time.Second
	// beforeHit is how much of a line is shown before a hit.
	beforeHit = 60
)

// searchPlaces leave the processors to others: a search of the costliest kind
// keeps one of them busy until it is given up.
var searchPlaces = agent.PlaceLimits{What: "searches", PerUser: 2, All: 4, Patience: 5 * time.Second}

// Query says what a search looks for.
type Query struct {
	// Asker is the user for whom it is done: of each only a few searches run at
	// a time.
	Asker   string
	Pattern string
	// Regexp: the pattern is an expression of RE2, in which ^ and $ match at
	// lines, and not plain text.
	Regexp bool
	// Most bounds the hits; 0 means DefaultMatches, and more than MaxMatches is
	// MaxMatches.
	Most int
}

// Found is what a search found.
type Found struct {
	// Matches are the hits that do not overlap, in order; never nil.
	Matches []models.Match
	// More: there are further ones.
	More bool
	// Complete: the copy is all that its tool returned.
	Complete bool
}

// Search is Find for those who want no more than the hits.
func (r *Reader) Search(ctx context.Context, asker, sessionID, outputID, pattern string, isRegexp bool, most int) ([]models.Match, error) {
	found, err := r.Find(ctx, sessionID, outputID, Query{Asker: asker, Pattern: pattern, Regexp: isRegexp, Most: most})
	return found.Matches, err
}

// Find looks for a pattern in a kept copy. It reads the copy once, in bounded
// memory. It ends early when ctx does, and when it takes too long, which is
// models.ErrInvalid with the code search_too_slow. Where too many run already
// it is models.ErrLimited.
func (r *Reader) Find(ctx context.Context, sessionID, outputID string, q Query) (Found, error) {
	expr, err := compile(q.Pattern, q.Regexp)
	if err != nil {
		return Found{}, err
	}
	o, err := r.store.Output(ctx, sessionID, outputID)
	if err != nil {
		return Found{}, err
	}
	leave, err := r.searching.Enter(ctx, q.Asker)
	if err != nil {
		return Found{}, err
	}
	defer leave()
	if q.Most <= 0 {
		q.Most = DefaultMatches
	}
	most := min(q.Most, MaxMatches)
	// One hit more tells whether there are more.
	s := &search{expr: expr, most: most + 1, line: 1, overlap: textOverlap, matches: []models.Match{}}
	if q.Regexp {
		s.overlap = regexpOverlap
	}
	within, cancel := context.WithTimeout(ctx, r.searchTime)
	defer cancel()
	if err := s.whole(within, r.store, o); err != nil {
		if within.Err() != nil && ctx.Err() == nil {
			return Found{}, models.Errorf(models.ErrInvalid, "search_too_slow",
				"the search was given up after %s: this pattern takes too long; look for plain text or a simpler expression", r.searchTime)
		}
		return Found{}, fmt.Errorf("search output %q: %w", outputID, err)
	}
	found := Found{Matches: s.matches, Complete: o.Complete}
	if len(found.Matches) > most {
		found.Matches, found.More = found.Matches[:most], true
	}
	return found, nil
}

// A search goes through a text part by part.
type search struct {
	expr    *regexp.Regexp
	most    int
	overlap int // of the parts
	matches []models.Match
	done    bool

	buffer []byte // the text from base on
	base   int64
	next   int   // in the buffer: where hits are looked for next
	line   int64 // the line of next, from 1
}

// whole searches a copy, or as much of it as holds the hits that are wanted.
func (s *search) whole(ctx context.Context, store Copies, o models.RetainedOutput) error {
	for at := int64(0); ; {
		n := int(min(searchRead, o.TotalBytes-at))
		text, err := copyBytes(ctx, store, o, at, n)
		if err != nil {
			return err
		}
		at += int64(n)
		for {
			if err := ctx.Err(); err != nil {
				return err
			}
			part := text[:min(searchBytes, len(text))]
			text = text[len(part):]
			s.take(part, at == o.TotalBytes && len(text) == 0)
			if s.done {
				return nil
			}
			if len(text) == 0 {
				break
			}
		}
	}
}

// take searches more of the text. Before the last part it leaves the end of
// what it has, in which a hit may yet go on.
func (s *search) take(text []byte, last bool) {
	s.buffer = append(s.buffer, text...)
	limit := len(s.buffer)
	if !last {
		limit = floorRune(s.buffer, max(s.next, limit-s.overlap))
	}
	// One character before tells the expression whether a line begins here.
	start := floorRune(s.buffer, max(0, s.next-1))
	// One hit may begin too early, in that character.
	for _, hit := range s.expr.FindAllIndex(s.buffer[start:], s.most-len(s.matches)+1) {
		from, to := start+hit[0], start+hit[1]
		if from < s.next {
			continue
		}
		if from >= limit {
			break
		}
		s.found(from, to)
		if s.done {
			return
		}
	}
	s.advance(max(limit, s.next))
	s.done = last
	keep := floorRune(s.buffer, max(0, s.next-MaxMatchText))
	s.buffer = s.buffer[:copy(s.buffer, s.buffer[keep:])]
	s.base, s.next = s.base+int64(keep), s.next-keep
}

func (s *search) found(from, to int) {
	s.advance(from)
	start, end := lineAround(s.buffer, from)
	s.matches = append(s.matches, models.Match{
		Offset: s.base + int64(from),
		Line:   s.line,
		Text:   string(s.buffer[start:end]),
		Shown:  models.Range{Start: s.base + int64(start), End: s.base + int64(end)},
	})
	s.advance(to)
	s.done = len(s.matches) == s.most
}

// advance moves to a place in the buffer and counts the lines on the way.
func (s *search) advance(to int) {
	s.line += int64(bytes.Count(s.buffer[s.next:to], []byte("\n")))
	s.next = to
}

// lineAround is the part of the line of a hit that is shown: a little before
// it, and what follows.
func lineAround(text []byte, hit int) (start, end int) {
	start = bytes.LastIndexByte(text[:hit], '\n') + 1
	if hit-start > beforeHit {
		start = ceilRune(text, hit-beforeHit)
	}
	end = len(text)
	if n := bytes.IndexByte(text[hit:], '\n'); n >= 0 {
		end = hit + n
	}
	return start, floorRune(text, min(end, start+MaxMatchText))
}
