package agent

import (
	"errors"
	"strings"

	"offcut/models"
)

// The results that the program writes in place of a tool, so that each call
// has one. They tell the model what is known of the call's effects.
const (
	started        = "The call was started and did not come to its end: "
	effectsUnknown = ". Its effects are unknown: it may or may not have done what was asked. Check before you run it again."
	notStarted     = models.NotStartedText
	noEffect       = ". It had no effect."
)

// InterruptedText is the body of the result that an open call gets when a
// server that was killed comes up again.
const InterruptedText = started + "the server was interrupted" + effectsUnknown

// ResumeText is the hidden message with which a turn goes on where the one
// before it broke off.
const ResumeText = "The previous answer was interrupted before it was finished. Go on from where it stopped, and do not repeat what was said. " +
	"What was running then may or may not have taken effect: check before you run it again."

// OpeningText stands before a history that a reply begins: providers refuse a
// conversation that no user has begun.
const OpeningText = "(The conversation begins with the assistant.)"

// UnfinishedThinking stands for the content of a reply that was cut while the
// model had only been thinking: providers refuse a message with neither text
// nor calls, and the thinking shall not be lost.
const UnfinishedThinking = "(The thinking was not finished when the output ended, and was kept by the system with this message: continue it, or ignore it.)"

// EffectsUnknown is the result of a call that was started and ended without one.
func EffectsUnknown(callID string, why error) ToolResult {
	return ErrorResult(callID, "%s", started+reason(why)+effectsUnknown)
}

// tellUnknown says under what a tool had returned before it was stopped that
// this is not its end: what it printed alone reads like a result.
func tellUnknown(result ToolResult, why error) ToolResult {
	if strings.HasPrefix(result.Content, started) {
		return result
	}
	result.Content = strings.TrimSuffix(result.Content, "\n") + "\n[" + started + reason(why) + effectsUnknown + "]"
	return result
}

// NotStarted is the result of a call that never ran.
func NotStarted(callID string, why error) ToolResult {
	return ErrorResult(callID, "%s", notStarted+reason(why)+noEffect)
}

// serverFailure is the result of a tool that failed inside the server.
func serverFailure(callID string) ToolResult {
	return ErrorResult(callID, "The tool failed for a reason inside the server, which was written to its log. Whether it had an effect is unknown.")
}

// reason puts the cause of an ending into words for the model. The text of
// other errors is not for it.
func reason(why error) string {
	var broke *ModelError
	switch {
	case errors.Is(why, errMoved):
		return "the user moved a command that was written before it to the background, and the turn ended there"
	case errors.Is(why, ErrStopped):
		return "the user stopped it"
	case errors.Is(why, ErrShutdown):
		return "the server was shut down"
	case errors.As(why, &broke):
		return "the reply that asked for it broke off"
	}
	return "it was interrupted"
}

// NotSetUp stands in the result of a command or script that could not be started
// by no fault of the model's.
const NotSetUp = "it could not be set up on the server"
