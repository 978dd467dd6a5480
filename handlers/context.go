package handlers

import (
	"context"

	"offcut/agent/events"
	"offcut/models"
	"offcut/views"
)

// meter is how much of its model's window a session takes with so many tokens.
func (h *Handlers) meter(sess models.Session, used int64) views.Meter {
	if h.ContextTokens == nil {
		return views.Meter{}
	}
	return views.Meter{SessionID: sess.ID, Used: used, Window: int64(h.ContextTokens(sess.Model))}
}

// used is what the newest of the turns that asked the model took of its window.
func used(turns []turnMessages) int64 {
	for i := len(turns) - 1; i >= 0; i-- {
		if tokens := turns[i].turn.ContextTokens; tokens > 0 {
			return tokens
		}
	}
	return 0
}

// fold puts marks behind the turns up to which a summary stands, in what is
// shown of the turns.
func (h *Handlers) fold(ctx context.Context, sessionID string, shown [][]views.Entry, turns []turnMessages) error {
	at := make(map[string]int, len(turns))
	ids := make([]string, len(turns))
	for i, t := range turns {
		ids[i], at[t.turn.ID] = t.turn.ID, i
	}
	summaries, err := h.Store.Summaries(ctx, sessionID, ids)
	if err != nil {
		return err
	}
	for _, s := range summaries {
		i := at[s.UptoTurn]
		shown[i] = append(shown[i], views.Entry{Fold: foldOf(s)})
	}
	return nil
}

func foldOf(s models.Summary) *views.Fold {
	return &views.Fold{TurnID: s.UptoTurn, Messages: s.Messages, Outputs: s.Outputs, Plain: s.Model == ""}
}

// usage shows the turn's tokens, by the model that the session has now.
func (f *framer) usage(ctx context.Context, e events.Event) ([]frame, error) {
	sess, err := f.h.Store.AnySession(ctx, f.sess.ID)
	if err != nil {
		return nil, err
	}
	meter, err := f.html(ctx, "#meter", "outerHTML", views.ContextMeter(f.h.meter(sess, e.ContextTokens)))
	meter.Optional = true
	return []frame{meter, {Type: "usage", Turn: e.TurnID, Usage: e.Usage, ContextTokens: e.ContextTokens}}, err
}

// summary marks where a summary stands now, on pages that reach so far back.
func (f *framer) summary(ctx context.Context, e events.Event) ([]frame, error) {
	list, err := f.h.Store.Summaries(ctx, f.sess.ID, []string{e.UptoTurn})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	mark, err := f.html(ctx, "#a-"+e.UptoTurn, "afterend", views.FoldMark(*foldOf(list[0])))
	mark.Optional = true
	return []frame{mark}, err
}
