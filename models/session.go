package models

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Session is one conversation with its messages, kept outputs and workspace.
type Session struct {
	ID         string
	OwnerID    string
	OwnerName  string // filled by lists and reads; not stored with the session
	Title      string
	Model      string // empty: the server's default
	Archived   bool
	Pinned     bool
	ForkedFrom string // a session id; empty unless it is a fork
	Draft      bool   // it holds files for a first message, which was not sent yet; it is in no list
	CreatedAt  time.Time
	UpdatedAt  time.Time
	Running    bool // a turn is running or waiting; filled by lists
}

// MaxTitleLength bounds a title, in characters.
const MaxTitleLength = 200

// ValidateTitle refuses titles over the limit, with characters that CleanTitle
// drops, or with bytes that are no UTF-8; an empty title means that one comes by
// itself.
func ValidateTitle(title string) error {
	if !utf8.ValidString(title) {
		return Errorf(ErrInvalid, "invalid_utf8", "a title is valid UTF-8")
	}
	if utf8.RuneCountInString(title) > MaxTitleLength {
		return Errorf(ErrInvalid, "title_too_long", "a title has at most %d characters", Arg("most", MaxTitleLength))
	}
	if CleanTitle(title) != title {
		return Errorf(ErrInvalid, "invalid_title", "a title is one line that can be seen, without control characters and marks of direction")
	}
	return nil
}

// CleanTitle is title without what breaks its line, cannot be seen, or turns the
// text around it in the other direction; empty where nothing is left to be seen.
func CleanTitle(title string) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, title)
	seen := func(r rune) bool { return !unicode.IsSpace(r) && unicode.IsGraphic(r) && !unicode.Is(fillers, r) }
	if !strings.ContainsFunc(clean, seen) {
		return ""
	}
	return clean
}

// fillers are letters and marks that are drawn as nothing.
var fillers = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x034f, Hi: 0x034f, Stride: 1},
	{Lo: 0x115f, Hi: 0x1160, Stride: 1},
	{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
	{Lo: 0x2800, Hi: 0x2800, Stride: 1},
	{Lo: 0x3164, Hi: 0x3164, Stride: 1},
	{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1},
	{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
}}

// TitleFrom makes a session's first title out of its first message: the first
// line that says something, without the marks of code, cut at a word after at
// most 60 characters.
func TitleFrom(content string) string {
	lines := strings.FieldsFunc(content, func(r rune) bool { return strings.ContainsRune("\n\r\u0085\u2028\u2029", r) })
	for _, line := range lines {
		line = strings.Map(func(r rune) rune {
			switch {
			case unicode.Is(unicode.Cc, r):
				return ' '
			case r == '`':
				return -1
			}
			return r
		}, line)
		if words := strings.Fields(CleanTitle(line)); len(words) > 0 {
			return shorten(strings.Join(words, " "), 60)
		}
	}
	return ""
}

func shorten(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	cut := string(runes[:most])
	if i := strings.LastIndexByte(cut, ' '); i > most/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,.;:") + "…"
}

// SessionPatch changes a session; a nil field stays as it is.
type SessionPatch struct {
	Title    *string
	Archived *bool
	Pinned   *bool
	Model    *string
}

// SessionQuery asks for a page of sessions: pinned ones first, then by last
// change, newest first.
type SessionQuery struct {
	OwnerID  string // empty: all owners, where no words are looked for
	ID       string // empty: all of them; else the one with this id
	Text     string // words that are all found, in the title or in messages
	Archived *bool  // nil: both
	In       SearchPart
	// From and To bound the time, the second not included: of a message in which
	// words are found, else of the last use of the session. Zero: any time.
	From, To time.Time
	Page
}

// Page asks for a part of a list.
type Page struct {
	Cursor string // as the list before returned it; empty: from the start
	Limit  int    // 1 to MaxPageLimit; other values are clamped, 0 is DefaultPageLimit
}

// Limits of a list.
const (
	MaxPageLimit     = 200
	DefaultPageLimit = 50
)

// Clamped is the limit within 1 and MaxPageLimit.
func (p Page) Clamped() int {
	switch {
	case p.Limit == 0:
		return DefaultPageLimit
	case p.Limit < 1:
		return 1
	case p.Limit > MaxPageLimit:
		return MaxPageLimit
	}
	return p.Limit
}

// SessionStats is what a reviewer sees of a session beside its title.
type SessionStats struct {
	Session
	Messages    int
	Outputs     int
	OutputBytes int64
	TextBytes   int64 // of the messages of all versions
	Files       int64 // bytes in the workspace; -1 where not counted
}
