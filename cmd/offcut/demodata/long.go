package demodata

import (
	"context"
	"fmt"
	"time"

	"offcut/models"
	"offcut/models/store"
)

// longTitle is the title of the long conversation.
const longTitle = "A very long conversation"

// addLong adds one conversation of so many messages at once, as an import does.
func addLong(ctx context.Context, db *store.Store, t *teller, o Options) error {
	var turns [][]models.Message
	at := t.day
	for left := o.Messages; left > 0; {
		turn := t.longTurn(len(turns)+1, left, &at)
		turns, left = append(turns, turn), left-len(turn)
	}
	sess := models.Session{ID: models.NewID(models.PrefixSession), OwnerID: o.Owner.ID, Title: longTitle, CreatedAt: t.day, UpdatedAt: at}
	return db.ImportSession(ctx, sess, turns, nil)
}

// longTurn is a question and its answer, each third time with a tool in between,
// in at most so many messages.
func (t *teller) longTurn(n, most int, at *time.Time) []models.Message {
	next := func(role models.Role, content string) models.Message {
		*at = at.Add(time.Duration(t.between(2, 40)) * time.Second)
		return models.Message{Role: role, Content: content, State: models.StateDone, CreatedAt: *at}
	}
	p := one(t, packages...)
	turn := []models.Message{next(models.RolePerson, fmt.Sprintf("Check %d: is %s still in order?", n, p))}
	if n%3 == 0 && most >= 4 {
		call := models.ToolCall{ID: models.NewID(models.PrefixCall), Name: "run_command", Arguments: args{"command": "go test ./" + p + "/..."}.String()}
		asks := next(models.RoleAssistant, "")
		asks.ToolCalls, asks.FinishReason = []models.ToolCall{call}, models.FinishToolCalls
		result := next(models.RoleTool, t.tests(t.between(4, 30), ""))
		result.ToolCallID = call.ID
		result.Metadata = &models.ResultMetadata{ExitCode: models.Ptr(0), ExecutionMS: models.Ptr(int64(t.between(80, 9000))), Retention: models.RetentionNotNeeded}
		turn = append(turn, asks, result)
	}
	if most > 1 {
		answer := next(models.RoleAssistant, fmt.Sprintf("Yes. All tests of `%s` pass, and nothing has changed since check %d.", p, max(n-1, 1)))
		answer.FinishReason = models.FinishStop
		turn = append(turn, answer)
	}
	return turn
}
