package runner

import (
	"context"
	"slices"

	"offcut/agent"
	"offcut/agent/events"
	"offcut/models"
)

// unsentResult is a stored result of which no reply has proved yet that the
// model was sent it.
type unsentResult struct {
	replyID string // the message that made the call
	call    models.ToolCall
	message models.Message
}

// unsentIn finds the unsent results of a history: those after its last reply.
// What a turn leaves there that was stopped, failed or was cut off by a crash,
// the next turn's first request holds.
func unsentIn(history []models.Message) []unsentResult {
	for i, m := range slices.Backward(history) {
		if m.Role == models.RoleAssistant {
			return resultsIn(history[i:])
		}
	}
	return nil
}

// resultsIn are all results of a history.
func resultsIn(history []models.Message) []unsentResult {
	var last models.Message
	var results []unsentResult
	for _, m := range history {
		switch m.Role {
		case models.RoleAssistant:
			last = m
		case models.RoleTool:
			i := slices.IndexFunc(last.ToolCalls, func(c models.ToolCall) bool { return c.ID == m.ToolCallID })
			if i >= 0 {
				results = append(results, unsentResult{last.ID, last.ToolCalls[i], m})
			}
		}
	}
	return results
}

// appendReply adds a reply to the turn, whole or as it begins. That any of it
// came proves that its request arrived: with it is noted what the unsent
// results show of kept outputs, and their cards are told of anew.
func (j *journal) appendReply(ctx context.Context, reply models.Message) (models.Message, error) {
	j.mu.Lock()
	sent, proof := j.unsent, models.Proof{Sent: j.transit.proof()}
	j.proveGrounds(&proof)
	j.mu.Unlock()
	proof.Reads = j.reads(sent)
	reply, err := j.r.cfg.Store.AppendReply(ctx, reply, proof)
	if err != nil {
		return reply, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.unsent = nil
	j.transit.prove()
	if proof.SetGrounds {
		j.footing.stored = proof.Grounds
	}
	for _, s := range sent {
		j.publish(events.Event{Kind: events.KindCall, MessageID: s.replyID, CallID: s.call.ID, CallState: string(s.message.CallState())})
	}
	return reply, nil
}

// reads are what results show of kept outputs to a model that reads them now.
func (j *journal) reads(sent []unsentResult) []models.OutputRead {
	var reads []models.OutputRead
	now := j.r.cfg.Now()
	for _, s := range sent {
		call, result := j.told(s)
		reads = append(reads, j.r.cfg.ReadsOf(call, result, now)...)
	}
	return reads
}

// told is a stored result as its tool returned it, and its call.
func (j *journal) told(s unsentResult) (agent.Call, agent.ToolResult) {
	call := agent.Call{
		ID: s.call.ID, SessionID: s.message.SessionID, OwnerID: j.turn.OwnerID, TurnID: s.message.TurnID,
		Tool: s.call.Name, Arguments: []byte(s.call.Arguments),
	}
	result := agent.ToolResult{ToolCallID: s.call.ID, Content: s.message.Content}
	if s.message.Metadata != nil {
		result.IsError, result.Metadata = s.message.Metadata.IsError, *s.message.Metadata
	}
	return call, result
}
