package eval

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"offcut/models"
)

// Verdict is what an answer is.
type Verdict string

// The verdicts. Uncertain is an answer that says honestly that it cannot know;
// Failed is a turn without an answer.
const (
	Right     Verdict = "right"
	Wrong     Verdict = "wrong"
	Uncertain Verdict = "uncertain"
	Failed    Verdict = "error"
)

// FaultKind names what was done badly.
type FaultKind string

// The faults, in the order in which they are told.
const (
	// RanAgain: a command ran again with the same arguments, for more of its
	// output.
	RanAgain FaultKind = "ran-again"
	// DeniedIncomplete: it was said that something is not there, as if that were
	// known, and what was kept is not all that there was.
	DeniedIncomplete FaultKind = "denied-on-incomplete"
	// SureIncomplete: something else was said as if it were known, where the
	// missing part decides.
	SureIncomplete FaultKind = "sure-on-incomplete"
	// NoTool: it was answered without a look at anything.
	NoTool FaultKind = "no-tool"
	// PreviewOnly: it was answered from a preview alone, although what decides was
	// kept beside it.
	PreviewOnly FaultKind = "preview-only"
	// NeverRead: nothing that was kept was read, and the answer says that it does
	// not know.
	NeverRead FaultKind = "never-read"
	// NothingKept: what decides was in no result, and there was nothing kept in
	// which to look for it.
	NothingKept FaultKind = "nothing-kept"
	// StoppedShort: some of what was kept was read, and not what decides.
	StoppedShort FaultKind = "stopped-short"
	// GaveUp: what decides was read, and the answer says that it does not know.
	GaveUp FaultKind = "gave-up"
	// Misread: what decides was read, and the answer is wrong.
	Misread FaultKind = "misread"
	// Unmet: something that the scenario checks beside the answer does not hold.
	Unmet FaultKind = "check"
)

// Fault is something that was done badly.
type Fault struct {
	Kind FaultKind `json:"kind"`
	// Detail is a sentence for people.
	Detail string `json:"detail"`
}

// verdict is what an answer is worth by its words alone.
func (a Answer) verdict(answer string) Verdict {
	honest := unsure(answer) || anyIn(a.Uncertain, answer)
	says := func(m Matcher) bool { return m.in(answer) }
	lacks := slices.ContainsFunc(a.Right, func(m Matcher) bool { return !says(m) })
	switch {
	case slices.ContainsFunc(a.Wrong, says):
		return Wrong
	case a.expects() == Right && !lacks:
		return Right
	case honest:
		return Uncertain
	}
	return Wrong
}

// judge is what a session is worth: the verdict, and all that was done badly.
func (s Scenario) judge(o *observation) (Verdict, []Fault) {
	if o.turn.State != models.StateDone {
		return Failed, nil
	}
	verdict := s.Answer.verdict(o.answer)
	faults := s.repeated(o)
	if fault := s.reading(o, verdict); fault.Kind != "" {
		faults = append(faults, fault)
	}
	return verdict, append(faults, s.unmet(o)...)
}

func (s Scenario) repeated(o *observation) []Fault {
	var faults []Fault
	again := o.again(max(1, s.Checks.Same))
	for _, command := range slices.Sorted(maps.Keys(again)) {
		faults = append(faults, Fault{RanAgain, fmt.Sprintf("%s ran %d times.", clip(command, 80), again[command])})
	}
	return faults
}

// reading is what was done badly about what was kept; none: the zero Fault.
func (s Scenario) reading(o *observation, verdict Verdict) Fault {
	good := verdict == s.Answer.expects()
	seen := o.shown(s.evidence())
	kept := len(o.outputs) > 0
	switch {
	case !good && o.incomplete() && denies(o.answer):
		return Fault{DeniedIncomplete, "It was said not to be there, and what was kept is not all that there was."}
	case !good && s.Answer.expects() == Uncertain && len(o.tools) > 0:
		return Fault{SureIncomplete, "It was answered as if it could be known."}
	case len(o.tools) == 0:
		return Fault{NoTool, "No tool was called."}
	case kept && !o.asked && (s.Checks.MustRead || len(s.Checks.LookedFor) > 0) && good,
		kept && !o.asked && !good && verdict == Uncertain:
		return Fault{NeverRead, fmt.Sprintf("Nothing of the %d kept bytes was read beside the preview.", o.kept)}
	case kept && !o.asked && (!good || !seen):
		return Fault{PreviewOnly, fmt.Sprintf("It was answered from %d of %d kept bytes, the preview.", o.preview, o.kept)}
	case kept && good && !o.lookedFor(s.Checks.LookedFor):
		return Fault{StoppedShort, "What was kept was neither read whole nor searched for what the question is about."}
	case !seen && !kept:
		return Fault{NothingKept, "What the answer rests on was in no result, and nothing was kept beside them."}
	case !seen:
		return Fault{StoppedShort, "What the answer rests on was in nothing that was read."}
	case good:
		return Fault{}
	case verdict == Uncertain:
		return Fault{GaveUp, "What the answer rests on was read, and the answer does not know it."}
	}
	return Fault{Misread, "What the answer rests on was read, and the answer says something else."}
}

// unmet are the checks that do not hold.
func (s Scenario) unmet(o *observation) []Fault {
	var faults []Fault
	say := func(format string, args ...any) { faults = append(faults, Fault{Unmet, fmt.Sprintf(format, args...)}) }
	for _, m := range s.Checks.Sent {
		if !o.sent.sent(m) {
			say("The model was never sent %s.", m)
		}
	}
	for _, m := range s.Checks.NotSent {
		if o.sent.sent(m) {
			say("The model was sent %s.", m)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Checks.Runs)) {
		if n := o.runsOf(name); !s.Checks.Runs[name].hold(n) {
			say("%s ran %s.", name, times(n))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Checks.Tools)) {
		if n := o.tools[name]; !s.Checks.Tools[name].hold(n) {
			say("%s was called %s.", name, times(n))
		}
	}
	if n := o.turn.Continuations; !s.Checks.Continuations.hold(n) {
		say("The answer went on %s after the output limit.", times(n))
	}
	return faults
}

// tooEasy: some preview alone holds what decides, so that the scenario asks nothing
// past the boundary. A rehearsal says so.
func (s Scenario) tooEasy(o *observation) []Fault {
	evidence := s.evidence()
	if len(evidence) == 0 {
		return nil
	}
	for _, preview := range o.previews {
		if _, lacks := missing(evidence, preview); !lacks {
			return []Fault{{Unmet, "A preview holds what decides: make it stand further from both ends of the output."}}
		}
	}
	return nil
}

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// clip is s on one line, with at most that many characters.
func clip(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return s
}

// failure is why a turn has no answer.
func failure(turn models.Turn) string {
	if turn.State == models.StateAwaitingApproval {
		return "a call waits for somebody to allow it"
	}
	return cmp.Or(turn.Error, "the turn ended as "+string(turn.State))
}
