package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"offcut/cmd/offcut/config"
)

// terminal is where a command reads and writes.
type terminal struct {
	in  *os.File
	out io.Writer
	err io.Writer
}

// commands is the command line. Each command has a Run method with what it
// needs among run's bindings.
type commands struct {
	config.Flags

	Serve serveCommand `cmd:"" default:"withargs" help:"Serve the chat. This is the default."`
	User  struct {
		Add     userAdd     `cmd:"" help:"Add a user."`
		List    userList    `cmd:"" help:"List the users."`
		Passwd  userPasswd  `cmd:"" help:"Set a user's password and sign them out everywhere."`
		Disable userDisable `cmd:"" help:"Let a user in no longer. Nothing of theirs is deleted."`
	} `cmd:"" help:"Look after users."`
	Token struct {
		Create tokenCreate `cmd:"" help:"Make an API token and print it."`
	} `cmd:"" help:"Look after API tokens."`
	Eval struct {
		Run  evalRun  `cmd:"" default:"withargs" help:"Ask a model questions whose answers lie past what it is shown at once. This is the default."`
		List evalList `cmd:"" help:"List the scenarios."`
	} `cmd:"" help:"Find out how well a model works with long results. Ends with 0 where all scenarios passed, 1 where one did not, 2 where one is written wrongly. Its flags: offcut eval run --help."`
	Backup   backup         `cmd:"" help:"Copy the database, and with a name that ends with .tar.gz the workspaces too, into a new file."`
	DemoData demoData       `cmd:"" name:"demo-data" help:"Fill an empty data folder with made-up conversations, for demonstrations."`
	Version  versionCommand `cmd:"" help:"Print the version."`
}

// The exit statuses: sysexits' EX_USAGE tells a wrong command line from a
// command that failed.
const (
	exitFailed = 1
	exitUsage  = 2
)

// usageError is an error of what the command was given: it ends with exitUsage.
type usageError struct{ error }

// exited is thrown by the parser once it has printed its help.
type exited int

// run is the program without the process around it: it returns the status.
func run(ctx context.Context, args, environ []string, term terminal) (status int) {
	defer func() {
		if code, ok := recover().(exited); ok {
			status = int(code)
		}
	}()
	var cli commands
	parser, err := kong.New(&cli,
		kong.Name("offcut"),
		kong.Description("A chat with an agent that runs tools, and loses nothing of what they return. Settings also come from the environment and from a file; flags beat both."),
		kong.Writers(term.out, term.err),
		kong.Exit(func(code int) { panic(exited(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		panic(err) // the tags above are wrong: every test that runs anything sees it
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		complain(term, err)
		return exitUsage
	}
	cfg, err := config.Load(cli.Flags, environ)
	if err != nil {
		complain(term, err)
		return exitUsage
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	if err := parsed.Run(cfg, term, newLog(term.err)); err != nil {
		complain(term, err)
		if errors.As(err, new(usageError)) {
			return exitUsage
		}
		return exitFailed
	}
	return 0
}

// complain writes each line of an error as one of its own.
func complain(term terminal, err error) {
	for line := range strings.Lines(err.Error()) {
		_, _ = fmt.Fprintf(term.err, "offcut: %s\n", strings.TrimRight(line, "\n"))
	}
}

// newLog writes structured lines. What is logged names ids, counts and
// durations, never secrets or what somebody wrote.
func newLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, nil))
}

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(term terminal) error {
	_, err := fmt.Fprintln(term.out, "offcut", version)
	return err
}
