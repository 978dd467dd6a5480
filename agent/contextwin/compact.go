package contextwin

import (
	"context"
	"slices"
	"time"

	"offcut/agent"
	"offcut/models"
)

// The share of a request that a summary may take, and its bounds in tokens.
const (
	summaryShare = 8 // an eighth
	leastSummary = 300
	mostSummary  = 4000
)

func (l Limits) summaryTokens() int {
	return min(max(l.room()/summaryShare, leastSummary), mostSummary)
}

// compact puts a summary in the place of the oldest turns of what p would send:
// of as many whole turns as it takes to come down to target tokens, and at most
// of so many spans. False: nothing is gained by it, or ctx ended.
func (w *Window) compact(ctx context.Context, req agent.Request, p *pruner, most, target int) bool {
	budget := w.limits.summaryTokens()
	n, spared := p.oldest(most, target-budget)
	if w.model == nil || n == 0 || spared <= budget {
		return false
	}
	covered := spans(p.sent)[:n]
	upto := covered[n-1].turn
	part := req.Messages[:max(0, after(req.Messages, upto))] // none of it where the summary before it alone is too long
	whole := part
	if w.before != nil {
		whole = slices.Concat(w.memory.Earlier(ctx, w.before.UptoTurn), part)
	}
	outputs := outputsOf(w.memory.Outputs(ctx), whole)
	summary := models.Summary{
		SessionID: p.sent[0].SessionID, UptoTurn: upto, Messages: said(whole), Outputs: len(outputs),
		TokensBefore: spared, CreatedAt: time.Now(),
	}
	list := outputList(outputs, results(whole, w.elsewhere(ctx, req.Messages)), budget*agent.BytesPerToken/3)
	s := scribe{
		model: w.model, request: agent.Request{Model: req.Model, OnRetry: req.OnRetry}, log: w.log,
		input: w.limits.room() - budget, most: budget*agent.BytesPerToken - len(list) - len(summaryHead),
	}
	text := s.summarise(ctx, w.readable(ctx, w.condensed(part), req.Messages))
	w.memory.Used(ctx, s.used)
	if ctx.Err() != nil {
		return false
	}
	summary.Content, summary.Model = summaryHead+text+list, s.wrote
	summary.TokensAfter = tokens(len(summary.Content), 1)
	w.made = &summary
	if !s.passing {
		w.memory.Summarised(ctx, summary)
	}
	return true
}

// readable is what whoever summarises it is shown: its results have the ids under
// which they can be read.
func (w *Window) readable(ctx context.Context, old, history []models.Message) []models.Message {
	elsewhere := w.elsewhere(ctx, history)
	old = slices.Clone(old)
	for i, m := range old {
		if elsewhere(m) {
			old[i].Metadata = models.Ptr(ledBack(m, true))
		}
	}
	return old
}

// oldest is how many of the first spans have to go, of at most so many, to leave
// target tokens, and how many tokens they take.
func (p *pruner) oldest(most, target int) (n, spared int) {
	left := p.tokens()
	for _, s := range spans(p.sent)[:most] {
		if left-spared <= target {
			break
		}
		bytes := 0
		for _, m := range p.sent[s.from:s.to] {
			bytes += size(m)
		}
		spared += tokens(bytes, s.to-s.from-1)
		n++
	}
	return n, spared
}

// said counts what people see of a history as messages.
func said(history []models.Message) (n int) {
	for _, m := range history {
		if !m.IsMeta && m.Content != "" && (m.Role == models.RolePerson || m.Role == models.RoleAssistant) {
			n++
		}
	}
	return n
}
