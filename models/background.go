package models

// Background says, in the metadata of a result, what its command had to do with
// the background: of the call's own result how it came there, and of a page of
// its output what has become of it since.
type Background string

// The values. The first two stand in a call's result, which never changes; the
// others in what is read of the output.
const (
	BackgroundStarted     Background = "started" // the call asked for it
	BackgroundMoved       Background = "moved"   // a person moved the running command there
	BackgroundRunning     Background = "running"
	BackgroundEnded       Background = "ended" // by itself, its time or a limit
	BackgroundStopped     Background = "stopped"
	BackgroundInterrupted Background = "interrupted" // with the server
)

// CommandEnd is how a command ended that had gone on in the background: what
// the result of its call could not say any more.
type CommandEnd struct {
	// State is done where it ended by itself, its time or a limit, and else
	// stopped or interrupted.
	State    State  `json:"state"`
	ExitCode *int   `json:"exit_code,omitempty"`
	Signal   string `json:"signal,omitempty"`
	TimedOut bool   `json:"timed_out,omitempty"`
	// Limit is a sentence about the limit for which it was ended.
	Limit string `json:"limit,omitempty"`
}

// CallState is the state in which the command's card ends.
func (e CommandEnd) CallState() CallState {
	switch {
	case e.State == StateStopped:
		return CallStopped
	case e.State == StateInterrupted:
		return CallInterrupted
	case e.TimedOut || e.Signal != "" || e.Limit != "" || (e.ExitCode != nil && *e.ExitCode != 0):
		return CallError
	}
	return CallOK
}

// BackgroundState says what has become of a command that went on in the background;
// empty for the output of anything else.
func (o RetainedOutput) BackgroundState() Background {
	switch {
	case !o.Background:
		return ""
	case o.Running:
		return BackgroundRunning
	case o.End == nil || o.End.State == StateInterrupted:
		return BackgroundInterrupted
	case o.End.State == StateStopped:
		return BackgroundStopped
	}
	return BackgroundEnded
}
