package views

import (
	"context"
	"strconv"
	"strings"
)

// Versions leads between the versions of a question, or of an answer.
type Versions struct {
	At, Of     int    // counted from 1
	Prev, Next string // the turns to show; empty at an end
	// Elsewhere are the other versions with which the conversation went on: what
	// followed them is not shown here.
	Elsewhere []int
}

// elsewhere says to which versions belongs what one might miss here.
func (v Versions) elsewhere(ctx context.Context) string {
	numbers := make([]string, len(v.Elsewhere))
	for i, n := range v.Elsewhere {
		numbers[i] = strconv.Itoa(n)
	}
	return t(ctx, "versions.elsewhere", "n", len(numbers), "numbers", strings.Join(numbers, ", "))
}

// Edit is a message whose text is being changed.
type Edit struct {
	SessionID string
	MessageID string
	Content   string
	Problem   string // why it was not taken
}

func (v Edit) path() string { return "/s/" + v.SessionID + "/messages/" + v.MessageID + "/edit" }
