package runner

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"offcut/agent"
	"offcut/agent/contextwin"
	"offcut/agent/events"
	"offcut/agent/prompt"
	"offcut/models"
)

// Config is what a runner works with. Store, Broker, Models and Workspace are
// needed; the rest may be left at its zero value.
type Config struct {
	Store  Store
	Broker *events.Broker
	// Models finds a model by the name that a session has; empty: the server's
	// default. Its error may be a *models.Error, whose sentence is shown.
	Models func(name string) (agent.Model, ModelInfo, error)
	Tools  []agent.Tool
	// MoreTools are offered after Tools, as they are when a turn begins; nil:
	// there are none. It may wait, within bounds of its own or until ctx ends.
	MoreTools func(ctx context.Context) []agent.Tool
	// MissingTool says of a tool that a turn does not have why, where that is
	// known, and else nothing; nil: it never is.
	MissingTool func(name string) string
	// Workspace gives the folder of a session on the server, and makes it where
	// it is not there.
	Workspace func(sessionID string) (string, error)
	// Prompt is what the instructions say of the server; its tools are filled
	// in here.
	Prompt prompt.Facts
	// Local adds what a workspace says of itself; nil: nothing.
	Local func(workspace string, facts prompt.Facts) prompt.Facts
	// Began is told of each turn that runs, or goes on after a restart. It gives
	// the context in which the turn runs, and what is told how the turn ended, or
	// that it is left waiting; nil: nobody is told.
	Began func(ctx context.Context, turn models.Turn) (context.Context, func(models.Turn))
	// Blocks renders one reply while it streams in; nil: nothing is rendered.
	Blocks func() Blocks
	// ReadsOf tells which bytes of kept outputs a result shows to the model;
	// nil: none are recorded.
	ReadsOf func(call agent.Call, result agent.ToolResult, at time.Time) []models.OutputRead
	// ReadsLeft is what of ReadsOf remains where the model is sent only these
	// stretches of the result's body; nil: nothing.
	ReadsLeft func(call agent.Call, result agent.ToolResult, left []models.Range, at time.Time) []models.OutputRead
	// Attached tells a model of the files that people sent in a session, in a
	// copy of the history; nil: it is told of none.
	Attached func(session models.Session, history []models.Message, model ModelInfo) []models.Message
	// Replies has each reply written down while it streams in; nil: a killed
	// program loses what came since the reply was last stored.
	Replies Replies
	// Dumps takes the requests that a provider refused; nil: nobody does.
	Dumps  Dumps
	Limits Limits
	Now    func() time.Time
	Log    *slog.Logger
}

// Limits bound what runs at a time, and pace what is written. A zero field
// takes the value of DefaultLimits.
type Limits struct {
	Turn agent.Limits
	// TurnsPerUser are the queued and running turns that one user may have:
	// one more is refused.
	TurnsPerUser int
	// Turns are those that run at the same time: others wait in their queues.
	// One that waits for somebody does not count.
	Turns int
	// BackgroundPerUser are the commands that one user may have in the
	// background at a time.
	BackgroundPerUser int
	// Coalesce is the least time between two events with text of one reply.
	Coalesce time.Duration
	// SaveEvery and SaveBytes pace the storing of a reply that streams in: what
	// whoever reads the database has not got yet. See Config.Replies for what a
	// killed server loses.
	SaveEvery time.Duration
	SaveBytes int
	// ShutdownGrace is how long running turns may come to their end before a
	// shutdown interrupts them.
	ShutdownGrace time.Duration
}

// DefaultLimits are the limits of a server that was told nothing else.
func DefaultLimits() Limits {
	return Limits{
		Turn:              agent.DefaultLimits(),
		TurnsPerUser:      8,
		Turns:             64,
		BackgroundPerUser: 8,
		Coalesce:          50 * time.Millisecond,
		SaveEvery:         time.Second,
		SaveBytes:         4 << 10,
		ShutdownGrace:     3 * time.Second,
	}
}

// ModelInfo is what the runner has to know of a model.
type ModelInfo struct {
	// Name is the provider's name of the model.
	Name            string
	ContextTokens   int  // 0: not known
	MaxOutputTokens int  // 0: the provider's default
	Images          bool // it takes pictures
	// OmitsReasoning: its client leaves the reasoning of earlier replies out of
	// what it sends.
	OmitsReasoning bool
	// Pruning says when old results are shortened in what the model is sent; a
	// zero field takes the value of contextwin.DefaultPruning.
	Pruning contextwin.Pruning
	// Settings is the model's configuration for people, by the names of its
	// keys and without secrets.
	Settings map[string]any
}

func (m ModelInfo) limits() contextwin.Limits {
	return contextwin.Limits{ContextTokens: m.ContextTokens, MaxOutputTokens: m.MaxOutputTokens, Pruning: m.Pruning}
}

// Blocks renders a text that grows: finished blocks become HTML once, and what
// is still open stays plain. One value serves one reply, with those that go on
// where it was cut off.
type Blocks interface {
	// Push takes more text. Where blocks were finished by it, sealed is true,
	// html is their HTML, and rest is the text after them.
	Push(text string) (html, rest string, sealed bool)
	// Finish is the HTML of the rest.
	Finish() (html string)
}

// Replies writes down the replies that stream in. It does not fail: a reply goes
// on without it.
type Replies interface {
	// Add takes more of a reply, before that is shown.
	Add(messageID, text, reasoning string)
	// Remove lets go of a reply that is stored whole.
	Remove(messageID string)
}

// unwritten are replies that nobody writes down.
type unwritten struct{}

func (unwritten) Add(string, string, string) {}
func (unwritten) Remove(string)              {}

// Store is what the runner needs of the database.
type Store interface {
	AnySession(ctx context.Context, id string) (models.Session, error)
	TitleSession(ctx context.Context, id, title string) (bool, error)

	Enqueue(ctx context.Context, t models.NewTurn) (models.Turn, models.Message, bool, error)
	// SentTurn is the turn that was sent before with the same client id.
	SentTurn(ctx context.Context, t models.NewTurn) (models.Turn, error)
	AnyTurn(ctx context.Context, id string) (models.Turn, error)
	// ShowTurn makes a turn part of the conversation; false where it was.
	ShowTurn(ctx context.Context, owner, id string) (models.Turn, bool, error)
	// NextTurn is the parked turn of a session, or else the one queued longest.
	NextTurn(ctx context.Context, sessionID string) (models.Turn, error)
	// UnrestedSessions have such a turn.
	UnrestedSessions(ctx context.Context) ([]string, error)
	UnfinishedTurns(ctx context.Context, owner string) (int, error)
	StartTurn(ctx context.Context, id string, now time.Time) (models.Turn, error)
	SaveTurn(ctx context.Context, t models.Turn) error
	FinishTurn(ctx context.Context, t models.Turn) error
	RemoveQueuedTurn(ctx context.Context, id string) error

	AppendMessage(ctx context.Context, m models.Message) (models.Message, error)
	SaveMessage(ctx context.Context, m models.Message) error
	// AppendReply also notes what the reply proves of its request.
	AppendReply(ctx context.Context, reply models.Message, proof models.Proof) (models.Message, error)
	// Sent is what earlier requests of a session have proved to hold of its
	// results, by their calls; see models.Proof. Below models.SentWhole: nothing.
	Sent(ctx context.Context, sessionID string) (map[string]int64, error)
	// Grounds are what the answers of turns rest on, by the turns.
	Grounds(ctx context.Context, sessionID string, turnIDs []string) (map[string][]models.Ground, error)
	AppendResults(ctx context.Context, results []models.Message) error
	// NoteNested stores how a call stands that a running script makes.
	NoteNested(ctx context.Context, turn models.Turn, parentID string, made models.NestedCall, now time.Time) error
	Messages(ctx context.Context, q models.MessageQuery) ([]models.Message, string, error)
	// Transcript is what may be sent for a turn, and Rest what of it comes behind
	// an earlier one.
	Transcript(ctx context.Context, sessionID, turnID string) ([]models.Message, error)
	Rest(ctx context.Context, sessionID, behind, turnID string) ([]models.Message, error)

	// Ask stores that a call waits for somebody, unless it was asked about
	// before or its tool is allowed for the session.
	Ask(ctx context.Context, a models.Approval) (asked models.Approval, granted bool, err error)
	Waiting(ctx context.Context, turnID string) ([]models.Approval, error)
	// Decide stores a decision and returns the calls that it decides.
	Decide(ctx context.Context, v models.Verdict, audit ...models.AuditEntry) ([]models.Approval, error)
	Lapse(ctx context.Context, sessionID, callID string, now time.Time) error
	CallIDs(ctx context.Context, sessionID string, ids []string) (map[string]bool, error)
	// BackgroundOutputs are the outputs of a session's commands in the background
	// that run, or ended at that time or later.
	BackgroundOutputs(ctx context.Context, sessionID string, since time.Time) ([]models.RetainedOutput, error)

	// LastSummary covers most of what was said before a turn.
	LastSummary(ctx context.Context, sessionID, turnID string) (models.Summary, error)
	SaveSummary(ctx context.Context, s models.Summary) error
	// Prunings are the results that are sent shortened, by their calls, and how
	// many characters of each stay at each end.
	Prunings(ctx context.Context, sessionID string) (map[string]int, error)
	SavePrunings(ctx context.Context, sessionID string, keep map[string]int) error
	// Window is what was learned of a model's window in a session; nothing, where
	// nothing was.
	Window(ctx context.Context, sessionID, model string) (models.Window, error)
	SaveWindow(ctx context.Context, w models.Window) error
	// SaveRequest stores what a model is sent and returns its number in the
	// session; the first same places hold what the request before it holds there.
	SaveRequest(ctx context.Context, r models.SentRequest, same int, parts []models.SentPart) (number int64, err error)
	SaveRequestTokens(ctx context.Context, sessionID string, number, tokens int64) error
	Outputs(ctx context.Context, sessionID string, p models.Page) ([]models.RetainedOutput, string, error)
	// OutputIDs are the ids of all outputs that a session has, or had.
	OutputIDs(ctx context.Context, sessionID string) (map[string]bool, error)
}

// orDefaults fills what was left out.
func (c Config) orDefaults() Config {
	d := DefaultLimits()
	l := &c.Limits
	l.Turn.ModelCalls = cmp.Or(l.Turn.ModelCalls, d.Turn.ModelCalls)
	l.Turn.Continuations = cmp.Or(l.Turn.Continuations, d.Turn.Continuations)
	l.Turn.ParallelCalls = cmp.Or(l.Turn.ParallelCalls, d.Turn.ParallelCalls)
	l.Turn.StopGrace = cmp.Or(l.Turn.StopGrace, d.Turn.StopGrace)
	l.TurnsPerUser = cmp.Or(l.TurnsPerUser, d.TurnsPerUser)
	l.Turns = cmp.Or(l.Turns, d.Turns)
	l.BackgroundPerUser = cmp.Or(l.BackgroundPerUser, d.BackgroundPerUser)
	l.Coalesce = cmp.Or(l.Coalesce, d.Coalesce)
	l.SaveEvery = cmp.Or(l.SaveEvery, d.SaveEvery)
	l.SaveBytes = cmp.Or(l.SaveBytes, d.SaveBytes)
	l.ShutdownGrace = cmp.Or(l.ShutdownGrace, d.ShutdownGrace)
	if c.Blocks == nil {
		c.Blocks = func() Blocks { return &plain{} }
	}
	if c.Began == nil {
		c.Began = func(ctx context.Context, _ models.Turn) (context.Context, func(models.Turn)) {
			return ctx, func(models.Turn) {}
		}
	}
	if c.ReadsOf == nil {
		c.ReadsOf = func(agent.Call, agent.ToolResult, time.Time) []models.OutputRead { return nil }
	}
	if c.ReadsLeft == nil {
		c.ReadsLeft = func(agent.Call, agent.ToolResult, []models.Range, time.Time) []models.OutputRead { return nil }
	}
	if c.Replies == nil {
		c.Replies = unwritten{}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}
