package tools

import (
	"context"
	_ "embed"
	"strings"
	"time"

	"offcut/agent"
	"offcut/agent/retain"
	"offcut/agent/sandbox"
)

//go:embed run_command.md
var runCommandDescription string

const (
	// defaultTimeout and defaultMaxTimeout bound a command where the
	// configuration says nothing.
	defaultTimeout    = 120 * time.Second
	defaultMaxTimeout = time.Hour
	// maxTitle bounds how much of a command names its kept output, in
	// characters.
	maxTitle = 200
)

type runCommandArgs struct {
	Command string `json:"command" jsonschema:"the command, as given to sh -c"`
	Timeout int64  `json:"timeout_s,omitempty" jsonschema:"end the command after so many seconds; one in the background only where this is given"`
	// Background: see the description.
	Background bool `json:"background,omitempty" jsonschema:"do not wait for the command: return at once, and let it run on"`
}

type runCommand struct {
	keeper  *retain.Keeper
	sandbox *sandbox.Sandbox
	network bool
	room    room
	written func(ownerID string)
}

func newRunCommand(o Options) agent.Tool {
	t := runCommand{keeper: o.Keeper, sandbox: o.Sandbox, network: o.Command.Network, room: o.Room, written: o.Written}
	if t.written == nil {
		t.written = func(string) {}
	}
	usual, most := o.Command.Timeout, o.Command.MaxTimeout
	if usual == 0 {
		usual = defaultTimeout
	}
	if most == 0 {
		most = max(defaultMaxTimeout, usual)
	}
	return newTyped(agent.ToolSpec{
		Name: "run_command", Description: describeCommands(o.Command.Network), HasEffects: true, UnsafeWhenCut: true, Movable: true, Deed: agent.DeedCommand,
	}, t.run,
		within("timeout_s", 1, most.Seconds()), standard("timeout_s", int64(min(usual, most).Seconds())), standard("background", false))
}

// describeCommands is what the model is told of run_command.
func describeCommands(network bool) string {
	said := "there is no network"
	if network {
		said = "the network can be used"
	}
	return strings.ReplaceAll(runCommandDescription, "{network}", said)
}

func (t runCommand) run(ctx context.Context, call agent.Call, args runCommandArgs) (agent.ToolResult, error) {
	switch {
	case strings.TrimSpace(args.Command) == "":
		return agent.ToolResult{}, refusef("The command is empty.")
	case strings.ContainsRune(args.Command, 0):
		return agent.ToolResult{}, refusef("The command holds a NUL character, which no command can.")
	case len(args.Command) > sandbox.MaxCommandBytes:
		return agent.ToolResult{}, refusef("The command has %d bytes; at most %d are possible. Write a script with write_file and run that.", len(args.Command), sandbox.MaxCommandBytes)
	}
	if err := t.room.refuseCommand(ctx, call.OwnerID); err != nil {
		return agent.ToolResult{}, err
	}

	if args.Background {
		return t.startInBackground(ctx, call, args)
	}
	c := t.prepare(ctx, call, args.Command, time.Duration(args.Timeout)*time.Second)
	t.launch(c, args.Command)
	return c.wait(ctx)
}

// titleOf names a command for people: its first line, bounded.
func titleOf(command string) string {
	line, _, more := strings.Cut(strings.TrimSpace(command), "\n")
	line = clean(line)
	if runes := []rune(line); len(runes) > maxTitle {
		line, more = string(runes[:maxTitle]), true
	}
	if more {
		line += " …"
	}
	return line
}
