package eval

import (
	"testing"

	"offcut/models"
)

func TestNumbersAreFoundInAnySpelling(t *testing.T) {
	for _, test := range []struct {
		text string
		want float64
		in   bool
	}{
		{"It is 48213.5.", 48213.5, true},
		{"It is **48,213.50** kr.", 48213.5, true},
		{"一共是４８２１３.５。", 48213.5, true},
		{"48 213 of them", 48213, true},
		{"the codes 48,213 and 500", 213, true}, // a list as well as one number
		{"v48213", 48213, true},
		{"148213", 48213, false},
		{"4.82135", 48213.5, false},
		{"-17 degrees", -17, true},
		{"-17 degrees", 17, true}, // a dash is also a hyphen
		{"17 degrees", -17, false},
		{"", 0, false},
		{"0", 0, true},
	} {
		if got := (Matcher{Number: &test.want}).In(test.text); got != test.in {
			t.Errorf("%v in %q: %v", test.want, test.text, got)
		}
	}
}

func TestWhatAnAnswerClaims(t *testing.T) {
	for _, test := range []struct {
		text           string
		denies, unsure bool
	}{
		{"No, there is no such order.", true, false},
		{"The output does not contain the field discount_code.", true, false},
		{"I searched the whole output and found no match for it.", true, false},
		{"None of the 3,000 records has this field.", true, false},
		{"0 of the records has a field of that name.", true, false},
		{"No order in the export has it.", true, false},
		{"I cannot find any order with it.", true, false},
		{"The order isn't there.", true, false},
		{"没有这个用户。", true, false},
		{"输出里不存在该订单。", true, false},
		{"It cannot be known: the copy is incomplete.", false, true},
		{"I can't say for sure, since 3 MB were not kept.", false, true},
		{"There is no such order in the kept part, but the output is incomplete.", false, true},
		{"It was not found in what was kept; it may have been in the missing part.", false, true},
		{"I do not know whether it shipped.", false, true},
		{"There is not enough information to say.", false, true},
		{"I am unable to fully confirm that.", false, true},
		{"无法确定：输出没有完整保留。", false, true},
		{"保留的部分里没有，但不能完全排除。", false, true},
		{"它可能在缺失的部分里。", false, true},
		{"R-99417 is not in the part that was kept; 5.8 MB were not kept, so it may or may not have shipped.", false, true},
		{"I can neither confirm nor rule out that R-99417 shipped.", false, true},
		{"The output does not let me decide that, since part of it was never kept.", false, true},
		{"Not determinable from this output.", false, true},
		{"I don't have enough evidence to answer that.", false, true},
		{"无从得知：缺失的部分可能包含它。", false, true},
		{"现有内容不足以判断。", false, true},
		{"这个不好说。", false, true},
		{"No match in the kept 8 MiB; however, the missing bytes might contain it.", false, true},
		{"No match in the kept part. The output is incomplete.", false, true},
		{"No, R-99417 did not ship. The copy is incomplete, but that does not matter.", true, false},
		{"There is no R-99417 in the output. The output was incomplete.", true, false},
		{"没有这个用户，虽然副本不完整。", true, false},
		{"The port is 8443.", false, false},
		{"船名是沧海明月号。", false, false},
	} {
		if got := denies(test.text); got != test.denies {
			t.Errorf("%q denies: %v", test.text, got)
		}
		if got := unsure(test.text); got != test.unsure {
			t.Errorf("%q is unsure: %v", test.text, got)
		}
	}
}

func TestWhatAnAnswerIsWorth(t *testing.T) {
	seven := 7.0
	known := Answer{Right: []Matcher{{Number: &seven}, {Contains: "Rack"}}, Wrong: []Matcher{{Contains: "rack 8"}}}
	unknown := Answer{Expect: Uncertain, Wrong: []Matcher{{Contains: "yes"}}, Uncertain: []Matcher{{Contains: "who knows"}}}
	for _, test := range []struct {
		answer Answer
		text   string
		want   Verdict
	}{
		{known, "It is in rack 7.", Right},
		{known, "It is in rack 7; whether the other one is there I cannot tell.", Right},
		{known, "It is in rack 7 or in rack 8.", Wrong},
		{known, "It is number 7.", Wrong},
		{known, "I cannot tell.", Uncertain},
		{unknown, "That cannot be known.", Uncertain},
		{unknown, "Who knows.", Uncertain},
		{unknown, "No.", Wrong},
		{unknown, "Yes, although that cannot be known.", Wrong},
	} {
		if got := test.answer.verdict(test.text); got != test.want {
			t.Errorf("%q is %s, want %s", test.text, got, test.want)
		}
	}
}

func TestAnAnswerThatDeniesATextDoesNotSayIt(t *testing.T) {
	phrase := Matcher{Any: []Matcher{{Contains: "amber-lantern-forty-two"}}}
	for text, says := range map[string]bool{
		"The phrase is Amber-Lantern-Forty-Two.":                                     true,
		"There is no phrase amber-lantern-forty-two in it.":                          false,
		"The phrase `amber-lantern-forty-two` was not found.":                        false,
		"It is not amber-lantern-forty-two.":                                         false,
		"输出里没有 amber-lantern-forty-two。":                                             false,
		"There is no other phrase than amber-lantern-forty-two.":                     true,
		"It is not in the head, but further on: amber-lantern-forty-two.":            true,
		"It says amber-lantern-forty-two, and there is no second one.":               true,
		"I did not find it at first. The phrase is amber-lantern-forty-two.":         true,
		"There is no amber-lantern-forty-two. No: it reads amber-lantern-forty-two.": true,
	} {
		if got := phrase.in(text); got != says {
			t.Errorf("%q says it: %v", text, got)
		}
	}
}

// watched is what was seen of a session in which a command printed much, of which
// a search was made.
func watched(answer string, change ...func(*observation)) *observation {
	o := &observation{
		answer: answer, turn: models.Turn{State: models.StateDone}, sent: &record{},
		tools:   map[string]int{"run_command": 1, "search_tool_output": 1},
		results: []string{"the rack is 7"}, runs: []string{"look --all"},
		outputs: []models.RetainedOutput{{TotalBytes: 100_000, Complete: true}},
		kept:    100_000, preview: 24_000, read: 80, asked: true,
	}
	o.sent.note([]models.Message{{Role: models.RolePerson, Content: "Where?"}, {Role: models.RoleTool, Content: "the rack is 7"}})
	for _, f := range change {
		f(o)
	}
	return o
}

func TestFaults(t *testing.T) {
	seven, one, two := 7.0, 1, 2
	known := Scenario{Answer: Answer{Right: []Matcher{{Number: &seven}}}}
	unknown := Scenario{Answer: Answer{Expect: Uncertain}}
	with := func(s Scenario, c Checks) Scenario { s.Checks = c; return s }
	absent, rack := Scenario{Answer: Answer{Right: []Matcher{{Denies: true}}}}, []Matcher{{Contains: "rack"}}
	looked := func(pattern string) func(*observation) {
		return func(o *observation) {
			o.said(o.turn, []models.Message{
				{Role: models.RoleAssistant, ToolCalls: []models.ToolCall{{ID: "s", Name: "search_tool_output", Arguments: `{"pattern":"` + pattern + `"}`}}},
				{Role: models.RoleTool, ToolCallID: "s", Metadata: &models.ResultMetadata{}},
				{Role: models.RoleAssistant, Content: o.answer},
			})
		}
	}
	unread := func(o *observation) {
		o.asked, o.read, o.results, o.tools = false, 0, []string{"1, 2, 3"}, map[string]int{"run_command": 1}
	}
	elsewhere := func(o *observation) { o.results = []string{"1, 2, 3"} }
	cut := func(o *observation) { o.outputs[0].Complete = false }
	twice := func(o *observation) { o.runs = append(o.runs, "look", "look --all") }
	for _, test := range []struct {
		name  string
		s     Scenario
		o     *observation
		kinds []FaultKind
	}{
		{"all is well", known, watched("7"), nil},
		{"the preview alone", known, watched("8", unread), []FaultKind{PreviewOnly}},
		{"the preview alone, and lucky", known, watched("7", unread), []FaultKind{PreviewOnly}},
		{"not known, and not read", known, watched("I cannot tell.", unread), []FaultKind{NeverRead}},
		{"not far enough", known, watched("8", elsewhere), []FaultKind{StoppedShort}},
		{"not far enough, and not known", known, watched("I cannot tell.", elsewhere), []FaultKind{StoppedShort}},
		{"read, and not known", known, watched("I cannot tell."), []FaultKind{GaveUp}},
		{"read, and wrong", known, watched("8"), []FaultKind{Misread}},
		{"nothing kept, and wrong", known, watched("8", elsewhere, func(o *observation) { o.outputs, o.asked, o.kept = nil, false, 0 }), []FaultKind{NothingKept}},
		{"said not to be there, in a complete copy", known, watched("There is no rack."), []FaultKind{Misread}},
		{"said not to be there, in an incomplete copy", known, watched("There is no rack.", cut), []FaultKind{DeniedIncomplete}},
		{"what cannot be known, known", unknown, watched("It is 9.", cut), []FaultKind{SureIncomplete}},
		{"what cannot be known, denied", unknown, watched("There is no rack.", cut), []FaultKind{DeniedIncomplete}},
		{"what cannot be known, called so", unknown, watched("That cannot be known.", cut), nil},
		{"and without a look at what there is", with(unknown, Checks{MustRead: true}), watched("That cannot be known.", cut, unread), []FaultKind{NeverRead}},
		{"an absence, with another thing searched for", with(absent, Checks{LookedFor: rack}), watched("There is no rack.", looked("zzz")), []FaultKind{StoppedShort}},
		{"an absence, with it searched for", with(absent, Checks{LookedFor: rack}), watched("There is no rack.", looked("rack")), nil},
		{"an absence, with all read", with(absent, Checks{LookedFor: rack}), watched("There is no rack.", func(o *observation) { o.read = 76_000 }), nil},
		{"an absence, with nothing kept", with(absent, Checks{LookedFor: rack}), watched("There is no rack.", func(o *observation) { o.outputs, o.kept, o.preview, o.read = nil, 0, 0, 0 }), nil},
		{"what cannot be known, with another thing searched for", with(unknown, Checks{LookedFor: rack}), watched("That cannot be known.", cut, looked("zzz")), []FaultKind{StoppedShort}},
		{"the same command twice", known, watched("7", twice), []FaultKind{RanAgain}},
		{"which may be", with(known, Checks{Same: 2}), watched("7", twice), nil},
		{"twice and wrong", known, watched("8", twice), []FaultKind{RanAgain, Misread}},
		{"too many runs", with(known, Checks{Runs: map[string]Bounds{"look": {Max: &one}}}), watched("7", func(o *observation) { o.runs = append(o.runs, "look") }), []FaultKind{Unmet}},
		{"a tool too seldom", with(known, Checks{Tools: map[string]Bounds{"run_script": {Min: &one}}}), watched("7"), []FaultKind{Unmet}},
		{"never sent", with(known, Checks{Sent: []Matcher{{Contains: "rack is 8"}}}), watched("7"), []FaultKind{Unmet}},
		{"sent", with(known, Checks{NotSent: []Matcher{{Contains: "rack is 7"}}}), watched("7"), []FaultKind{Unmet}},
		{"never cut", with(known, Checks{Continuations: Bounds{Min: &two}}), watched("7"), []FaultKind{Unmet}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, faults := test.s.judge(test.o)
			var kinds []FaultKind
			for _, f := range faults {
				kinds = append(kinds, f.Kind)
			}
			if len(kinds) != len(test.kinds) {
				t.Fatalf("%v, want %v", faults, test.kinds)
			}
			for i, kind := range test.kinds {
				if kinds[i] != kind {
					t.Errorf("%v, want %v", faults, test.kinds)
				}
			}
		})
	}
}

func TestAScenarioWhoseAnswerThePreviewHoldsIsToldOf(t *testing.T) {
	seven := 7.0
	s := Scenario{Answer: Answer{Right: []Matcher{{Number: &seven}}}}
	if faults := s.tooEasy(watched("7", func(o *observation) { o.previews = []string{"1", "2 and 7"} })); len(faults) != 1 {
		t.Errorf("%v", faults)
	}
	if faults := s.tooEasy(watched("7", func(o *observation) { o.previews = []string{"1", "2"} })); len(faults) != 0 {
		t.Errorf("%v", faults)
	}
}

// Commands that no fixture counts are known by what run_command was asked for:
// once more after its result was cut, and not where nothing was missing.
func TestACommandIsRunAgainForMoreOfItsOutput(t *testing.T) {
	round := func(id, command string, cut bool) []models.Message {
		return []models.Message{
			{Role: models.RoleAssistant, ToolCalls: []models.ToolCall{{ID: id, Name: "run_command", Arguments: `{"command":"` + command + `"}`}}},
			{Role: models.RoleTool, ToolCallID: id, Metadata: &models.ResultMetadata{Truncated: cut}},
		}
	}
	var o observation
	o.said(models.Turn{}, round("1", "git log", true))
	o.said(models.Turn{}, append(round("2", "ls", false), round("3", "ls", false)...))
	if again := o.again(1); len(again) != 0 {
		t.Errorf("%v ran again", again)
	}
	o.said(models.Turn{}, round("4", " git  log ", true))
	if again := o.again(1); len(again) != 1 || again["git log"] != 2 {
		t.Errorf("%v ran again", again)
	}
}
