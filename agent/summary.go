package agent

// The words by which a model, and a script that plays one, knows a summary. Both
// begin a text.
const (
	// SummaryTask begins the instructions of a request for a summary.
	SummaryTask = "# Summary of a conversation"
	// SummaryHead begins the user's message that holds a summary.
	SummaryHead = "[The older part of this conversation does not fit any more. The system has put this summary in its place; " +
		"the user still sees the messages themselves, and did not write this.]"
)
