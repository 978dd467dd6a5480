package runner

import (
	"context"
	"math"
	"time"

	"offcut/agent"
	"offcut/agent/contextwin"
	"offcut/agent/events"
	"offcut/models"
)

// window makes the window of a turn whose history begins behind a summary: what
// was shortened before stays so.
func (r *Runner) window(ctx context.Context, j *journal, model agent.Model, info ModelInfo, before *models.Summary) (*contextwin.Window, error) {
	session := j.turn.SessionID
	keep, err := r.cfg.Store.Prunings(ctx, session)
	if err != nil {
		return nil, j.storageError("read what was shortened", err)
	}
	pruned := make(contextwin.Decisions, len(keep))
	for callID, n := range keep {
		pruned[callID] = contextwin.Decision{Keep: n}
	}
	learned, err := r.cfg.Store.Window(ctx, session, info.Name)
	if err != nil {
		return nil, j.storageError("read what is known of the model's window", err)
	}
	limits := info.limits()
	if r.cfg.Now().Sub(learned.RefusedAt) > refusalHolds {
		learned.Tokens = 0
	}
	if learned.Tokens > 0 && (limits.ContextTokens == 0 || learned.Tokens < limits.ContextTokens) {
		limits.ContextTokens = learned.Tokens
	}
	limits.Scale = learned.Scale
	return contextwin.Open(contextwin.Options{
		Limits: limits, Pruned: pruned, Before: before, Model: scribe{model, j}, Memory: &memory{j, learned}, Ranges: j.copyRanges, Log: j.log,
	}), nil
}

// copyRanges are the bytes of a result's own copy that stretches of its body show.
func (j *journal) copyRanges(stored models.Message, left []models.Range) []models.Range {
	call, result := j.told(unsentResult{call: models.ToolCall{ID: stored.ToolCallID}, message: stored})
	var ranges []models.Range
	for _, read := range j.r.cfg.ReadsLeft(call, result, left, j.r.cfg.Now()) {
		if read.OutputID == result.Metadata.OutputID {
			ranges = append(ranges, read.Range)
		}
	}
	return models.MergeRanges(ranges)
}

// refusalHolds is how long a window is believed to be smaller than configured:
// the provider's server may have been given a larger one since, and to ask for
// that once a day costs one refused request.
const refusalHolds = 24 * time.Hour

// notedScale is by which share the scale of the estimate has to change to be
// stored again: it moves a little with each request.
const notedScale = 0.02

// memory keeps what the window of a turn decides; see contextwin.Memory. What
// cannot be stored is decided anew by the next turn.
type memory struct {
	j       *journal
	learned models.Window // as it is stored
}

func (m *memory) Pruned(ctx context.Context, more contextwin.Decisions) {
	keep := make(map[string]int, len(more))
	for callID, d := range more {
		keep[callID] = d.Keep
	}
	m.log("what was shortened", m.j.r.cfg.Store.SavePrunings(context.WithoutCancel(ctx), m.learned.SessionID, keep))
}

func (m *memory) Summarised(ctx context.Context, s models.Summary) {
	if err := m.j.r.cfg.Store.SaveSummary(context.WithoutCancel(ctx), s); err != nil {
		m.log("a summary", err)
		return
	}
	m.j.mu.Lock()
	defer m.j.mu.Unlock()
	m.j.publish(events.Event{Kind: events.KindSummary, UptoTurn: s.UptoTurn})
}

func (m *memory) Used(ctx context.Context, used models.Usage) {
	m.j.mu.Lock()
	m.j.turn.Usage = m.j.turn.Usage.Add(used)
	turn := m.j.turn
	m.j.mu.Unlock()
	_ = m.j.saveTurn(context.WithoutCancel(ctx), turn) // logged there; the figures come again with the next save
}

func (m *memory) Scaled(scale float64) {
	if known := max(1, m.learned.Scale); math.Abs(scale-known) > notedScale*known {
		m.learned.Scale = scale
		m.learn()
	}
}

func (m *memory) Learned(tokens int) {
	m.learned.Tokens, m.learned.RefusedAt = tokens, m.j.r.cfg.Now()
	m.learn()
}

func (m *memory) learn() {
	m.log("the model's window", m.j.r.cfg.Store.SaveWindow(context.Background(), m.learned))
}

// Outputs reads all of the session's kept outputs. A list that cannot be read is
// empty: their ids are in the history too, and a summary does without.
func (m *memory) Outputs(ctx context.Context) []models.RetainedOutput {
	var all []models.RetainedOutput
	page := models.Page{Limit: models.MaxPageLimit}
	for {
		list, next, err := m.j.r.cfg.Store.Outputs(ctx, m.learned.SessionID, page)
		m.log("the list of outputs", err)
		all = append(all, list...)
		if err != nil || next == "" {
			return all
		}
		page.Cursor = next
	}
}

// OutputIDs are not known where they cannot be read.
func (m *memory) OutputIDs(ctx context.Context) map[string]bool {
	ids, err := m.j.r.cfg.Store.OutputIDs(ctx, m.learned.SessionID)
	if err != nil {
		m.log("the ids of outputs", err)
		return nil
	}
	return ids
}

// Earlier is empty where it cannot be read: a summary then names none of its
// results.
func (m *memory) Earlier(ctx context.Context, uptoTurn string) []models.Message {
	said, err := m.j.r.cfg.Store.Transcript(ctx, m.learned.SessionID, uptoTurn)
	m.log("what a summary covers", err)
	return said
}

func (m *memory) log(what string, err error) {
	if err != nil {
		m.j.log.Error("storage failed for a window", "what", what, "error", err)
	}
}

// Asking notes what the model is sent: of the results that wait for a proof that
// they were, those that are not whole in it are given up. What was left of them
// is not told apart.
func (j *journal) Asking(req agent.Request) {
	whole := make(map[string]string, len(req.Messages)/2)
	for _, m := range req.Messages {
		if m.Role == models.RoleTool {
			whole[m.ToolCallID] = m.Content
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked, j.askedAt = req, j.r.cfg.Now()
	j.transit.asking(req)
	j.noteRequest(req, j.askedAt, false)
	if j.again != nil { // of the request for a summary, which has its answer
		j.waited()
		j.publish(events.Event{Kind: events.KindRetry})
	}
	var unsent []unsentResult
	for _, u := range j.unsent {
		if content, ok := whole[u.call.ID]; ok && content == u.message.Content {
			unsent = append(unsent, u)
		}
	}
	j.unsent = unsent
}

// lastAsked is when the model was asked.
func (j *journal) lastAsked() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.askedAt
}

// occupied is about what a reply and the request that it answers take of the
// model's window: as the provider counted, or else by estimate. Called with the
// lock held.
func (j *journal) occupied(reply models.Message, usage models.Usage) int64 {
	if counted := usage.InputTokens + usage.OutputTokens; usage.InputTokens > 0 {
		return counted
	}
	asked := j.asked
	asked.Messages = append(asked.Messages[:len(asked.Messages):len(asked.Messages)], reply)
	return int64(contextwin.Estimate(asked))
}
