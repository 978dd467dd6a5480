package views

import "time"

// Chat is the page of one session, or of a new one.
type Chat struct {
	// SessionID is empty on the page of a new chat.
	SessionID string
	Title     string
	Pinned    bool
	Archived  bool
	// Later is the first message after those of the log, on a page that shows
	// the past: it has no live connection and no composer. Empty: the log ends
	// where the conversation does.
	Later string
	// Seq is the last live event that the page already holds; the browser asks
	// for what came after it.
	Seq int64
	// RunningTurn is the id of the turn that runs now; empty where none does.
	RunningTurn string
	// Grants run in the session without asking.
	Grants []Grant
	// Owner is the name of the session's owner.
	Owner  string
	Picker Picker
	// ForkedFrom is the session of which this one is a fork, where its owner
	// still has it.
	ForkedFrom string
	Sidebar    Sidebar
	Log        Log
	// Behind are the commands that run in the background.
	Behind Behind
	// Draft is text that could not be sent and is put back into the composer
	// of a page that is loaded without scripts.
	Draft string
	// Problem is a sentence about a message that was not taken.
	Problem string
}

// Goes says what a deletion of the session takes with it.
type Goes struct {
	Messages    int
	Outputs     int
	OutputBytes int64
}

// size is the bytes of the outputs; empty where there are none.
func (g Goes) size() string {
	if g.Outputs == 0 {
		return ""
	}
	return rounded(g.OutputBytes)
}

// Sidebar is the list of sessions.
type Sidebar struct {
	Groups []SessionGroup
	// More is the address (below the base path) of the next part of the list;
	// empty at its end.
	More string
	// Query is what the list was searched for.
	Query string
	// History: the list stands beside the history, which has a search of its
	// own.
	History bool
}

// SessionGroup is one headed part of the list.
type SessionGroup struct {
	Age   Age
	Items []SessionItem
}

// SessionItem is one session of the list.
type SessionItem struct {
	ID        string
	Title     string
	Pinned    bool
	Running   bool
	Current   bool
	UpdatedAt time.Time
}

// Age is the heading under which a session stands.
type Age string

// The headings, in the order of the list.
const (
	AgePinned    Age = "pinned"
	AgeToday     Age = "today"
	AgeYesterday Age = "yesterday"
	AgeWeek      Age = "week"
	AgeOlder     Age = "older"
	AgeMonth     Age = "month" // in the history: of a month that it names
)

// Log is a stretch of a conversation, oldest first.
type Log struct {
	SessionID string
	// Older is the cursor of the messages before these; empty where there are
	// none.
	Older   string
	Entries []Entry
	// Seq and RunningTurn go with a whole log that replaces the one on the
	// screen: the last live event that it holds, and the turn that runs now.
	Seq         int64
	RunningTurn string
	// Meter is as of the newest message; it is not known of an earlier stretch.
	Meter Meter
	// Behind goes with a whole log too.
	Behind Behind
}

// Entry is one thing said, or the mark after what was folded: exactly one of its
// fields is set.
type Entry struct {
	User   *UserMessage
	Answer *Answer
	Fold   *Fold
	Edit   *Edit
}

// UserMessage is what a person wrote.
type UserMessage struct {
	ID        string
	SessionID string
	TurnID    string
	Content   string
	// Bytes is how long it is in all where Content is only its beginning; else
	// 0.
	Bytes int64
	// Files are those that it came with.
	Files []FileChip
	// Unseen: there are pictures among them, and the model takes none.
	Unseen bool
	// State is a message's state: queued, done or stopped.
	State    string
	At       time.Time
	Versions *Versions // of the question; nil where it is the only one
}

// Answer is everything that came of one turn: one article on the screen,
// whatever number of replies, tool calls and continuations it took.
type Answer struct {
	TurnID string
	// State is the turn's state: running (also of one that awaits approval), done,
	// stopped, interrupted, error.
	State string
	At    time.Time
	Parts []Part
	// Earlier is the message before whose part there are others, of an answer of
	// which the parts are only the last; empty where they are all.
	Earlier string
	// Asks are the calls that wait for somebody.
	Asks []Ask
	End  TurnEnd
}

// Part is one reply of the model, with those that went on where it was cut, and
// the tools that it called.
type Part struct {
	SessionID string
	MessageID string
	// HTML is the rendered text: safe HTML, made by views/markdown. It stands for
	// the bytes From to Upto of the Markdown: of a long text it is only the end.
	HTML       string
	From, Upto int64
	// Tail is the plain text after HTML that is still being written.
	Tail      string
	Reasoning string
	// ReasoningBytes is how long it is in all where Reasoning is only its
	// beginning; else 0.
	ReasoningBytes int64
	Cards          []ToolCard
}

// TurnEnd is what stands under an answer: how it ended and by which model.
type TurnEnd struct {
	TurnID string
	// State is the turn's state; nothing is shown while it is running.
	State string
	// Error is a sentence for people; Code names it for programs.
	Error string
	Code  string
	At    time.Time
	// OpenCalls is how many tool calls had started when the turn was
	// interrupted; their effects are unknown.
	OpenCalls int
	Model     string
	Tokens    int64
	Cost      float64 // in US dollars; 0 where no price is configured
	// Said: there is text that can be copied.
	Said bool
	// Versions are those of the answer; nil where it is the only one.
	Versions *Versions
	// Continue: the answer broke off, and can go on from there.
	Continue bool
	// Silent: the last reply of an answer that is done says nothing.
	Silent bool
	Took   time.Duration
	// Dump is the file about a request that the provider refused, for admins.
	Dump DumpLink
	// Moved are the commands that were moved to the background, where the turn
	// ended.
	Moved []MovedNote
	// Retry is set while the turn waits to ask the model's server again.
	Retry *RetryNotice
	// Rests is what the answer rests on and was not read whole; nil: nothing.
	Rests *Rests
}

// MovedNote is a command that was moved to the background.
type MovedNote struct {
	SessionID string
	CallID    string
	// Subject is the command's first line.
	Subject string
	// OutputID is what it printed; empty where that is gone.
	OutputID string
	Running  bool
	Stopped  bool // by a person
}

// RetryNotice announces that the model's server is asked again.
type RetryNotice struct {
	TurnID  string
	Until   time.Time
	Attempt int
	Most    int
	Reason  string
}

// Login is the sign-in page.
type Login struct {
	Name string
	// BadLink: the sign-in link is unknown or was used up.
	BadLink bool
	// Wrong: the name or the password was; so many tries are left within the
	// window.
	Wrong     bool
	TriesLeft int
	Window    time.Duration
	// Wait is how long one is to wait where no try is left; without Wrong the
	// sign-in was not even looked at.
	Wait time.Duration
	// Next is the path to go to afterwards, as the browser asked for it.
	Next string
	// Languages are those to choose from.
	Languages []Language
}

// Failure is a page, or a sentence inside a page, that says what went wrong
// and what to do next.
type Failure struct {
	Status int
	// Code names the case; not_found, output_not_found and others have texts
	// of their own.
	Code string
	// Message is the sentence for people.
	Message string
	// Reference helps to find the error in the server's log.
	Reference string
	// SessionID, where it is known, gives the way back, and OfHistory that to
	// the page of all sessions.
	SessionID string
	OfHistory bool
	// Original is the session that holds what a fork does not.
	Original string
}
