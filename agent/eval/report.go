package eval

import (
	"encoding/json"
	"io"
	"time"

	"offcut/models"
)

// Report is the results of a run with what they were found with.
type Report struct {
	Version string        `json:"version"`
	Model   string        `json:"model"`
	Sandbox string        `json:"sandbox"` // how commands were confined
	Began   time.Time     `json:"began"`
	Took    time.Duration `json:"-"`
	Results []Result      `json:"results"`
}

// Formats are the forms in which a report is written.
type Format string

// The formats.
const (
	Table Format = "table"
	JSON  Format = "json"
	JUnit Format = "junit"
)

// Passed is how many of the results are as they should be.
func (r Report) Passed() int {
	n := 0
	for _, result := range r.Results {
		if result.Passed {
			n++
		}
	}
	return n
}

// Usage is that of all results.
func (r Report) Usage() models.Usage {
	var sum models.Usage
	for _, result := range r.Results {
		sum = sum.Add(result.Usage)
	}
	return sum
}

// Write writes the report in a format.
func (r Report) Write(w io.Writer, f Format) error {
	switch f {
	case JSON:
		return r.json(w)
	case JUnit:
		return r.junit(w)
	}
	return r.table(w)
}

func (r Report) json(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	type plain Report
	return encoder.Encode(struct {
		plain
		Seconds float64 `json:"seconds"`
		Total   int     `json:"total"`
		Passed  int     `json:"passed"`
	}{plain(r), r.Took.Seconds(), len(r.Results), r.Passed()})
}
