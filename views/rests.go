package views

import (
	"context"
	"net/url"
	"strings"

	"offcut/views/visible"

	"github.com/a-h/templ"
)

// Rests is what an answer rests on where the model did not have all of it before
// it: of results of the turn itself, and of earlier turns.
type Rests struct {
	SessionID string
	Own       []Rest
	Earlier   []Rest
	// Absence marks a sentence of the answer that says that something is not
	// there; nil: it has none, or nothing speaks against it.
	Absence *Absence
}

// Rest is one output that an answer rests on.
type Rest struct {
	OutputID string
	// CallID is the call whose result it is where that has no copy: it stands in
	// its card.
	CallID string
	Tool   string
	Title  string // what made it; may be empty
	Gone   bool   // it is with another session, or was deleted
	// Seen of Total bytes stood before the model, and First is the first one that
	// did not. Taken are those that had and did not any more.
	Seen, Total, First, Taken int64
	Read                      []Range
	// Lacking: Omitted bytes, where that is known, are in no copy.
	Lacking  bool
	Omitted  int64
	Running  bool
	Searched bool
	Queried  bool
}

// Absence is a sentence that says that something is not there.
type Absence struct {
	Sentence string
	More     int    // sentences that say so, too
	Term     string // what is looked for; empty where that is not plain
	Outputs  []Rest // in which it could be, the first of them
	Unnamed  int    // and how many there are beside these
}

// mostListed is how many outputs are listed unfolded under an answer.
const mostListed = 3

func (r Rest) name(ctx context.Context) string {
	switch {
	case r.Title != "":
		return oneLine(r.Title, 60)
	case r.Tool != "":
		return r.Tool
	}
	return t(ctx, "output.untitled")
}

// all: every byte that was kept stood before the model.
func (r Rest) all() bool { return r.Seen >= r.Total }

func (r Rest) coverage() Coverage {
	c := Coverage{Total: r.Total, Read: r.Read}
	if r.Omitted > 0 {
		c.Gaps = []Gap{{At: r.Total, Omitted: r.Omitted}}
	}
	return c
}

// earlierOne is what the texts begin with of one output of an earlier turn.
const earlierOne = "rests.earlier.one."

// sentence says how much of an output stood before the model; keys is what the
// texts for part, all and none of it begin with.
func (r Rest) sentence(ctx context.Context, keys string) string {
	amount := "part"
	switch {
	case r.all():
		amount = "all"
	case r.Seen == 0 && r.Taken == 0 && keys == earlierOne:
		amount = "never"
	case r.Seen == 0:
		amount = "none"
	}
	return rich(ctx, keys+amount, "seen", exact(r.Seen), "total", exact(r.Total), "name", r.name(ctx))
}

// notes are what else is to be said of it.
func (r Rest) notes(ctx context.Context) []string {
	var notes []string
	add := func(on bool, key string, n int64) {
		if on {
			notes = append(notes, t(ctx, key, "n", n, "count", exact(n)))
		}
	}
	add(r.Taken > 0, "rests.taken", r.Taken)
	add(r.Lacking && r.Omitted > 0, "rests.lacking.bytes", r.Omitted)
	add(r.Lacking && r.Omitted == 0, "rests.lacking", 0)
	add(r.Running, "rests.running", 0)
	add(r.Searched, "rests.searched", 0)
	add(r.Queried, "rests.queried", 0)
	add(r.Gone, "rests.gone", 0)
	return notes
}

// links reports whether there is a way to it.
func (r Rest) links() bool { return !r.Gone }

// href leads to the first byte that the model did not have, or to the card.
func (r Rest) href(ctx context.Context, sessionID string) templ.SafeURL {
	if r.CallID != "" {
		return templ.SafeURL("#t-" + r.CallID)
	}
	return at(ctx, "/s/", sessionID, "/out/", r.OutputID, "?offset=", itoa(r.First))
}

// searchHref leads to a search in it.
func (r Rest) searchHref(ctx context.Context, sessionID, term string) templ.SafeURL {
	return at(ctx, "/s/", sessionID, "/out/", r.OutputID, "?", url.Values{"q": {term}}.Encode())
}

// way names the link.
func (r Rest) way(ctx context.Context) string {
	switch {
	case r.CallID != "":
		return t(ctx, "rests.show")
	case r.all():
		return t(ctx, "rests.open")
	}
	return t(ctx, "rests.read")
}

// sums are the bytes of several outputs.
func sums(rests []Rest) (seen, total int64) {
	for _, r := range rests {
		seen, total = seen+r.Seen, total+r.Total
	}
	return seen, total
}

// together says of several outputs what the answer rests on.
func together(ctx context.Context, key string, rests []Rest) string {
	seen, total := sums(rests)
	return rich(ctx, key, "count", exact(len(rests)), "seen", exact(seen), "total", exact(total))
}

// figures name the outputs that a mark doubts.
func (a Absence) figures(ctx context.Context, r Rest) string {
	if r.Lacking && r.Omitted > 0 {
		return rich(ctx, "absence.lacking", "name", r.name(ctx), "omitted", exact(r.Omitted))
	}
	return r.sentence(ctx, "absence.item.")
}

// readable are the outputs that can still be looked at.
func (a Absence) readable() []string {
	var ids []string
	for _, output := range a.Outputs {
		if output.links() {
			ids = append(ids, output.OutputID)
		}
	}
	return ids
}

// ask is what a person can send to have it looked up.
func (a Absence) ask(ctx context.Context) string {
	ids := a.readable()
	outputs := strings.Join(ids, ", ")
	if a.Term == "" {
		return t(ctx, "absence.ask", "n", len(ids), "outputs", outputs)
	}
	return t(ctx, "absence.ask.term", "n", len(ids), "outputs", outputs, "term", a.Term)
}

// named is the term, short, with nothing in it that turns a line round.
func (a Absence) named() string { return visible.Plain(oneLine(a.Term, 40)) }

// text is the sentence of the mark.
func (a Absence) text(ctx context.Context) string {
	return rich(ctx, "absence.text", "sentence", a.Sentence)
}
