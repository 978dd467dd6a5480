package retain

import (
	"time"

	"offcut/agent"
)

// Keep says which ends of a long result a preview shows.
type Keep string

// The two ways. Both is a third of head and two thirds of tail.
const (
	KeepBoth Keep = "both"
	KeepHead Keep = "head"
)

// Config sets how results are shown and kept. Its zero value is the default.
// Budgets that are set lie within the bounds below.
type Config struct {
	// MaxResultTokens is the budget of every tool that has none of its own; 0:
	// the default of the tool.
	MaxResultTokens int
	// Message is the template of the marker in a preview, with {original},
	// {kept} and {output_id}; empty: DefaultMessage.
	Message string
	// Tools sets single tools, by name.
	Tools map[string]ToolConfig
	// Now is the clock of the copies; nil: that of the machine.
	Now func() time.Time
}

// now is the time in UTC, as copies have it.
func (c Config) now() time.Time {
	if c.Now == nil {
		return time.Now().UTC()
	}
	return c.Now().UTC()
}

// ToolConfig sets one tool. Of its two budgets the smaller holds; either may
// be more than the tool's default.
type ToolConfig struct {
	PreviewBytes    int  // 0: none
	MaxResultTokens int  // 0: none
	Keep            Keep // empty: KeepBoth
}

// The budgets that may be configured, in bytes and in tokens: enough to show
// something, and no more than the memory that a preview may take.
const (
	MinPreviewBytes  = 256
	MaxPreviewBytes  = 1 << 20
	MinPreviewTokens = MinPreviewBytes / agent.BytesPerToken
	MaxPreviewTokens = MaxPreviewBytes / agent.BytesPerToken
)
