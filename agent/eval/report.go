package eval

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

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

// table is for people: a line a try, and under it what the failed ones said.
func (r Report) table(w io.Writer) error {
	var out strings.Builder
	columns := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(columns, "SCENARIO\tRESULT\tANSWER\tFAULTS\tRAN AGAIN\tREAD\tKEPT\tTOKENS\tTIME")
	for _, one := range r.Results {
		_, _ = fmt.Fprintf(columns, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f s\n",
			one.label(), one.outcome(), one.Verdict, one.kinds(), yesNo(one.RanAgain),
			size(one.ReadBytes), size(one.KeptBytes), strconv.FormatInt(one.Usage.Tokens(), 10), one.Seconds)
	}
	_ = columns.Flush() // to memory: it does not fail
	for _, one := range r.Results {
		if !one.Passed {
			one.explain(&out)
		}
	}
	fmt.Fprintf(&out, "\n%d of %d passed with %s, commands confined by %s: %d tokens, %.1f s.\n",
		r.Passed(), len(r.Results), printable(r.Model), r.Sandbox, r.Usage().Tokens(), r.Took.Seconds())
	_, err := io.WriteString(w, out.String())
	return err
}

// maxQuoted is how many characters of an answer the table quotes.
const maxQuoted = 300

func (r Result) explain(out *strings.Builder) {
	fmt.Fprintf(out, "\n%s: %s\n", r.label(), r.Title)
	if r.Error != "" {
		fmt.Fprintf(out, "  error: %s\n", printable(clip(r.Error, maxQuoted)))
	}
	if r.Error == "" && r.Verdict != r.Expected {
		fmt.Fprintf(out, "  the answer is %s, and should be %s\n", r.Verdict, r.Expected)
	}
	for _, f := range r.Faults {
		fmt.Fprintf(out, "  %s: %s\n", f.Kind, printable(f.Detail))
	}
	if r.Answer != "" {
		fmt.Fprintf(out, "  it said: %s\n", printable(clip(r.Answer, maxQuoted)))
	}
}

// Line is the result on one line, for who watches a run.
func (r Result) Line() string {
	line := fmt.Sprintf("%s %s: %s", r.outcome(), r.label(), r.Verdict)
	if len(r.Faults) > 0 {
		line += ", " + r.kinds()
	}
	return fmt.Sprintf("%s (%.1f s)", line, r.Seconds)
}

// label names the try: of one that is tried once, only the scenario.
func (r Result) label() string {
	if r.Try == 1 {
		return r.Scenario
	}
	return fmt.Sprintf("%s (%d)", r.Scenario, r.Try)
}

func (r Result) outcome() string {
	if r.Passed {
		return "pass"
	}
	return "FAIL"
}

func (r Result) kinds() string {
	var kinds []string
	for _, f := range r.Faults {
		kinds = append(kinds, string(f.Kind))
	}
	if len(kinds) == 0 {
		return "-"
	}
	return strings.Join(kinds, ",")
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// printable is s without what could steer a terminal: models and tools wrote it.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, s)
}

// The form of JUnit's reports that continuous integration reads.
type (
	junitSuites struct {
		XMLName xml.Name   `xml:"testsuites"`
		Suite   junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class      string          `xml:"classname,attr"`
		Name       string          `xml:"name,attr"`
		Time       string          `xml:"time,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Failure    *junitProblem   `xml:"failure"`
		Error      *junitProblem   `xml:"error"`
		Out        string          `xml:"system-out,omitempty"`
	}
	junitProblem struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

func (r Report) junit(w io.Writer) error {
	suite := junitSuite{
		Name: "offcut eval", Tests: len(r.Results), Time: seconds(r.Took.Seconds()), Timestamp: r.Began.UTC().Format("2006-01-02T15:04:05"),
		Properties: []junitProperty{{"model", r.Model}, {"version", r.Version}, {"sandbox", r.Sandbox}},
	}
	for _, one := range r.Results {
		made := one.junit()
		if made.Failure != nil {
			suite.Failures++
		}
		if made.Error != nil {
			suite.Errors++
		}
		suite.Cases = append(suite.Cases, made)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(junitSuites{Suite: suite}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r Result) junit() junitCase {
	made := junitCase{
		Class: "offcut.eval", Name: r.label(), Time: seconds(r.Seconds), Out: r.Answer,
		Properties: []junitProperty{
			{"verdict", string(r.Verdict)},
			{"ran_again", strconv.FormatBool(r.RanAgain)},
			{"read_bytes", strconv.FormatInt(r.ReadBytes, 10)},
			{"kept_bytes", strconv.FormatInt(r.KeptBytes, 10)},
			{"tokens", strconv.FormatInt(r.Usage.Tokens(), 10)},
		},
	}
	switch {
	case r.Passed:
	case r.Error != "":
		made.Error = &junitProblem{Type: string(Failed), Message: r.Error}
	default:
		kind, text := "verdict", fmt.Sprintf("The answer is %s, and should be %s.", r.Verdict, r.Expected)
		if len(r.Faults) > 0 {
			kind = string(r.Faults[0].Kind)
		}
		for _, f := range r.Faults {
			text += "\n" + string(f.Kind) + ": " + f.Detail
		}
		made.Failure = &junitProblem{Type: kind, Message: strings.SplitN(text, "\n", 2)[0], Text: text}
	}
	return made
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', 3, 64) }
