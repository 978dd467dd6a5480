package main_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// ground is an output that an answer rests on.
type ground struct {
	OutputID   string     `json:"output_id"`
	Tool       string     `json:"tool"`
	Title      string     `json:"title"`
	Total      int64      `json:"total_bytes"`
	Omitted    int64      `json:"omitted_bytes"`
	Complete   bool       `json:"complete"`
	Seen       [][2]int64 `json:"seen"`
	SeenBytes  int64      `json:"seen_bytes"`
	Taken      [][2]int64 `json:"taken"`
	TakenBytes int64      `json:"taken_bytes"`
	Searched   bool       `json:"searched"`
	Queried    bool       `json:"queried"`
	Earlier    bool       `json:"earlier"`
}

func (s *server) restsOn(turn string) []ground {
	s.t.Helper()
	var t struct {
		RestsOn []ground `json:"rests_on"`
	}
	s.must("GET", "/turns/"+turn, nil, &t)
	return t.RestsOn
}

// restsOnOne is the only output that an answer rests on.
func (s *server) restsOnOne(turn string) ground {
	s.t.Helper()
	grounds := s.restsOn(turn)
	if len(grounds) != 1 {
		s.t.Fatalf("the answer rests on %+v, not on one output", grounds)
	}
	return grounds[0]
}

// restLine is the line under the last answer of a session, as its page has it;
// empty where there is none.
func (s *server) restLine(session string) string {
	s.t.Helper()
	page := s.signedIn("/s/" + session)
	answer := page[strings.LastIndex(page, `data-role="assistant"`):]
	_, line, found := strings.Cut(answer, `data-testid="answer-coverage">`)
	if !found {
		return ""
	}
	line, _, _ = strings.Cut(line, "</footer>")
	return line
}

// readsOn reads the copy of the first result on from an offset to its end.
func readsOn(t *testing.T, from int) answerer {
	return func(r request) reply {
		results := r.results()
		meta, _ := results[0].result(t)
		page, _ := results[len(results)-1].result(t)
		next, paged := page["nextOffset"]
		switch {
		case !paged:
			next = from
		case page["hasMore"] == false:
			return says("All of it was read.")
		}
		return calls(call("read_tool_output", args{"output_id": meta["output_id"], "offset": next}))
	}
}

// The first numbers are a preview and no more; then all of it is read; then
// pruning takes all of it away, and a page of it is read again.
func TestAnAnswerSaysWhatItHasNotRead(t *testing.T) {
	p := newProvider(t)
	p.on("print them", runs("seq 1 6000"), says("The last is 6000."))
	p.onFunc("read them", readsOn(t, 8000))
	p.on("and now", says("As I said."))
	p.onFunc("once more", func(r request) reply {
		meta, _ := r.results()[0].result(t)
		return calls(call("read_tool_output", args{"output_id": meta["output_id"], "offset": 100, "limit": 50}))
	}, func(request) reply { return says("That is it.") })
	s := start(t, p, configuredWith(t, "contextPruning: {mode: cache-ttl, ttl: 1s, softTrimRatio: 0.01, hardClearRatio: 0.02, keepLastAssistants: 1}\n"))
	session := s.newSession()
	const printed = 28893

	first := s.say(session, "print them")
	kept := s.output(session).ID
	g := s.restsOnOne(first.ID)
	if g.OutputID != kept || g.Tool != "run_command" || g.Title != "seq 1 6000" || g.Total != printed || !g.Complete || g.Earlier ||
		g.SeenBytes < 24000 || g.SeenBytes > 24576 || len(g.Seen) != 2 || g.TakenBytes != 0 {
		t.Errorf("after the preview: %+v", g)
	}
	line := s.restLine(session)
	for _, want := range []string{"This answer rests on", "28,893</b> bytes of <code>seq 1 6000</code>", "/s/" + session + "/out/" + kept + "?offset=", "Read the rest"} {
		if !strings.Contains(line, want) {
			t.Errorf("the line lacks %q: %s", want, line)
		}
	}

	second := s.say(session, "read them")
	if g := s.restsOnOne(second.ID); g.SeenBytes != printed || g.Earlier {
		t.Errorf("after all of it was read: %+v", g)
	}
	if line := s.restLine(session); line != "" {
		t.Errorf("after all of it was read there is the line %s", line)
	}

	time.Sleep(1100 * time.Millisecond) // the provider's cache expires
	third := s.say(session, "and now")
	if g := s.restsOnOne(third.ID); g.OutputID != kept || g.SeenBytes+g.TakenBytes != printed || g.TakenBytes < 20000 || !g.Earlier {
		t.Errorf("after it was pruned: %+v", g)
	}
	if line := s.restLine(session); !strings.Contains(line, "From an earlier turn") || !strings.Contains(line, "bytes that it had read were taken out") {
		t.Errorf("after it was pruned there is the line %q", line)
	}

	fourth := s.say(session, "once more")
	g = s.restsOnOne(fourth.ID)
	if g.Earlier || g.SeenBytes < 50 || g.SeenBytes+g.TakenBytes != printed || g.Seen[0][0] > 100 {
		t.Errorf("after a page of it was read again: %+v", g)
	}

	// All of it is there after a kill, and a fork has it without the output.
	s.kill()
	s.launch()
	if g := s.restsOnOne(first.ID); g.Total != printed || len(g.Seen) != 2 {
		t.Errorf("after a restart: %+v", g)
	}
	_, _, file := s.raw(adminToken, "GET", "/api/v1/sessions/"+session+"/export?format=md", nil)
	if !strings.Contains(string(file), "*The answer rests on 24") || !strings.Contains(string(file), "of 28893 bytes of `seq 1 6000` (`"+kept+"`)") {
		t.Errorf("the export says nothing of it: %.3000s", file)
	}
	var exported struct {
		Answers []struct {
			TurnID  string   `json:"turn_id"`
			RestsOn []ground `json:"rests_on"`
		}
	}
	s.must("GET", "/sessions/"+session+"/export", nil, &exported)
	if len(exported.Answers) != 4 || exported.Answers[0].TurnID != first.ID || exported.Answers[1].RestsOn[0].SeenBytes != printed {
		t.Errorf("exported is %+v", exported.Answers)
	}
	var fork struct {
		ID string `json:"id"`
	}
	s.must("POST", "/sessions/"+session+"/fork", args{}, &fork)
	if line := s.restLine(fork.ID); !strings.Contains(line, "stays with the original") || strings.Contains(line, "/out/") {
		t.Errorf("in a fork there is the line %q", line)
	}
}

// The metadata of a pruned result name the bytes of the copy that are left in it.
func TestAPrunedPreviewSaysWhatIsLeftOfIt(t *testing.T) {
	p := newProvider(t)
	p.on("print them", runs("seq 1 6000"), says("The last is 6000."))
	p.on("and now", says("As I said."))
	s := start(t, p, configuredWith(t, "contextPruning: {mode: cache-ttl, ttl: 1s, softTrimRatio: 0.01, hardClearRatio: 0.9, keepLastAssistants: 1}\n"))
	session := s.newSession()
	s.say(session, "print them")
	time.Sleep(1100 * time.Millisecond) // the provider's cache expires
	turn := s.say(session, "and now")
	output := s.output(session)
	text := s.copyOf(session, output.ID)
	meta, body := p.lastSent(t, "and now").results()[0].result(t)
	if shown := fmt.Sprint(meta["shown"]); meta["tool"] != "run_command" || meta["output_id"] != output.ID || shown != "[[0 1500] [27393 28893]]" {
		t.Errorf("the pruned result is %v", meta)
	}
	if body != text[:1500]+"…"+text[27393:] {
		t.Errorf("its body is %q", body)
	}
	var callID string
	for _, m := range s.messages(session, false) {
		if m.Role == "tool" {
			callID = m.ToolCallID
		}
	}
	if card := s.signedIn("/s/" + session + "/calls/" + callID); !strings.Contains(card, "Its last request held 3,000 of the 24,5") {
		t.Errorf("the card does not tell what the model still has: %s", card)
	}
	if g := s.restsOnOne(turn.ID); g.SeenBytes != 3000 || fmt.Sprint(g.Seen) != "[[0 1500] [27393 28893]]" {
		t.Errorf("the answer rests on %+v", g)
	}
}

func TestASearchCountsAsWhatItShows(t *testing.T) {
	p := newProvider(t)
	p.onFunc("find it", func(request) reply { return runs("seq 1 20000") }, func(r request) reply {
		meta, _ := r.results()[0].result(t)
		return calls(call("search_tool_output", args{"output_id": meta["output_id"], "pattern": "12345"}))
	}, func(request) reply { return says("It is there. There is no second one.") })
	s := start(t, p)
	session := s.newSession()
	turn := s.say(session, "find it")
	g := s.restsOnOne(turn.ID)
	if !g.Searched || len(g.Seen) != 3 || g.Seen[1][1]-g.Seen[1][0] > 400 || g.SeenBytes > 25000 {
		t.Errorf("after a search: %+v", g)
	}
	if line := s.restLine(session); !strings.Contains(line, "A search went through the copy") {
		t.Errorf("after a search there is the line %q", line)
	}
	if page := s.signedIn("/s/" + session); strings.Contains(page, "absence-mark") {
		t.Error("what was searched whole is doubted")
	}
}

func TestAnIncompleteCaptureIsToldApart(t *testing.T) {
	p := newProvider(t)
	p.on("print too much", runs("head -c 9000000 /dev/zero | tr '\\0' '\\n'"), says("There was nothing but empty lines in it."))
	s := start(t, p)
	session := s.newSession()
	turn := s.say(session, "print too much")
	if g := s.restsOnOne(turn.ID); g.Complete || g.Omitted < 600000 || g.SeenBytes > 25000 {
		t.Errorf("%+v", g)
	}
	if line := s.restLine(session); !strings.Contains(line, "The copy is incomplete: 61") || !strings.Contains(line, "bytes were never kept.") {
		t.Errorf("there is the line %q", line)
	}
}

func TestAnAnswerThatMissesSomethingUnreadIsMarked(t *testing.T) {
	for name, test := range map[string]struct {
		answer, settings string
		marked           bool
	}{
		"unread":            {answer: "There is no `9999` in it.", marked: true},
		"in Chinese":        {answer: "输出里没有 `9999`。", marked: true},
		"with a reserve":    {answer: "In what I have read there is no `9999`."},
		"that says what is": {answer: "The last line is 20000."},
		"where it is off":   {answer: "There is no `9999` in it.", settings: "truncation: {markAbsence: false}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t)
			p.on("is 9999 there", runs("seq 1 20000"), says(test.answer))
			s := start(t, p, configuredWith(t, test.settings))
			session := s.newSession()
			if turn := s.say(session, "is 9999 there"); turn.State != "done" {
				t.Fatalf("%+v", turn)
			}
			page := s.signedIn("/s/" + session)
			_, mark, marked := strings.Cut(page, `data-testid="absence-mark"`)
			if marked != test.marked {
				t.Fatalf("marked: %t", marked)
			}
			if !marked {
				return
			}
			mark, _, _ = strings.Cut(mark, `data-testid="answer-coverage"`)
			kept := s.output(session).ID
			for _, want := range []string{"`9999`", "108,894", "/s/" + session + "/out/" + kept + "?q=9999", "data-ask=", kept + " for “9999”"} {
				if !strings.Contains(mark, want) {
					t.Errorf("the mark lacks %q: %s", want, mark)
				}
			}
		})
	}
}

// A search for something else, for more than it could show, a filter, and a script
// that goes through everything: none says what is nowhere. A search within a script
// does where the model learns what it found.
func TestOnlyASearchForWhatIsAbsentTakesTheMarkAway(t *testing.T) {
	for name, test := range map[string]struct {
		look   func(output any) reply
		answer string
		marked bool
	}{
		"a search for it":      {look: seeks("zebra", 10), answer: "There is no zebra in the log."},
		"a search for a part":  {look: seeks("777", 100), answer: "There is no line 77799 in the log."},
		"a search for another": {look: seeks("apple", 10), answer: "There is no zebra in the log.", marked: true},
		"a search with more":   {look: seeks("1", 1), answer: "There is no line 15555 in the log.", marked: true},
		"a filter of a part": {look: func(o any) reply {
			return calls(call("query_tool_output", args{"output_id": o, "filter": "select(. < 3)"}))
		}, answer: "There is no zebra in the log.", marked: true},
		"a script that read all":                {look: runsScript(`const r = await tools.read_tool_output({output_id: ID, offset: 9000}); return r.text.slice(0, 100)`), answer: "There is no zebra in the log.", marked: true},
		"a script that searched in vain":        {look: runsScript(`const r = await tools.search_tool_output({output_id: ID, pattern: "zebra"}); return r.text.length`), answer: "There is no zebra in the log."},
		"a script that passed its hits on":      {look: runsScript(`const r = await tools.search_tool_output({output_id: ID, pattern: "777", max: 100}); return {r}`), answer: "There is no line 77799 in the log."},
		"a script that kept its hits to itself": {look: runsScript(`const r = await tools.search_tool_output({output_id: ID, pattern: "777", max: 100}); return r.text.slice(0, 100)`), answer: "There is no line 77799 in the log.", marked: true},
		"a script that searched for another":    {look: runsScript(`return await tools.search_tool_output({output_id: ID, pattern: "apple"})`), answer: "There is no zebra in the log.", marked: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t)
			p.onFunc("is it there", func(request) reply { return runs("seq 1 20000") }, func(r request) reply {
				meta, _ := r.results()[0].result(t)
				return test.look(meta["output_id"])
			}, func(request) reply { return says(test.answer) })
			s := start(t, p)
			session := s.newSession()
			if turn := s.say(session, "is it there"); turn.State != "done" {
				t.Fatalf("%+v", turn)
			}
			if marked := strings.Contains(s.signedIn("/s/"+session), `data-testid="absence-mark"`); marked != test.marked {
				t.Errorf("marked: %t", marked)
			}
		})
	}
}

// What a command in the background has printed meanwhile is unread already in the
// turn that started it.
func TestAnAnswerRestsOnWhatTheBackgroundPrintedMeanwhile(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	session := s.newSession()
	p.onFunc("start it", func(request) reply {
		return calls(call("run_command", args{"command": "seq 1 20000; sleep 60", "background": true}))
	}, func(request) reply { return runs("sleep 3") }, func(request) reply { return says("There is no zebra in the log.") })
	turn := s.say(session, "start it")
	if g := s.restsOnOne(turn.ID); g.Total != 108894 || g.SeenBytes != 0 || g.Earlier {
		t.Errorf("%+v", g)
	}
	if line := s.restLine(session); !strings.Contains(line, "108,894") || !strings.Contains(line, "still running") {
		t.Errorf("there is the line %q", line)
	}
	if !strings.Contains(s.signedIn("/s/"+session), `data-testid="absence-mark"`) {
		t.Error("what the background printed is not doubted")
	}
}

func seeks(pattern string, most int) func(any) reply {
	return func(output any) reply {
		return calls(call("search_tool_output", args{"output_id": output, "pattern": pattern, "max": most}))
	}
}

// runsScript runs one in which ID is the output's.
func runsScript(code string) func(any) reply {
	return func(output any) reply {
		return calls(call("run_script", args{"code": strings.ReplaceAll(code, "ID", fmt.Sprintf("%q", output))}))
	}
}

// A summary takes away what was shown: the answers behind it still say so.
func TestWhatASummaryTookAwayCountsAsTakenAway(t *testing.T) {
	p := newProvider(t)
	s := start(t, p, small)
	p.on(aSummary, says("They gave parts to remember."))
	p.on("many lines", runs("seq 1 20000"), says("There they are."))
	p.on("remember part", says("Noted."))
	session := s.newSession()
	before := s.restsOnOne(s.say(session, "many lines").ID)
	s.fill(p, session)
	messages := s.messages(session, false)
	for _, m := range messages[len(messages)-1:] {
		if g := s.restsOnOne(m.TurnID); !g.Earlier || g.SeenBytes != 0 || g.TakenBytes != before.SeenBytes || g.Total != before.Total || g.Title != before.Title {
			t.Errorf("before the summary %+v, and behind it %+v", before, g)
		}
	}
	if line := s.restLine(session); !strings.Contains(line, "the model had none of the <b>108,894</b> bytes any more") {
		t.Errorf("behind the summary there is the line %q", line)
	}
}
