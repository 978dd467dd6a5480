package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"offcut/agent"
	"offcut/models"
)

// Options are how scenarios are run.
type Options struct {
	// Open opens the program for one try.
	Open func(ctx context.Context, s Setup) (House, error)
	// Rehearse plays each scenario's walkthrough in place of a model.
	Rehearse bool
	Repeat   int           // how often each is tried; 0: once
	Jobs     int           // how many run at a time; 0: one
	Timeout  time.Duration // of one try; 0: DefaultTimeout
	// Done is told of each try as it ends, by one goroutine at a time; nil: nobody
	// is.
	Done func(Result)
}

// DefaultTimeout is how long one try may take.
const DefaultTimeout = 10 * time.Minute

// Result is one try of one scenario.
type Result struct {
	Scenario string  `json:"scenario"`
	Title    string  `json:"title"`
	Try      int     `json:"try"`
	Verdict  Verdict `json:"verdict"`
	Expected Verdict `json:"expected"`
	Passed   bool    `json:"passed"`
	Faults   []Fault `json:"faults"`
	// RanAgain: a command ran more than once for the same output.
	RanAgain bool `json:"ran_again"`
	// Runs are those of the fixture's commands, with their arguments.
	Runs  []string       `json:"runs"`
	Calls map[string]int `json:"calls"`
	// KeptBytes are those of all kept copies, PreviewBytes those that were shown of
	// them at once, and ReadBytes those that were read later.
	KeptBytes     int64        `json:"kept_bytes"`
	PreviewBytes  int64        `json:"preview_bytes"`
	ReadBytes     int64        `json:"read_bytes"`
	Usage         models.Usage `json:"usage"`
	Continuations int          `json:"continuations"`
	Retries       int          `json:"retries"`
	Seconds       float64      `json:"seconds"`
	Answer        string       `json:"answer"`
	// Error is why there is no answer; empty: there is one.
	Error string `json:"error,omitempty"`
}

// Run runs all scenarios, and returns their results in the order of the scenarios.
// When ctx ends, it returns those that have come to an end, with ctx's error; and
// with ErrUnreached or ErrUnanswered where the model gave no answer in several in a
// row.
func Run(ctx context.Context, scenarios []Scenario, o Options) ([]Result, error) {
	repeat := max(1, o.Repeat)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	shared := &line{}
	results := make([]Result, len(scenarios)*repeat)
	ended := make(chan int, len(results))
	told := make(chan struct{})
	go func() {
		defer close(told)
		for i := range ended {
			if o.Done != nil {
				o.Done(results[i])
			}
		}
	}()
	var group errgroup.Group
	group.SetLimit(max(1, o.Jobs))
	for i := range results {
		group.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			seen := &observation{sent: &record{line: shared}}
			if r := o.try(ctx, scenarios[i/repeat], i%repeat+1, seen); ctx.Err() == nil {
				results[i] = r
				ended <- i
			}
			if failed := seen.sent.failure(); failed != nil {
				if err := shared.unanswered(failed); err != nil {
					cancel(err)
				}
			}
			return nil
		})
	}
	_ = group.Wait() // none returns an error
	close(ended)
	<-told
	if ctx.Err() == nil {
		return results, nil
	}
	whole := []Result{}
	for _, r := range results {
		if r.Scenario != "" {
			whole = append(whole, r)
		}
	}
	return whole, context.Cause(ctx)
}

// try runs a scenario once. What goes wrong with the program is the result's
// error.
func (o Options) try(ctx context.Context, s Scenario, n int, seen *observation) Result {
	began := time.Now()
	limit := cmp.Or(o.Timeout, DefaultTimeout)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r := Result{Scenario: s.Name, Title: s.Title, Try: n, Expected: s.Answer.expects(), Faults: []Fault{}, Runs: []string{}, Calls: map[string]int{}}
	err := o.session(limited, s, n, seen)
	r.Seconds = time.Since(began).Seconds()
	r.observed(seen)
	switch {
	case ctx.Err() == nil && limited.Err() != nil:
		r.Verdict, r.Error = Failed, fmt.Sprintf("it took more than %s, the time limit of a scenario", limit)
		if why := seen.sent.wait(); why != "" {
			r.Error += ", and waited for the model: " + why
		}
	case seen.unfit != "":
		r.Verdict, r.Error = Failed, seen.unfit
	case err != nil:
		r.Verdict, r.Error = Failed, err.Error()
	default:
		var faults []Fault
		r.Verdict, faults = s.judge(seen)
		r.Faults = append(r.Faults, faults...)
		if o.Rehearse {
			r.Faults = append(r.Faults, s.tooEasy(seen)...)
		}
		if r.Verdict == Failed {
			r.Error = failure(seen.turn)
		}
	}
	r.Passed = r.Verdict == r.Expected && len(r.Faults) == 0
	return r
}

func (r *Result) observed(o *observation) {
	r.Runs = append(r.Runs, o.runs...)
	for tool, n := range o.tools {
		r.Calls[tool] = n
	}
	r.RanAgain = len(o.again(1)) > 0
	r.KeptBytes, r.PreviewBytes, r.ReadBytes = o.kept, o.preview, o.read
	r.Usage, r.Continuations, r.Retries, r.Answer = o.usage, o.turn.Continuations, o.turn.Retries, o.answer
}

// session asks the scenario's questions in a fresh session, and takes down what
// happens.
func (o Options) session(ctx context.Context, s Scenario, n int, seen *observation) (err error) {
	site, closeSite, err := s.Fixture.serve()
	if err != nil {
		return err
	}
	defer closeSite()
	setup, err := o.setup(s, n, site, seen)
	if err != nil {
		return err
	}
	house, err := o.Open(ctx, setup)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, house.Close()) }()
	if err := s.Fixture.lay(house.Workspace()); err != nil {
		return err
	}
	for _, text := range append(s.Before[:len(s.Before):len(s.Before)], s.Question) {
		content, err := filled(text, asked{Site: site})
		if err != nil {
			return fmt.Errorf("question: %w", err)
		}
		turn, messages, err := house.Ask(ctx, content)
		if err != nil {
			return err
		}
		seen.said(turn, messages)
		if turn.State != models.StateDone {
			break
		}
	}
	return seen.looked(ctx, house)
}

func (o Options) setup(s Scenario, n int, site string, seen *observation) (Setup, error) {
	tools, err := s.Fixture.tools()
	if err != nil {
		return Setup{}, err
	}
	setup := Setup{
		Run: fmt.Sprintf("%s-%d", s.Name, n), Title: s.Title, Tools: tools,
		Settings: s.Settings,
		Around: func(model agent.Model) agent.Model {
			if o.Rehearse {
				model = &rehearsal{steps: s.Walkthrough, site: site}
			}
			return seen.sent.around(model)
		},
	}
	if site != "" {
		setup.Hosts = []string{siteHost}
	}
	return setup, nil
}
