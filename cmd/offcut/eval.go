package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"offcut/agent/approve"
	"offcut/agent/eval"
	"offcut/agent/retain"
	"offcut/agent/sandbox"
	"offcut/agent/tools"
	"offcut/cmd/offcut/config"
)

// scenarioFlags choose scenarios.
type scenarioFlags struct {
	Scenarios string   `help:"Folder with scenarios of your own, beside those of the program; one of the same name takes its place." placeholder:"DIR"`
	Only      []string `help:"Names of scenarios, with * for any part of one; may be given more than once." placeholder:"NAME"`
}

// chosen are the scenarios that the flags choose.
func (f scenarioFlags) chosen() ([]eval.Scenario, error) {
	all, err := eval.Embedded()
	if err != nil {
		return nil, err
	}
	if f.Scenarios != "" {
		own, err := eval.Folder(f.Scenarios)
		if err != nil {
			return nil, usageError{err}
		}
		all = eval.Merge(all, own)
	}
	if err := eval.Offered(all, offeredTools()); err != nil {
		return nil, usageError{err}
	}
	chosen, err := eval.Only(all, f.Only)
	if err != nil {
		return nil, usageError{err}
	}
	return chosen, nil
}

// offeredTools are the names of the tools that a scenario finds beside its own.
func offeredTools() []string {
	var names []string
	for _, t := range tools.All(tools.Options{Keeper: retain.NewKeeper(nil, retain.Config{})}) {
		names = append(names, t.Spec().Name)
	}
	return names
}

type evalList struct{ scenarioFlags }

// Run lists the scenarios.
func (c evalList) Run(t terminal) error {
	scenarios, err := c.chosen()
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "SCENARIO\tRIGHT ANSWER\tWHAT IT IS")
	for _, s := range scenarios {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", s.Name, s.Expects(), s.Title)
	}
	return table.Flush()
}

type evalRun struct {
	scenarioFlags
	Repeat   int           `default:"1" help:"How often each scenario is tried (1)." placeholder:"N"`
	Jobs     int           `default:"1" help:"How many run at a time (1)." placeholder:"N"`
	Timeout  time.Duration `default:"10m" help:"How long one try may take (10m)." placeholder:"TIME"`
	Format   eval.Format   `default:"table" enum:"table,json,junit" help:"table, json or junit." placeholder:"FORMAT"`
	Out      string        `help:"File for the report; the table is printed nevertheless." placeholder:"FILE"`
	Keep     string        `help:"Folder in which the sessions stay, each a data folder to serve; without it they are removed." placeholder:"DIR"`
	Rehearse bool          `help:"Play each scenario's own walkthrough in place of a model: so it is seen whether a scenario can be answered."`
}

// Run asks the scenarios and writes what came of it. It fails where one of them
// did not pass.
func (c evalRun) Run(ctx context.Context, cfg config.Config, t terminal) (err error) {
	scenarios, err := c.chosen()
	if err != nil {
		return err
	}
	if c.Repeat < 1 || c.Jobs < 1 || c.Timeout <= 0 {
		return usageError{errors.New("--repeat, --jobs and --timeout are at least 1")}
	}
	report := eval.Report{Version: version, Model: cfg.DefaultModel, Began: time.Now()}
	if report.Sandbox, err = confinement(cfg); err != nil {
		return err
	}
	if c.Rehearse {
		report.Model = "a rehearsal"
	}
	dir, remove, err := c.folder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	out, err := c.output(t.out)
	if err != nil {
		return err
	}
	if cfg.DefaultModel == config.DemoModel && !c.Rehearse {
		_, _ = fmt.Fprintln(t.err, "The demo model answers, which understands hardly any of the questions. Set OFFCUT_MODEL and OPENAI_BASE_URL, or --model and --base-url, to a model of your own.")
	}
	opener := evalOpener{cfg: cfg, dir: dir, keep: c.Keep != "", log: slog.New(slog.NewTextHandler(t.err, &slog.HandlerOptions{Level: slog.LevelError}))}
	results, stopped := eval.Run(ctx, scenarios, eval.Options{
		Open: opener.open, Rehearse: c.Rehearse, Repeat: c.Repeat, Jobs: c.Jobs, Timeout: c.Timeout,
		Done: func(r eval.Result) { _, _ = fmt.Fprintln(t.err, r.Line()) },
	})
	report.Results, report.Took = results, time.Since(report.Began)
	if stopped != nil {
		after := fmt.Sprintf("stopped after %d of %d tries", len(results), len(scenarios)*c.Repeat)
		switch {
		case errors.Is(stopped, eval.ErrUnreached):
			after += ": " + stopped.Error() + "; start it, or name another with --base-url"
		case errors.Is(stopped, eval.ErrUnanswered):
			after += ": " + stopped.Error()
		}
		stopped = errors.New(after)
	}
	return errors.Join(stopped, out(report), verdict(report))
}

// confinement is how commands will be confined. Where none would run, nothing is
// asked: each answer would be about that.
func confinement(cfg config.Config) (string, error) {
	mode, err := sandbox.ParseMode(cfg.Sandbox)
	if err != nil {
		return "", err
	}
	confined, err := sandbox.New(sandbox.Options{Mode: mode})
	if err != nil {
		return "", fmt.Errorf("sandbox: %w", err)
	}
	if (approve.Policy{Mode: approve.Never, Sandbox: mode, Confined: confined.Confined()}).Name() == "refused" {
		return "", errors.New("commands cannot be confined on this machine, and nobody is there to allow them; install bubblewrap, or set OFFCUT_SANDBOX=off to run them unconfined")
	}
	return confined.Kind(), nil
}

// folder is where the data folders go, and what removes it.
func (c evalRun) folder() (string, func() error, error) {
	if c.Keep != "" {
		dir, err := filepath.Abs(c.Keep)
		if err = errors.Join(err, os.MkdirAll(dir, 0o700)); err != nil {
			return "", nil, fmt.Errorf("the folder of the sessions (--keep): %w", err)
		}
		return dir, func() error { return nil }, nil
	}
	dir, err := os.MkdirTemp("", "offcut-eval-")
	return dir, func() error { return os.RemoveAll(dir) }, err
}

// output is what writes the report: to the file, and the table to out; or to out
// alone. The file is made first: hours later is too late to hear that it cannot be.
func (c evalRun) output(out io.Writer) (func(eval.Report) error, error) {
	if c.Out == "" {
		return func(report eval.Report) error { return report.Write(out, c.Format) }, nil
	}
	file, err := os.Create(c.Out)
	if err != nil {
		return nil, fmt.Errorf("the report (--out): %w", err)
	}
	return func(report eval.Report) error {
		return errors.Join(report.Write(file, c.Format), file.Close(), report.Write(out, eval.Table))
	}, nil
}

// verdict fails where a scenario did not pass.
func verdict(report eval.Report) error {
	if failed := len(report.Results) - report.Passed(); failed > 0 {
		return fmt.Errorf("%d of %d scenarios did not pass", failed, len(report.Results))
	}
	return nil
}
