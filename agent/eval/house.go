package eval

import (
	"context"

	"offcut/agent"
	"offcut/models"
)

// House is the program with one session in a data folder of its own.
type House interface {
	// Workspace is the session's folder.
	Workspace() string
	// Ask sends a message and waits until its turn rests. The messages are those of
	// the turn, hidden ones among them, as they are stored. When ctx ends, the turn
	// is stopped.
	Ask(ctx context.Context, content string) (models.Turn, []models.Message, error)
	// Outputs are the kept outputs of the session, with what the model was shown of
	// them.
	Outputs(ctx context.Context) ([]models.RetainedOutput, error)
	// Reads is how the model came to see an output.
	Reads(ctx context.Context, outputID string) ([]models.OutputRead, error)
	Close() error
}

// Setup is what a scenario wants of its House.
type Setup struct {
	// Run names the data folder: the scenario, and which try it is.
	Run string
	// Title is that of the session.
	Title string
	// Around is put around the model that is configured.
	Around func(agent.Model) agent.Model
	// Tools are offered beside the program's own, and keep long results as those
	// do.
	Tools []agent.Tool
	// Settings narrow the model.
	Settings Settings
	// Hosts may be fetched from although they are not the public internet.
	Hosts []string
}
