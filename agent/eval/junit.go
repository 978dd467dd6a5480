package eval

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
)

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
