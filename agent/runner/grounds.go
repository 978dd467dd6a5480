package runner

import (
	"context"
	"reflect"
	"slices"
	"time"

	"offcut/agent"
	"offcut/agent/contextwin"
	"offcut/models"
)

// footing follows what the turn's answer rests on: what of kept outputs stands in
// the requests that the model is sent.
type footing struct {
	results map[string]unsentResult // those of the session as they are stored, by their calls
	// before is what the answer before rests on: what was in its requests and is
	// not in this one's was taken away since, as by a summary.
	before []models.Ground
	stored []models.Ground // as the store has it of this turn
}

// stand takes results over.
func (f *footing) stand(results []unsentResult) {
	if f.results == nil {
		f.results = map[string]unsentResult{}
	}
	for _, r := range results {
		f.results[r.call.ID] = r
	}
}

// takeOverGrounds begins with what the answer before rests on.
func (j *journal) takeOverGrounds(ctx context.Context, history []models.Message) error {
	turn := j.started()
	all, err := j.r.cfg.Store.Grounds(ctx, turn.SessionID, []string{turn.ParentID, turn.ID})
	if err != nil {
		return j.storageError("read what the answer before rests on", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.footing = footing{before: all[turn.ParentID], stored: all[turn.ID]}
	j.footing.stand(resultsIn(history))
	return nil
}

// grounds are what the request that was made last holds of kept outputs, those of
// the turn itself first. Called with the lock held.
func (j *journal) grounds() []models.Ground {
	found := grounding{journal: j, at: j.askedAt, places: map[string]int{}}
	for _, m := range j.asked.Messages {
		if stored, ok := j.footing.results[m.ToolCallID]; ok && m.Role == models.RoleTool {
			found.result(stored, m)
		}
	}
	for _, g := range j.footing.before {
		at := found.of(g.OutputID, g.Tool, true)
		before := &found.grounds[at]
		if before.TotalBytes == 0 {
			before.TotalBytes, before.OmittedBytes, before.Complete, before.Running = g.TotalBytes, g.OmittedBytes, g.Complete, g.Running
			before.Title = g.Title
		}
		before.Take(g.Seen...)
		before.Take(g.Taken...)
	}
	return found.settled()
}

// grounding gathers the outputs of which a request shows something.
type grounding struct {
	*journal
	at      time.Time
	grounds []models.Ground
	places  map[string]int // among grounds, by the output's id
}

// of is the place of an output among the grounds.
func (g *grounding) of(outputID, tool string, earlier bool) int {
	at, ok := g.places[outputID]
	if !ok {
		at = len(g.grounds)
		g.places[outputID] = at
		g.grounds = append(g.grounds, models.Ground{OutputID: outputID, Tool: tool, Complete: true, Earlier: true})
	}
	g.grounds[at].Earlier = g.grounds[at].Earlier && earlier
	return at
}

// result notes what a message shows that was made of a stored result.
func (g *grounding) result(stored unsentResult, sent models.Message) {
	earlier := stored.message.TurnID != g.turn.ID
	call, result := g.told(stored)
	meta := result.Metadata
	left := contextwin.LeftOf(stored.message, sent)
	for _, n := range meta.Nested {
		if n.OutputID != "" {
			nested := &g.grounds[g.of(n.OutputID, n.Tool, earlier)]
			nested.Queried = true
			measure(nested, n.TotalBytes, n.Complete)
		}
	}
	g.soughtByScript(meta.Calls, earlier, models.Length(left) == int64(len(result.Content)))
	reads, remain := g.r.cfg.ReadsOf(call, result, g.at), g.r.cfg.ReadsLeft(call, result, left, g.at)
	switch {
	case meta.OutputID != "":
		own := &g.grounds[g.of(meta.OutputID, call.Tool, earlier)]
		measure(own, meta.TotalBytes, meta.Complete)
		own.Running = own.Running || meta.Background != ""
	case len(reads) == 0 && len(remain) == 0:
		own := &g.grounds[g.of(agent.ResultOutputID(call.ID), call.Tool, earlier)]
		length := int64(len(result.Content))
		measure(own, &length, models.Ptr(meta.Retention != models.RetentionFailed))
		own.See(left...)
		own.Take(models.Range{End: length})
	}
	for _, read := range reads {
		ground := &g.grounds[g.of(read.OutputID, call.Tool, earlier)]
		measure(ground, meta.PageTotal, meta.Complete)
		ground.Take(read.Range)
	}
	for _, read := range remain {
		ground := &g.grounds[g.of(read.OutputID, call.Tool, earlier)]
		ground.Searched = ground.Searched || read.Kind == models.ReadSearch
		ground.Queried = ground.Queried || read.Kind == models.ReadQuery
		ground.See(read.Range)
		if read.Sought != nil {
			ground.Seek(*read.Sought)
		}
	}
}

// soughtByScript notes what a script searched outputs for, where the request holds
// all of its result.
func (g *grounding) soughtByScript(calls []models.NestedCall, earlier, whole bool) {
	for _, made := range calls {
		if made.Sought == nil {
			continue
		}
		ground := &g.grounds[g.of(made.Sought.OutputID, made.Tool, earlier)]
		ground.Queried = true
		if whole {
			ground.Seek(made.Sought.Sought)
		}
	}
}

// measure takes over how long an output is and whether that is all. The store
// knows better where it keeps it; this is for a copy that is elsewhere.
func measure(g *models.Ground, total *int64, complete *bool) {
	if total != nil {
		g.TotalBytes = max(g.TotalBytes, *total)
	}
	if complete != nil {
		g.Complete = *complete
	}
}

// settled are the grounds with their sums: those of the turn itself first, and
// then the newest. Results that are whole and have no copy are none: there is
// nothing more of them to be read.
func (g *grounding) settled() []models.Ground {
	var own, earlier []models.Ground
	for _, ground := range g.grounds {
		ground = ground.Settled()
		_, stored := agent.CallOfOutputID(ground.OutputID)
		switch {
		case stored && ground.Whole():
		case ground.Earlier:
			earlier = append(earlier, ground)
		default:
			own = append(own, ground)
		}
	}
	slices.Reverse(earlier)
	all := append(own, earlier...)
	return all[:min(len(all), models.MaxGrounds)]
}

// proveGrounds adds to what a reply proves what the answer rests on, where that
// has changed, or grows meanwhile in the background. Called with the lock held.
func (j *journal) proveGrounds(proof *models.Proof) {
	grounds := j.grounds()
	grows := slices.ContainsFunc(grounds, func(g models.Ground) bool { return g.Running })
	if !grows && (len(grounds) == 0 && len(j.footing.stored) == 0 || reflect.DeepEqual(grounds, j.footing.stored)) {
		return
	}
	proof.Grounds, proof.SetGrounds = grounds, true
}
