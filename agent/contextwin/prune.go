package contextwin

import (
	"slices"
	"time"

	"offcut/agent"
	"offcut/models"
)

// Prune shortens old tool results of a request whose messages are well formed,
// and returns its messages and how each shortened result was. What prior holds
// stays as it was decided.
//
// It goes through the history as it was: at each model call in it the same is
// decided as was then. So decisions need no storing, and are the same in the
// next turn and after a restart; prior adds those that the history does not
// show.
//
// A call shortens where the provider's cache has expired since the one before
// it, or at once where its request would not fit. By the share of the window
// that it takes, all large results that are old are then trimmed, or cleared.
// Where it still would not fit, all old results are cleared; and only where
// that is not enough do the protected ones shrink to head and tail, the oldest
// first. Protected are those of the last replies, and all before the first
// message of a user.
func Prune(req agent.Request, prior Decisions, limits Limits, now time.Time) ([]models.Message, Decisions) {
	p := replay(req, prior, limits)
	p.modelCall(now)
	return p.sent, p.decisions
}

// pruner goes through a history.
type pruner struct {
	limits    Limits
	prior     Decisions
	decisions Decisions
	history   []models.Message
	sent      []models.Message  // the history, shortened
	open      []models.ToolCall // those of the last reply whose results have not come
	results   []shortable
	count     int // messages so far
	bytes     int // what they and the request's frame take
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

// replay decides again what was decided at each model call of the history.
func replay(req agent.Request, prior Decisions, limits Limits) *pruner {
	limits.Pruning = limits.Pruning.orDefaults()
	p := &pruner{
		limits: limits, prior: prior, decisions: Decisions{},
		history: req.Messages, sent: slices.Clone(req.Messages), bytes: frame(req), early: -1,
	}
	for _, m := range req.Messages {
		if m.Role == models.RoleAssistant {
			p.modelCall(m.CreatedAt)
		}
		p.add(m)
	}
	return p
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
	from, to := p.old()
	for i := range p.results {
		if i < from || i >= to {
			p.shorten(i, Decision{Keep: keptAtEnds})
		}
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
	switch share := float64(p.tokens()) / float64(p.limits.ContextTokens); {
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
	from, to := p.old()
	for _, keep := range []int{keptAtEnds, keptAtEnds / 3, keptAtEnds / 10} {
		for i := range p.results {
			if p.fits() {
				return
			}
			if i < from || i >= to {
				p.shorten(i, Decision{Keep: keep})
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
	short := d.apply(whole, r.tool)
	bytes := size(short)
	if bytes >= r.bytes {
		return
	}
	p.bytes += bytes - r.bytes
	r.bytes, p.sent[r.at] = bytes, short
	p.decisions[whole.ToolCallID] = d
}
