package contextwin

import (
	"iter"
	"slices"
	"time"

	"offcut/models"
)

// pruner goes through a history and shortens old tool results in what is sent of
// it. What prior holds stays as it was decided.
//
// It goes through the history as it was: at each model call in it the same is
// decided as was then. Prior adds what the history does not show, such as what a
// summary spared, or a refusal of the provider's.
//
// A call shortens where the provider's cache has expired since the one before
// it, or at once where its request would not fit. By the share of the window
// that it takes, all large results that are old are then trimmed, or cleared.
// Where it still would not fit, all old results are cleared; and only where
// that is not enough do the protected ones shrink to head and tail, the oldest
// first. Protected are those of the last replies, and all before the first
// message of a user.
type pruner struct {
	limits    Limits
	prior     Decisions
	decisions Decisions
	pair      pair
	elsewhere func(models.Message) bool // its output is another session's
	ranges    CopyRanges
	history   []models.Message
	sent      []models.Message  // the history, shortened
	open      []models.ToolCall // those of the last reply whose results have not come
	results   []shortable
	count     int // messages so far
	frame     int // bytes of the request's frame
	bytes     int // what the messages and the frame take
	// early is the number of results before the first message of a user; -1
	// where none has come.
	early    int
	replies  []replyPlace
	lastCall time.Time
	// aged and cleared are how many of the results were dealt with by age, and
	// for want of room: each is looked at once.
	aged, cleared int
}

// replyPlace is where a reply stands.
type replyPlace struct {
	at      int // among the messages
	results int // how many stand before it
}

// shortable is a tool result.
type shortable struct {
	at    int // among the messages
	tool  string
	bytes int // as it is sent
	large bool
}

// newPruner begins a history behind a frame of so many bytes.
func newPruner(limits Limits, prior Decisions, frame int) *pruner {
	limits.Pruning = limits.Pruning.orDefaults()
	return &pruner{limits: limits, prior: prior, decisions: Decisions{}, pair: pair{}, frame: frame, bytes: frame, early: -1}
}

// replay decides again what was decided at each model call of a history.
func replay(p *pruner, history []models.Message) *pruner {
	paired := p.pair.messages(history)
	p.history, p.sent = slices.Grow(p.history, len(paired)), slices.Grow(p.sent, len(paired))
	p.results, p.replies = slices.Grow(p.results, len(paired)/2), slices.Grow(p.replies, len(paired)/2)
	for _, m := range paired {
		if m.Role == models.RoleAssistant {
			p.modelCall(m.CreatedAt)
		}
		p.take(m)
	}
	return p
}

// reframe notes that the request's frame takes so many bytes now.
func (p *pruner) reframe(bytes int) {
	p.bytes += bytes - p.frame
	p.frame = bytes
}

// take takes the next message of the history.
func (p *pruner) take(m models.Message) {
	p.history, p.sent = append(p.history, m), append(p.sent, m)
	p.add(m)
}

func (p *pruner) add(m models.Message) {
	at, bytes := p.count, size(m)
	p.count++
	p.bytes += bytes
	switch m.Role {
	case models.RolePerson:
		if p.early < 0 {
			p.early = len(p.results)
		}
	case models.RoleAssistant:
		p.replies = append(p.replies, replyPlace{at, len(p.results)})
		p.open = m.ToolCalls
	case models.RoleTool:
		p.results = append(p.results, shortable{at: at, tool: p.open[0].Name, bytes: bytes, large: large(m.Content)})
		p.open = p.open[1:]
		if d, ok := p.prior[m.ToolCallID]; ok {
			p.shorten(len(p.results)-1, d)
		}
	}
}

// modelCall shortens what the request of a call at that time needs.
func (p *pruner) modelCall(at time.Time) {
	p.spare(at)
	if !p.fits() {
		p.shrinkProtected()
	}
}

// spare shortens old results alone: by their age, and all of them where the
// request would not fit.
func (p *pruner) spare(at time.Time) {
	pruning := p.limits.Pruning
	expired := pruning.Mode == ModeCacheTTL && !p.lastCall.IsZero() && at.Sub(p.lastCall) >= pruning.TTL
	p.lastCall = at
	if expired || !p.fits() {
		p.ageOld()
	}
	if !p.fits() {
		p.clearOld()
	}
}

// squeeze shortens all that may be at once: the provider has found a request
// too long that was expected to fit.
func (p *pruner) squeeze() {
	p.clearOld()
	for i := range p.protected() {
		p.shorten(i, Decision{Keep: keptAtEnds})
	}
}

func (p *pruner) tokens() int { return tokens(p.bytes, p.count) }

// fits: a window that is not known holds anything.
func (p *pruner) fits() bool {
	return p.limits.ContextTokens == 0 || p.tokens() <= p.limits.room()
}

// old are the results that are not protected: from the first to before the
// second; both are 0 where all are protected.
func (p *pruner) old() (from, to int) {
	n := len(p.replies) - p.limits.Pruning.KeepLastAssistants
	if p.early < 0 || n < 0 {
		return 0, 0
	}
	return p.early, max(p.early, p.replies[n].results)
}

// ageOld trims or clears the old large results, by the share of the window that
// the request takes. What was shortened before stays so.
func (p *pruner) ageOld() {
	if p.limits.ContextTokens == 0 {
		return
	}
	var d Decision
	switch share := float64(p.tokens()) * p.limits.scale() / float64(p.limits.ContextTokens); {
	case share > p.limits.Pruning.HardClearRatio:
	case share > p.limits.Pruning.SoftTrimRatio:
		d.Keep = keptAtEnds
	default:
		return
	}
	from, to := p.old()
	for i := max(from, p.aged); i < to; i++ {
		if _, before := p.decisions[p.callOf(i)]; p.results[i].large && !before {
			p.shorten(i, d)
		}
	}
	p.aged = max(p.aged, to)
}

// clearOld clears all old results, the small ones too.
func (p *pruner) clearOld() {
	from, to := p.old()
	for i := max(from, p.cleared); i < to; i++ {
		p.shorten(i, Decision{})
	}
	p.cleared = max(p.cleared, to)
}

// shrinkProtected shortens the protected results until the request fits, first
// each to what is left of a trimmed one, then to less.
func (p *pruner) shrinkProtected() {
	for _, keep := range []int{keptAtEnds, keptAtEnds / 3, keptAtEnds / 10} {
		for i := range p.protected() {
			if p.fits() {
				return
			}
			p.shorten(i, Decision{Keep: keep})
		}
	}
}

// protected are the results that are not old, the oldest first.
func (p *pruner) protected() iter.Seq[int] {
	from, to := p.old()
	return func(yield func(int) bool) {
		for i := 0; i < from; i++ {
			if !yield(i) {
				return
			}
		}
		for i := to; i < len(p.results); i++ {
			if !yield(i) {
				return
			}
		}
	}
}

func (p *pruner) callOf(i int) string { return p.history[p.results[i].at].ToolCallID }

// shorten shortens a result, unless it is so short already. A result that is
// not stored could not be read again, and stays.
func (p *pruner) shorten(i int, d Decision) {
	r := &p.results[i]
	whole := p.history[r.at]
	before, decided := p.decisions[whole.ToolCallID]
	if whole.ID == "" || (decided && !d.shorter(before)) {
		return
	}
	short := d.apply(whole, r.tool, p.elsewhere != nil && p.elsewhere(whole), p.ranges)
	bytes := size(short)
	if bytes >= r.bytes {
		return
	}
	p.bytes += bytes - r.bytes
	r.bytes, p.sent[r.at] = bytes, short
	p.decisions[whole.ToolCallID] = d
}
