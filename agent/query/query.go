// Package query answers jq filters over kept JSON results. The filter and the
// text are both hostile, and a filter can compute anything: it is evaluated
// apart, in a child process with bounds on time, memory and output.
package query

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"offcut/agent"
	"offcut/agent/apart"
	"offcut/models"
)

// The bounds of one query. A kept copy of 8 MiB takes up to some 400 MiB as
// values, and most filters less than a second.
const (
	MaxFilterBytes = 4 << 10
	maxTime        = 10 * time.Second // of computing
	maxWait        = 3 * maxTime      // on a machine that is busy
	maxMemory      = 768 << 20
	// maxAnswer bounds the values: as much as can be kept of them.
	maxAnswer = 8 << 20
)

// places bound the queries at a time, of one user and of all.
var places = agent.PlaceLimits{What: "queries", PerUser: 1, All: 3, Patience: maxTime}

// Texts reads kept copies.
type Texts interface {
	// Text is a copy and what can be paged of it.
	Text(ctx context.Context, sessionID, outputID string) (models.RetainedOutput, io.Reader, error)
}

// Querier answers filters over the copies of one store.
type Querier struct {
	texts   Texts
	limits  apart.Limits
	running *agent.Places
}

// New makes a Querier.
func New(texts Texts) *Querier {
	return &Querier{texts: texts, limits: apart.Limits{Time: maxTime, Wait: maxWait, Memory: maxMemory, Output: maxAnswer}, running: agent.NewPlaces(places)}
}

// Query applies a filter to each JSON value of a copy, in order, and returns
// what it gives, one JSON value per line. Numbers that the filter does not
// change are written as they were; the members of objects come in the order of
// their names.
//
// What the copy or the filter is at fault for is models.ErrInvalid: its details
// hold the byte offset and the line of the copy, or the byte offset in the
// filter, where it broke. Where too many queries run already it is
// models.ErrLimited.
func (q *Querier) Query(ctx context.Context, asker, sessionID, outputID, filter string) ([]byte, error) {
	o, text, err := q.texts.Text(ctx, sessionID, outputID)
	if err != nil {
		return nil, err
	}
	if err := checkFilter(filter); err != nil {
		return nil, err
	}
	if err := checkCopy(o, text); err != nil {
		return nil, err
	}
	leave, err := q.running.Enter(ctx, asker)
	if err != nil {
		return nil, err
	}
	defer leave()
	line, err := json.Marshal(task{Filter: filter, Headed: o.Tool == headedTool})
	if err != nil {
		return nil, fmt.Errorf("write down a filter: %w", err)
	}
	answer, err := evaluation.Run(ctx, io.MultiReader(bytes.NewReader(append(line, '\n')), text), q.limits)
	if err != nil {
		return nil, q.told(err)
	}
	return answer, nil
}

// told is an error of the evaluation as the one who asked is to read it.
func (q *Querier) told(err error) error {
	var refused apart.Refused
	var f fault
	switch {
	case errors.As(err, &refused) && json.Unmarshal([]byte(refused), &f) == nil:
		return f.told()
	case errors.Is(err, apart.ErrTime):
		return models.Errorf(models.ErrInvalid, "query_too_slow", "the query was given up: it may compute for %s, and take %s where the server is busy; ask for less, or for single fields", q.limits.Time, q.limits.Wait)
	case errors.Is(err, apart.ErrMemory):
		return models.Errorf(models.ErrInvalid, "query_too_large", "the query took more than %d MiB of memory, or went too deep; ask for less at a time", q.limits.Memory>>20)
	case errors.Is(err, apart.ErrOutput):
		return models.Errorf(models.ErrInvalid, "query_too_large", "the filter gives more than %d MiB; ask for less, such as single fields or a part of a list", q.limits.Output>>20)
	}
	return err
}

func checkFilter(filter string) error {
	switch {
	case filter == "":
		return models.Errorf(models.ErrInvalid, "empty_filter", "the filter is empty; the filter . gives everything")
	case len(filter) > MaxFilterBytes:
		return models.Errorf(models.ErrInvalid, "filter_too_long", "a filter has at most %d bytes; this one has %d", MaxFilterBytes, len(filter))
	}
	return nil
}

// checkCopy refuses what cannot be queried as a whole: an answer about a part
// would read like one about everything.
func checkCopy(o models.RetainedOutput, text io.Reader) error {
	switch {
	case o.Running:
		return models.Errorf(models.ErrInvalid, "output_running", "the command that prints this output still runs; query it when it has ended")
	case o.Binary:
		return models.Errorf(models.ErrInvalid, "not_json", "this output is binary and not JSON: it has %d bytes", o.RawBytes)
	case o.Complete:
		return nil
	case len(o.Gaps) == 0:
		return models.Errorf(models.ErrInvalid, "output_incomplete",
			"the kept copy is not all that the tool returned: it ends at byte %d, where its tool was cut off. A filter over a part could mislead; read or search what was kept", o.TotalBytes).
			With("offset", o.TotalBytes)
	}
	gap := o.Gaps[0]
	before, err := io.ReadAll(io.LimitReader(text, gap.At))
	if err != nil {
		return fmt.Errorf("read output %q up to its gap: %w", o.ID, err)
	}
	line := int64(bytes.Count(before, []byte("\n"))) + 1
	return models.Errorf(models.ErrInvalid, "output_incomplete",
		"the kept copy is not all that the tool returned: it breaks at byte %d, in line %d, where %d bytes are missing. A filter over a part could mislead; read or search what was kept, or ask the tool for less", gap.At, line, gap.Omitted).
		With("offset", gap.At).With("line", line)
}

// A fault is why a query gave no answer, as the child tells it.
type fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	// Where it broke; nil where that is nowhere: in the copy, or in the filter.
	Offset       *int64 `json:"offset,omitempty"`
	Line         *int64 `json:"line,omitempty"`
	FilterOffset *int64 `json:"filter_offset,omitempty"`
}

// Error is the fault as one line of JSON, in which it leaves the child.
func (f fault) Error() string {
	line, err := json.Marshal(f)
	if err != nil {
		return f.Message
	}
	return string(line)
}

func (f fault) told() error {
	told := models.Errorf(models.ErrInvalid, f.Code, "%s", f.Message)
	for name, n := range map[string]*int64{"offset": f.Offset, "line": f.Line, "filter_offset": f.FilterOffset} {
		if n != nil {
			told = told.With(name, *n)
		}
	}
	return told
}
