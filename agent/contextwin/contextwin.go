// Package contextwin decides what of a session's history a model is sent. It
// works on copies: what is stored never changes.
//
// A history that does not fit is made to in steps, each taken only where those
// before were not enough: old tool results are shortened, then cleared; the
// oldest turns are summarised; the last results are shortened too; and at last
// every turn but the one that runs is summarised.
package contextwin

import (
	"context"
	"log/slog"
	"maps"
	"time"

	"offcut/agent"
	"offcut/models"
)

// Limits describe the window that a history has to fit.
type Limits struct {
	// ContextTokens is the size of the model's window; 0: not known.
	ContextTokens int
	// MaxOutputTokens is what the reply may take of it; 0: not known.
	MaxOutputTokens int
	// Scale is how many tokens the provider counts for one of the estimate; below
	// 1: it is not known, and taken as 1.
	Scale   float64
	Pruning Pruning
}

// room is how many tokens, by the estimate, a request may take. A reply's share
// that would leave it less than half of the window is not believed.
func (l Limits) room() int {
	return int(float64(l.ContextTokens-min(l.MaxOutputTokens, l.ContextTokens/2)) / l.scale())
}

func (l Limits) scale() float64 { return max(1, l.Scale) }

// mostScale bounds Limits.Scale: no tokenizer makes more than a token of a byte,
// so that a provider that counts more is not believed.
const mostScale = agent.BytesPerToken

// Memory keeps what a window decides, so that the session's next turn, also
// after a restart, sends the same. What it cannot keep it tells its own log of:
// the next turn then decides anew.
type Memory interface {
	// Pruned keeps how further results are shortened.
	Pruned(ctx context.Context, more Decisions)
	// Summarised keeps a summary.
	Summarised(ctx context.Context, s models.Summary)
	// Used counts what the requests for a summary have used.
	Used(ctx context.Context, used models.Usage)
	// Learned keeps that the model's window has no more tokens than this: its
	// provider has refused a request.
	Learned(tokens int)
	// Scaled keeps by how much the provider counts more than the estimate.
	Scaled(scale float64)
	// Earlier is what was said up to a turn and with it, which a summary covers.
	Earlier(ctx context.Context, uptoTurn string) []models.Message
	// OutputIDs are the ids of all outputs that the session has, or had; nil:
	// not known.
	OutputIDs(ctx context.Context) map[string]bool
	// Outputs are the kept outputs of the session, oldest first.
	Outputs(ctx context.Context) []models.RetainedOutput
}

// Options are what a window begins with.
type Options struct {
	Limits
	// Pruned is how results were shortened in earlier turns.
	Pruned Decisions
	// Before is the summary behind which the history begins; nil: it is whole.
	Before *models.Summary
	// Model writes summaries; nil: none are made.
	Model agent.Model
	// Memory may be nil: then nothing outlives the turn.
	Memory Memory
	// Ranges may be nil: then no shortened result says what of its copy is left.
	Ranges CopyRanges
	Log    *slog.Logger
}

// Window fits the requests of one turn to a model's window. It is an
// agent.Window, and is used by one loop at a time.
type Window struct {
	limits  Limits
	decided Decisions       // how results are shortened
	kept    Decisions       // those of them that the memory has
	before  *models.Summary // the history begins behind it
	made    *models.Summary // covers the begin of the history; nil: none was made in this turn
	model   agent.Model
	memory  Memory
	ranges  CopyRanges
	log     *slog.Logger
	sent    int // about how many tokens the last request took

	// last is where the last request was made, which the next one goes on from;
	// nil: there is none, or a summary took its place. seen is how many messages
	// of the history it has.
	last *pruner
	seen int

	owned map[string]bool // see outputs
	asked bool            // owned was asked for
}

// Open makes the window of a session's next turn.
func Open(o Options) *Window {
	if o.Memory == nil {
		o.Memory = forgetful{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Window{
		limits: o.Limits, decided: o.Pruned, kept: maps.Clone(o.Pruned), before: o.Before,
		model: o.Model, memory: o.Memory, ranges: o.Ranges, log: o.Log,
	}
}

// Fit makes the messages that are sent, well formed whatever happened in the
// session, and says about how many tokens are left free for results and the
// reply after them; -1 where the window is not known.
func (w *Window) Fit(ctx context.Context, req agent.Request) ([]models.Message, int) {
	now := time.Now()
	p := w.goOn(ctx, req)
	p.spare(now)
	if !p.fits() && w.compact(ctx, req, p, p.unprotectedTurns(), w.limits.room()/2) {
		p = w.replay(ctx, req)
		p.spare(now)
	}
	if !p.fits() {
		p.shrinkProtected()
	}
	if !p.fits() && w.compact(ctx, req, p, p.earlierTurns(), w.limits.room()/2) {
		p = w.replay(ctx, req)
		p.modelCall(now)
	}
	return w.finish(ctx, req, p)
}

// Shrink makes the messages anew after the provider refused those of Fit as too
// long: it shortens all that may be, and summarises old turns where that does
// not leave half. It is false where nothing is gained. From then on the window
// is taken to be smaller than what was refused.
func (w *Window) Shrink(ctx context.Context, req agent.Request) ([]models.Message, int, bool) {
	refused := w.sent
	w.learn(refused)
	p := w.replay(ctx, req)
	p.squeeze()
	if p.tokens() > refused/2 && w.compact(ctx, req, p, p.earlierTurns(), refused/2) {
		p = w.replay(ctx, req)
		p.squeeze()
	}
	if p.tokens() >= refused {
		return nil, 0, false
	}
	messages, left := w.finish(ctx, req, p)
	return messages, left, true
}

// learn takes the window to hold less than a request that was refused: nine
// tenths of it, or the next that is as long would be refused too.
func (w *Window) learn(refused int) {
	most := int(float64(refused)*0.9*w.limits.scale()) + w.limits.MaxOutputTokens
	if w.limits.ContextTokens > 0 && w.limits.ContextTokens <= most {
		return
	}
	w.limits.ContextTokens = most
	w.memory.Learned(most)
}

// Measured takes how many tokens the provider counted in the request that was
// made last: the next ones are estimated by it. Text in Latin letters takes about
// what the estimate says, digits and other scripts twice as much and more.
func (w *Window) Measured(tokens int64) {
	if tokens <= 0 || w.sent == 0 {
		return
	}
	w.limits.Scale = min(max(1, float64(tokens)/float64(w.sent)), mostScale)
	w.memory.Scaled(w.limits.Scale)
}

// goOn goes on from the last request of the turn with what the history has more.
// What that request was cannot change: the model was sent it.
func (w *Window) goOn(ctx context.Context, req agent.Request) *pruner {
	p := w.last
	if p == nil || w.seen > len(req.Messages) {
		return w.replay(ctx, req)
	}
	p.limits.Scale = w.limits.Scale
	p.reframe(frame(req))
	for _, m := range p.pair.messages(req.Messages[w.seen:]) {
		if m.Role == models.RoleAssistant {
			p.lastCall = m.CreatedAt
		}
		p.take(m)
	}
	return p
}

// replay goes through what is sent of the history, as it was shortened before.
func (w *Window) replay(ctx context.Context, req agent.Request) *pruner {
	w.last = nil
	p := newPruner(w.limits, w.decided, frame(req))
	p.elsewhere, p.ranges = w.elsewhere(ctx, req.Messages), w.ranges
	return replay(p, w.condensed(req.Messages))
}

// finish hands out what p would send, and remembers how it came about.
func (w *Window) finish(ctx context.Context, req agent.Request, p *pruner) ([]models.Message, int) {
	w.last, w.seen, w.decided = p, len(req.Messages), p.decisions
	w.remember(ctx)
	messages := opened(p.sent)
	w.sent = p.tokens()
	if more := len(messages) - len(p.sent); more > 0 {
		w.sent = tokens(p.bytes+size(messages[0]), p.count+more)
	}
	if w.limits.ContextTokens == 0 {
		return messages, -1
	}
	return messages, max(0, w.limits.room()-w.sent)
}

// remember hands the memory what it does not have yet. What was shortened in a
// turn that was stopped meanwhile is not sent: the summary that was being made
// might have spared it.
func (w *Window) remember(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	more := Decisions{}
	for id, d := range w.decided {
		if before, ok := w.kept[id]; !ok || before != d {
			more[id] = d
		}
	}
	if len(more) == 0 {
		return
	}
	if w.kept == nil {
		w.kept = Decisions{}
	}
	maps.Copy(w.kept, more)
	w.memory.Pruned(ctx, more)
}

// forgetful is the memory of a window that nobody asks for again.
type forgetful struct{}

func (forgetful) Pruned(context.Context, Decisions)                       {}
func (forgetful) Summarised(context.Context, models.Summary)              {}
func (forgetful) Used(context.Context, models.Usage)                      {}
func (forgetful) Scaled(float64)                                          {}
func (forgetful) Learned(int)                                             {}
func (forgetful) Earlier(context.Context, string) (none []models.Message) { return nil }
func (forgetful) OutputIDs(context.Context) map[string]bool               { return nil }
func (forgetful) Outputs(context.Context) (none []models.RetainedOutput)  { return nil }
