package models

import "strings"

// CallState is where a tool call stands, as its card shows it.
type CallState string

// The states of a tool call.
const (
	CallWaiting     CallState = "waiting" // stored, not started yet
	CallRunning     CallState = "running"
	CallBackground  CallState = "background"
	CallOK          CallState = "ok"
	CallError       CallState = "error"
	CallDenied      CallState = "denied"
	CallStopped     CallState = "stopped"
	CallInterrupted CallState = "interrupted"
)

// CallState is the state of the call that the tool message m answers. A
// command that failed is shown as an error although it is none for the model. Of
// one that went on in the background only its output knows how it ended.
func (m Message) CallState() CallState {
	switch {
	case m.State == StateStopped:
		return CallStopped
	case m.State == StateInterrupted:
		return CallInterrupted
	case m.Metadata != nil && m.Metadata.Background != "" && m.Metadata.Offset == nil:
		return CallBackground // of a call's own result, not of a page
	case m.Metadata != nil && m.Metadata.Approved != nil && !*m.Metadata.Approved:
		return CallDenied
	case m.Metadata != nil && m.Metadata.Failed():
		return CallError
	}
	return CallOK
}

// NotStartedText begins the result of a call that never ran.
const NotStartedText = "The call was not started: "

// NotStarted reports whether the tool message m answers a call that never ran,
// because the turn ended before: it had no effect. What a tool itself returned
// has a duration.
func (m Message) NotStarted() bool {
	ended := m.State == StateStopped || m.State == StateInterrupted
	ran := m.Metadata != nil && m.Metadata.ExecutionMS != nil
	return ended && !ran && strings.HasPrefix(m.Content, NotStartedText)
}

// Failed reports whether a person should see the result as a failure: the tool
// could not do what was asked, or its command ended badly. A page that was read
// tells how the command ended that printed it, which is no failure to read.
func (m ResultMetadata) Failed() bool {
	if m.Offset != nil {
		return m.IsError
	}
	return m.IsError || m.TimedOut || m.Signal != "" || (m.ExitCode != nil && *m.ExitCode != 0)
}
