package store

import (
	"context"

	"offcut/models"

	"gorm.io/gorm"
)

// NoImportedResult is the body of the result of a call that had none in the
// file that it came from: each call has one.
const NoImportedResult = "The result of this call is not known: the conversation was exported before it came."

// ImportSession adds a session with the messages of turns, in their order, and what
// their answers rest on, by the places of the turns. All
// of them get ids of their own. Turns are over: what was not when the session
// was exported is interrupted. A call without a result is given one that says
// so. What the owner's quota has no room for is ErrTooLarge.
func (s *Store) ImportSession(ctx context.Context, sess models.Session, turns [][]models.Message, rests map[int][]models.Ground) error {
	return s.build(ctx, sess, func(b *builder) error {
		parent := ""
		for i, messages := range turns {
			turn := importedTurn(sess, int64(i+1), parent, messages)
			grounds, err := groundRowsOf(turn.ID, rests[i])
			if err != nil {
				return err
			}
			if err := b.add(turn, importedMessages(turn, messages), grounds); err != nil {
				return err
			}
			parent = turn.ID
		}
		return nil
	}, func(*gorm.DB) error { return nil })
}

func importedTurn(sess models.Session, seq int64, parent string, messages []models.Message) turnRow {
	first, last := messages[0], messages[len(messages)-1]
	began, ended := micros(first.CreatedAt), micros(last.CreatedAt)
	return turnRow{
		ID: models.NewID(models.PrefixTurn), SessionID: sess.ID, OwnerID: sess.OwnerID, Seq: seq, ParentID: parent, Shown: true,
		State: string(over(last.State)), Created: began, Started: &began, Ended: &ended,
	}
}

// over is a state that is final.
func over(state models.State) models.State {
	if state.Final() {
		return state
	}
	return models.StateInterrupted
}

func importedMessages(turn turnRow, messages []models.Message) []models.Message {
	answered := map[string]bool{}
	for _, m := range messages {
		answered[m.ToolCallID] = true
	}
	var all []models.Message
	for _, m := range messages {
		m.State = over(m.State)
		all = append(all, m)
		for _, call := range m.ToolCalls {
			if answered[call.ID] {
				continue
			}
			all = append(all, models.Message{
				Role: models.RoleTool, Content: NoImportedResult, ToolCallID: call.ID, State: models.StateInterrupted,
				Metadata: &models.ResultMetadata{IsError: true}, CreatedAt: m.CreatedAt,
			})
		}
	}
	for i := range all {
		all[i].ID, all[i].SessionID, all[i].TurnID, all[i].Shown = models.NewID(models.PrefixMessage), turn.SessionID, turn.ID, true
		all[i].Seq = firstSeq(turn.Seq) + int64(i)
	}
	return all
}
