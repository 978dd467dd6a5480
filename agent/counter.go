package agent

import (
	"fmt"
	"time"

	"offcut/models"
)

// ContinuationText is the hidden message that asks a model to go on after its
// reply hit the output-token limit. The wording is part of the product's
// contract.
const ContinuationText = "Output token limit hit. Resume directly — no apology, no recap of what you were doing. Pick up mid-thought if that is where the cut happened. Break remaining work into smaller pieces."

// MaxContinuationsInARow is how often in a row a cut reply without tool calls
// is continued: a reply that is cut once more ends the turn.
const MaxContinuationsInARow = 3

// Limits bound one turn. The zero value of a field is no bound: use
// DefaultLimits and change what differs.
type Limits struct {
	ModelCalls    int // requests to the model
	Continuations int // hidden messages, counted over the whole turn
	ParallelCalls int // tool calls of one reply that run at the same time; those with effects run alone
	// StopGrace is how long a stopped tool may take to hand over what it has.
	// Together with storing it a stop has to be over within a second.
	StopGrace time.Duration
}

// DefaultLimits are the limits of a server that was told nothing else.
func DefaultLimits() Limits {
	return Limits{ModelCalls: 100, Continuations: 25, ParallelCalls: 8, StopGrace: 800 * time.Millisecond}
}

// next is what a turn does after a step.
type next int

const (
	rest   next = iota // the agent is done
	call               // ask the model again, with the results
	resume             // ask the model again, with the hidden message
)

// counter counts the model calls and continuations of one turn.
type counter struct {
	limits Limits
	calls  int
	total  int // continuations of the turn
	inARow int // continuations since the last reply with tool calls
}

// countOf counts what the turn had done of a history before it was left.
func (l *Loop) countOf(history []models.Message) counter {
	c := counter{limits: l.Limits}
	for _, m := range history {
		switch {
		case m.TurnID != l.Turn.ID:
		case m.Role == models.RoleAssistant:
			c.calls++
		case m.Role == models.RolePerson && m.IsMeta && c.calls > 0: // before a reply it is what the turn came with
			c.total++
		}
	}
	return c
}

// modelCall counts a request that is about to be sent.
func (c *counter) modelCall() error {
	if c.limits.ModelCalls > 0 && c.calls >= c.limits.ModelCalls {
		return &TurnError{models.CodeTurnLimit, fmt.Sprintf("The answer was ended after %d requests to the model. Send a message to go on.", c.calls)}
	}
	c.calls++
	return nil
}

// after says what follows a step. A reply with tool calls sets the row to zero,
// and its own cut does not count towards it.
func (c *counter) after(reply models.Message) (next, error) {
	cut := reply.FinishReason == models.FinishLength
	switch tools := len(reply.ToolCalls) > 0; {
	case tools && !cut:
		c.inARow = 0
		return call, nil
	case tools:
		c.inARow = 0
	case !cut:
		return rest, nil
	case c.inARow == MaxContinuationsInARow:
		return rest, &TurnError{models.CodeOutputLimit, "The response repeatedly exceeded the output token limit. Try again, or ask for it in smaller pieces."}
	default:
		c.inARow++
	}
	if c.limits.Continuations > 0 && c.total >= c.limits.Continuations {
		return rest, &TurnError{models.CodeTurnLimit, fmt.Sprintf("The answer was ended after %d continuations: it was cut by the output token limit again and again. Send a message to go on.", c.total)}
	}
	c.total++
	return resume, nil
}
