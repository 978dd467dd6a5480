package tools

import (
	"context"
	"time"

	"offcut/agent"
	"offcut/agent/approve"
	"offcut/agent/fetch"
	"offcut/agent/retain"
	"offcut/agent/sandbox"
	"offcut/agent/script"
	"offcut/agent/skills"
)

// Options are what the tools work with.
type Options struct {
	Keeper  *retain.Keeper
	Reader  *retain.Reader
	Querier Querier
	// Fetcher reads pages of the web.
	Fetcher *fetch.Fetcher
	Sandbox *sandbox.Sandbox
	// Policy says which calls somebody has to allow.
	Policy approve.Policy
	// Folders can be reached beside the workspace, by their own absolute path.
	Folders []string
	// Skills are told of and loaded; their folders can be read and not written.
	Skills *skills.Catalogue
	// Sensitive are folders that no path may lead into, such as the data
	// folder; the workspace of a call may lie in one.
	Sensitive []string
	// Room is how many more bytes an owner may store; nil: any number. It is
	// asked before each write of a file and before a command, and about once a
	// second while one runs.
	Room func(ctx context.Context, ownerID string) (int64, error)
	// Written is told that a command of the owner ended, and may have written;
	// nil: nobody asks.
	Written func(ownerID string)
	Command CommandOptions
	// Script bounds scripts.
	Script script.Limits
	// ScriptPlaces bound the scripts at a time; zero: as the machine's memory does.
	ScriptPlaces agent.PlaceLimits
}

// CommandOptions set run_command. A zero is the default.
type CommandOptions struct {
	Timeout    time.Duration // where the model names none; 120 s
	MaxTimeout time.Duration // the longest that it may name; an hour
	Network    bool          // commands may use the network
}

// All are the tools that a model is offered, in the order in which it is told
// of them. Each keeps what its preview does not show, and asks where the policy
// wants it.
func All(o Options) []agent.Tool {
	f := newFolders(o)
	offered := []agent.Tool{
		newRunCommand(o),
		newReadFile(f),
		newWriteFile(f),
		newEditFile(f),
		newListFiles(f),
		newSearchFiles(f),
		newFetchURL(o.Fetcher),
		newLoadSkill(o.Skills),
		newReadToolOutput(o.Reader),
		newSearchToolOutput(o.Reader),
		newQueryToolOutput(o.Querier),
		newRunScript(o),
	}
	for i, t := range offered {
		offered[i] = approve.Wrap(o.Keeper.Wrap(t), o.Policy)
	}
	return offered
}
