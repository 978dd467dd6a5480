package views

import "time"

// Range is a half-open byte range [Start, End).
type Range struct{ Start, End int64 }

// Gap is a place in a kept copy where bytes are missing.
type Gap struct {
	// At and MarkerBytes are where the marker line stands in the copy.
	At          int64
	MarkerBytes int64
	// Omitted is how many bytes are missing there.
	Omitted int64
}

// Coverage is a bar: which bytes of an output the model has read.
type Coverage struct {
	// Total is the length of the kept copy. The bar is longer where bytes were
	// never kept.
	Total int64
	// Read are the ranges that the model was shown, merged and in order.
	Read []Range
	Gaps []Gap
	// Hits are the offsets of a search's hits.
	Hits []int64
	// Here is the page that is shown; the zero value where there is none.
	Here Range
}

// ReadNote is one line of how the model came to read an output.
type ReadNote struct {
	// Kind is preview, page or search.
	Kind  string
	Range Range
	At    time.Time
}

// Hit is one find of a search in a kept output.
type Hit struct {
	Offset int64
	Line   int64
	// Text is the line around it, bounded.
	Text string
}

// Output is the full page of one kept output.
type Output struct {
	SessionTitle string
	Pager        Pager
	Sidebar      Sidebar
	// Reads say how the model came to read it, oldest first.
	Reads []ReadNote
	// MoreReads: there were others before, which are left out.
	MoreReads bool
	// CapturedBytes is what the tool produced; ReplacedBytes of them were no
	// UTF-8.
	CapturedBytes int64
	ReplacedBytes int64
	CreatedAt     time.Time
	Took          time.Duration
	// Origin is the script within which it was made; nil: it was made in none.
	Origin *Origin
}

// Filter is a jq filter and what it gives.
type Filter struct {
	Filter string
	// Text is the values, one to a line, or the beginning of them; Values and
	// Bytes are how many there are in all.
	Text          string
	Values, Bytes int
	// Problem is a sentence about a filter that was refused.
	Problem string
}

// Pager is one page of a kept output with what leads to the others.
type Pager struct {
	SessionID string
	OutputID  string
	CallID    string
	Tool      string
	// Title is what made the output: the command, the path.
	Title string

	// The page: Text is the bytes [Offset, End) of the copy, exactly.
	Offset int64
	End    int64
	Total  int64
	Text   string
	// HasMore: the kept text goes on after this page. Complete: it is all that
	// the tool returned. Both can be false at once.
	HasMore  bool
	Complete bool
	// Running: the tool still writes it.
	Running   bool
	CheckedAt time.Time

	// Where the other pages begin, on character boundaries; Prev and Next are
	// negative where there is none.
	Prev int64
	Next int64
	Last int64

	// Read are the ranges that the model was shown.
	Read []Range
	Gaps []Gap
	// OmittedBytes is how many bytes were never kept.
	OmittedBytes int64

	// RawBytes are downloaded. Binary: the text is a hex dump of them.
	Binary   bool
	RawBytes int64
	// Original is the type of the bytes that the text was made of; empty: it is
	// as it came.
	Original string
	SHA256   string

	Search Search
	// Problem is a sentence about an offset or a pattern that was refused; the
	// page shown is then the nearest one.
	Problem string
	// InCard: the pager stands in a tool card, not on a page of its own.
	InCard bool
	// Filter is the jq filter over the output, where it stands beside this page;
	// nil: it does not, or the output is no JSON.
	Filter *Filter
}

// Search is what was looked for in an output and found.
type Search struct {
	Query  string
	Regexp bool
	Hits   []Hit
	// More: there are more hits than are listed.
	More bool
	// Problem is a sentence about a pattern that was refused.
	Problem string
}
