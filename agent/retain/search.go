package retain

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"unicode/utf8"

	"offcut/models"
)

// Bounds of a search.
const (
	DefaultMatches  = 20
	MaxMatches      = 200
	MaxPatternBytes = 1 << 10
	// MaxMatchText bounds the line around a hit, in bytes.
	MaxMatchText = 200
)

const (
	// searchBytes is how much of a copy is searched at a time.
	searchBytes = 256 << 10
	// searchOverlap is the longest hit that is surely found whole where two
	// such parts meet.
	searchOverlap = 64 << 10
	// beforeHit is how much of a line is shown before a hit.
	beforeHit = 60
)

// Search finds a text, or what a regular expression (RE2) matches, in a kept
// copy: the hits that do not overlap, in order, at most most of them (0 means
// DefaultMatches; at most MaxMatches). In an expression ^ and $ match at lines.
// It reads the copy once, in bounded memory, and ends early when ctx does.
func (r *Reader) Search(ctx context.Context, sessionID, outputID, pattern string, isRegexp bool, most int) ([]models.Match, error) {
	expr, err := compile(pattern, isRegexp)
	if err != nil {
		return nil, err
	}
	o, err := r.store.Output(ctx, sessionID, outputID)
	if err != nil {
		return nil, err
	}
	if most <= 0 {
		most = DefaultMatches
	}
	s := &search{expr: expr, most: min(most, MaxMatches), line: 1, matches: []models.Match{}}
	for at := int64(0); !s.done; {
		n := int(min(searchBytes, o.TotalBytes-at))
		more, err := copyBytes(ctx, r.store, o, at, n)
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("search output %q: %w", outputID, err)
		}
		at += int64(n)
		s.take(more, at == o.TotalBytes)
	}
	return s.matches, nil
}

func compile(pattern string, isRegexp bool) (*regexp.Regexp, error) {
	switch {
	case pattern == "":
		return nil, models.Errorf(models.ErrInvalid, "empty_pattern", "the pattern is empty; say what to look for")
	case len(pattern) > MaxPatternBytes:
		return nil, models.Errorf(models.ErrInvalid, "pattern_too_long", "a pattern has at most %d bytes; this one has %d", MaxPatternBytes, len(pattern))
	case !utf8.ValidString(pattern):
		return nil, models.Errorf(models.ErrInvalid, "invalid_utf8", "the pattern is not valid UTF-8")
	}
	if !isRegexp {
		pattern = regexp.QuoteMeta(pattern)
	}
	expr, err := regexp.Compile("(?m)" + pattern)
	if err != nil {
		return nil, models.Errorf(models.ErrInvalid, "invalid_pattern", "the pattern is no regular expression of RE2: %s", err)
	}
	return expr, nil
}

// A search goes through a text part by part.
type search struct {
	expr    *regexp.Regexp
	most    int
	matches []models.Match
	done    bool

	buffer []byte // the text from base on
	base   int64
	next   int   // in the buffer: where hits are looked for next
	line   int64 // the line of next, from 1
}

// take searches more of the text. Before the last part it leaves the end of
// what it has, in which a hit may yet go on.
func (s *search) take(text []byte, last bool) {
	s.buffer = append(s.buffer, text...)
	limit := len(s.buffer)
	if !last {
		limit = floorRune(s.buffer, max(s.next, limit-searchOverlap))
	}
	// One character before tells the expression whether a line begins here.
	start := floorRune(s.buffer, max(0, s.next-1))
	for _, hit := range s.expr.FindAllIndex(s.buffer[start:], s.enough()) {
		from, to := start+hit[0], start+hit[1]
		if from < s.next || from == to {
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

// enough is how many hits of a part are worth finding; -1: all. One may begin
// too early, and of an expression that matches nothing at all any number may.
func (s *search) enough() int {
	if s.expr.MatchString("") {
		return -1
	}
	return s.most - len(s.matches) + 1
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
