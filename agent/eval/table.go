package eval

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
)

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
	r.unsteady(&out)
	fmt.Fprintf(&out, "\n%d of %d passed with %s (sandbox: %s): %d tokens, %.1f s.\n",
		r.Passed(), len(r.Results), printable(r.Model), r.Sandbox, r.Usage().Tokens(), r.Took.Seconds())
	_, err := io.WriteString(w, out.String())
	return err
}

// unsteady names the scenarios that passed in some of their tries only.
func (r Report) unsteady(out *strings.Builder) {
	passed, tries := map[string]int{}, map[string]int{}
	for _, one := range r.Results {
		tries[one.Scenario]++
		if one.Passed {
			passed[one.Scenario]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(passed)) {
		if n := passed[name]; n < tries[name] {
			fmt.Fprintf(out, "\n%s passed in %d of %d tries.\n", name, n, tries[name])
		}
	}
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
	if r.Error != "" {
		line += ": " + printable(clip(r.Error, maxQuoted))
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
