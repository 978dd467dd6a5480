package contextwin_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/contextwin"
	"offcut/models"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// talk is a session: a question, and replies that each call for some results.
// Its clock goes on by a second with each reply.
type talk struct {
	messages []models.Message
	now      time.Time
}

func newTalk() *talk {
	return &talk{messages: []models.Message{user("question", models.StateDone)}, now: noon}
}

// round adds a reply with one call for each body, and their results.
func (t *talk) round(bodies ...string) *talk {
	t.now = t.now.Add(time.Second)
	m := assistant("")
	m.CreatedAt = t.now
	n := len(t.messages)
	for i := range bodies {
		m.ToolCalls = append(m.ToolCalls, models.ToolCall{ID: fmt.Sprintf("call_%d_%d", n, i), Name: "look", Arguments: "{}"})
	}
	t.messages = append(t.messages, m)
	for i, body := range bodies {
		r := result(m.ToolCalls[i].ID, body)
		r.ID = fmt.Sprintf("msg_%d_%d", n, i)
		t.messages = append(t.messages, r)
	}
	return t
}

func (t *talk) pause(d time.Duration) *talk {
	t.now = t.now.Add(d)
	return t
}

func (t *talk) request() agent.Request { return agent.Request{Messages: t.messages} }

// bodies writes what became of each result as one word.
func bodies(messages, whole []models.Message) string {
	var words []string
	for i, m := range messages {
		if m.Role != models.RoleTool {
			continue
		}
		switch before, after, cut := strings.Cut(m.Content, "…"); {
		case m.Content == whole[i].Content:
			words = append(words, "whole")
		case m.Content == contextwin.ClearedText:
			words = append(words, "cleared")
		case cut && strings.HasPrefix(whole[i].Content, before) && strings.HasSuffix(whole[i].Content, after) && len(before) == len(after):
			words = append(words, fmt.Sprint(len(before)))
		default:
			words = append(words, "?")
		}
	}
	return strings.Join(words, " ")
}

func text(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%d ", i)
	}
	return b.String()[:n]
}

func TestWhatIsShortenedAndWhen(t *testing.T) {
	long := text(8000)
	five := func() *talk {
		return newTalk().round(long).round(text(4000)).round(long).round(long).round(long)
	}
	early := newTalk()
	early.messages = nil
	early.round(long)
	early.messages = append(early.messages, user("q", models.StateDone))
	early.round(long).round(long).round(long).round(long)
	for name, test := range map[string]struct {
		talk  *talk
		mode  contextwin.Mode
		pause time.Duration
		share float64 // of the window that the whole takes
		want  string
	}{
		"little of the window":              {five(), contextwin.ModeCacheTTL, time.Hour, 0.28, "whole whole whole whole whole"},
		"over 0.3":                          {five(), contextwin.ModeCacheTTL, time.Hour, 0.32, "1500 whole whole whole whole"},
		"nearly 0.5":                        {five(), contextwin.ModeCacheTTL, time.Hour, 0.48, "1500 whole whole whole whole"},
		"over 0.5":                          {five(), contextwin.ModeCacheTTL, time.Hour, 0.52, "cleared whole whole whole whole"},
		"the cache is warm":                 {five(), contextwin.ModeCacheTTL, 4 * time.Minute, 0.9, "whole whole whole whole whole"},
		"the cache has just expired":        {five(), contextwin.ModeCacheTTL, 5 * time.Minute, 0.9, "cleared whole whole whole whole"},
		"off":                               {five(), contextwin.ModeOff, time.Hour, 0.9, "whole whole whole whole whole"},
		"off is the default":                {five(), "", time.Hour, 0.9, "whole whole whole whole whole"},
		"off, and it would not fit":         {newTalk().round(long).round(text(4000)).round(long).round("ok").round("ok").round(text(3000)), contextwin.ModeOff, 0, 1.01, "cleared whole cleared whole whole whole"},
		"it would not fit, and is warm":     {newTalk().round(long).round(text(4000)).round(long).round("ok").round("ok").round(text(3000)), contextwin.ModeCacheTTL, 0, 1.01, "cleared whole cleared whole whole whole"},
		"the small old ones have to go too": {newTalk().round(text(3900)).round(text(3900)).round("ok").round("ok").round("ok"), contextwin.ModeOff, 0, 1.01, "cleared cleared whole whole whole"},
		"what saves nothing stays":          {newTalk().round("tiny").round("ok").round("ok").round(text(3000)), contextwin.ModeOff, 0, 1.01, "whole whole whole 500"},
		"the protected, the oldest first":   {five(), contextwin.ModeOff, 0, 1.6, "cleared cleared 1500 whole whole"},
		"the protected, all of them":        {five(), contextwin.ModeOff, 0, 3.2, "cleared cleared 1500 1500 1500"},
		"the protected, further":            {five(), contextwin.ModeOff, 0, 5, "cleared cleared 500 500 1500"},
		"before a user spoke":               {early, contextwin.ModeOff, 0, 1.15, "whole cleared whole whole whole"},
		"and where even that is too much":   {early, contextwin.ModeOff, 0, 1.5, "1500 cleared 1500 whole whole"},
		"a group of three":                  {newTalk().round(long, "ok", long).round("ok").round("ok").round("ok"), contextwin.ModeCacheTTL, time.Hour, 0.4, "1500 whole 1500 whole whole whole"},
	} {
		t.Run(name, func(t *testing.T) {
			req := test.talk.request()
			limits := contextwin.Limits{
				ContextTokens: int(float64(contextwin.Estimate(req)) / test.share),
				Pruning:       contextwin.Pruning{Mode: test.mode},
			}
			sent, decisions := contextwin.Prune(req, nil, limits, test.talk.now.Add(test.pause))
			if got := bodies(sent, req.Messages); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			again, _ := contextwin.Prune(req, decisions, limits, test.talk.now)
			if bodies(again, req.Messages) != test.want {
				t.Errorf("sent again: %s", bodies(again, req.Messages))
			}
		})
	}
}

func TestCharactersAreCountedAndNotBytes(t *testing.T) {
	for n, want := range map[int]string{4000: "whole", 4001: "trimmed"} {
		body := strings.Repeat("中", n)
		req := newTalk().round(body).round("ok").round("ok").round("ok").request()
		limits := contextwin.Limits{ContextTokens: contextwin.Estimate(req) * 5 / 2, Pruning: contextwin.Pruning{Mode: contextwin.ModeCacheTTL}}
		sent, _ := contextwin.Prune(req, nil, limits, noon.Add(time.Hour))
		got := sent[2].Content
		if trimmed := strings.Repeat("中", 1500) + "…" + strings.Repeat("中", 1500); (want == "whole" && got != body) || (want == "trimmed" && got != trimmed) {
			t.Errorf("%d characters: %d are left", n, len([]rune(got)))
		}
	}
}

func TestAShortenedResultLeadsBackToTheWhole(t *testing.T) {
	long := text(8000)
	for name, test := range map[string]struct {
		was  models.ResultMetadata
		want string // of the metadata line, in cleared form
	}{
		"a result without a copy": {
			models.ResultMetadata{Retention: models.RetentionNotNeeded},
			`{"is_error":false,"truncated":true,"output_id":"res_call_1_0","total_bytes":8000,"complete":true,"reasons":["pruning"],"retention":"not_needed","tool":"look"}`,
		},
		"a kept copy": {
			models.ResultMetadata{
				Truncated: true, ExitCode: models.Ptr(1), OutputID: "out_1", TotalBytes: models.Ptr(int64(90_000)), Complete: models.Ptr(false),
				Shown: []models.Range{{End: 4000}, {Start: 86_000, End: 90_000}}, Reasons: []models.Reason{models.ReasonPreview}, Retention: models.RetentionKept,
			},
			`{"is_error":false,"truncated":true,"exit_code":1,"output_id":"out_1","total_bytes":90000,"complete":false,"reasons":["preview","pruning"],"retention":"kept","tool":"look"}`,
		},
		"a copy that could not be kept": {
			models.ResultMetadata{Truncated: true, Reasons: []models.Reason{models.ReasonPreview}, Retention: models.RetentionFailed, RetentionError: "full"},
			`{"is_error":false,"truncated":true,"output_id":"res_call_1_0","total_bytes":8000,"complete":false,"reasons":["preview","pruning"],"retention":"failed","retention_error":"full","tool":"look"}`,
		},
		"an error": {
			models.ResultMetadata{IsError: true},
			`{"is_error":true,"truncated":true,"output_id":"res_call_1_0","total_bytes":8000,"complete":true,"reasons":["pruning"],"tool":"look"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			was := test.was
			talk := newTalk().round(long).round("ok").round("ok").round("ok")
			talk.messages[2].Metadata = &was
			before := was.Line()
			limits := contextwin.Limits{ContextTokens: contextwin.Estimate(talk.request()) - 1}
			sent, _ := contextwin.Prune(talk.request(), nil, limits, talk.now)
			if got := agent.ToolText(sent[2]); got != test.want+"\n[Old tool result content cleared]" {
				t.Errorf("sent %s", got)
			}
			if was.Line() != before || talk.messages[2].Content != long {
				t.Errorf("what is stored was changed: %s", was.Line())
			}
		})
	}
	if callID, ok := agent.CallOfOutputID("res_call_1_0"); !ok || callID != "call_1_0" {
		t.Errorf("leads back to %q", callID)
	}
	if _, ok := agent.CallOfOutputID(models.NewID(models.PrefixOutput)); ok {
		t.Error("a kept copy is taken for a stored result")
	}
}

func TestATrimmedResultSaysWhichOfItsBytesAreShown(t *testing.T) {
	talk := newTalk().round(strings.Repeat("é", 5000)).round("ok").round("ok").round("ok")
	limits := contextwin.Limits{ContextTokens: contextwin.Estimate(talk.request()) * 5 / 2, Pruning: contextwin.Pruning{Mode: contextwin.ModeCacheTTL}}
	sent, _ := contextwin.Prune(talk.request(), nil, limits, noon.Add(time.Hour))
	if got := sent[2].Metadata.Shown; !slices.Equal(got, []models.Range{{Start: 0, End: 3000}, {Start: 7000, End: 10_000}}) {
		t.Errorf("shown %v", got)
	}
}

func TestASyntheticResultThatIsNotStoredStays(t *testing.T) {
	talk := newTalk().round(text(8000)).round("ok").round("ok").round("ok")
	talk.messages[2].ID = ""
	sent, _ := contextwin.Prune(talk.request(), nil, contextwin.Limits{ContextTokens: 10}, talk.now)
	if bodies(sent[:3], talk.messages[:3]) != "whole" {
		t.Error("it was shortened, and cannot be read any more")
	}
}

// A long session with pauses: whoever looks at it anew, after each call or a
// restart, comes to the decisions that were made before.
func TestWhatWasShortenedStaysSo(t *testing.T) {
	for _, mode := range []contextwin.Mode{contextwin.ModeOff, contextwin.ModeCacheTTL} {
		t.Run(string(mode), func(t *testing.T) {
			talk, limits := newTalk(), contextwin.Limits{ContextTokens: 40_000, Pruning: contextwin.Pruning{Mode: mode}}
			before := contextwin.Decisions{}
			changes, calls := 0, 200
			for i := range calls {
				if i%7 == 0 {
					talk.pause(10 * time.Minute)
				}
				sent, fresh := contextwin.Prune(talk.request(), nil, limits, talk.now.Add(time.Second))
				carried, _ := contextwin.Prune(talk.request(), before, limits, talk.now.Add(time.Second))
				if bodies(sent, talk.messages) != bodies(carried, talk.messages) {
					t.Fatalf("call %d: %s, with what was decided before %s", i, bodies(sent, talk.messages), bodies(carried, talk.messages))
				}
				for id, d := range before {
					if fresh[id] != d && fresh[id].Keep != 0 {
						t.Fatalf("call %d: %s was %v, and is %v", i, id, d, fresh[id])
					}
				}
				if n := contextwin.Estimate(agent.Request{Messages: sent}); n > limits.ContextTokens {
					t.Fatalf("call %d takes %d tokens", i, n)
				}
				if !maps.Equal(before, fresh) {
					changes++
				}
				before = fresh
				talk.round(text(1000 + i*997%9000))
			}
			if changes == 0 || changes > calls/5 {
				t.Errorf("the prefix changed %d times in %d calls", changes, calls)
			}
		})
	}
}

// FuzzWhatIsSent makes any history and window out of bytes.
func FuzzWhatIsSent(f *testing.F) {
	f.Add([]byte{0, 1, 9, 17, 2, 10, 3, 200, 77, 1, 1, 2, 2}, uint16(100), true)
	f.Add([]byte("any history at all, with calls and results"), uint16(3000), false)
	f.Fuzz(func(t *testing.T, data []byte, window uint16, ttl bool) {
		history := historyOf(data[:min(len(data), 500)])
		for i := range history {
			b := int(data[i])
			history[i].ID = fmt.Sprint("msg_", i)
			history[i].CreatedAt = noon.Add(time.Duration(i*b) * time.Second)
			if history[i].Role == models.RoleTool {
				history[i].Content = strings.Repeat("é", b*40)
			}
		}
		limits := contextwin.Limits{ContextTokens: int(window)}
		if ttl {
			limits.Pruning.Mode = contextwin.ModeCacheTTL
		}
		w := contextwin.Open(contextwin.Options{Limits: limits})
		req := agent.Request{Messages: history}
		before := fmt.Sprintf("%+v", history)
		sent, _ := w.Fit(t.Context(), req)
		wellFormed(t, sent)
		whole := contextwin.Pair(history)
		sent = unopened(t, sent, whole)
		if len(sent) != len(whole) {
			t.Fatalf("%d messages of %d", len(sent), len(whole))
		}
		again, _ := w.Fit(t.Context(), req)
		if again = unopened(t, again, whole); bodies(again, whole) != bodies(sent, whole) {
			t.Errorf("first %s, then %s", bodies(sent, whole), bodies(again, whole))
		}
		if shrunk, _, ok := w.Shrink(t.Context(), req); ok {
			wellFormed(t, shrunk)
		}
		if fmt.Sprintf("%+v", history) != before {
			t.Error("the history was changed")
		}
	})
}

// unopened is what is sent without the user's message that was put before a
// history in which a reply comes first.
func unopened(t *testing.T, sent, whole []models.Message) []models.Message {
	t.Helper()
	if len(sent) == 0 {
		return sent
	}
	if sent[0].Role != models.RolePerson {
		t.Fatalf("what is sent begins with a message of %s", sent[0].Role)
	}
	return sent[len(sent)-len(whole):]
}

// TestALateReplyShortensNothing: where the reply took longer to come than the
// cache lives, what the next request of the turn sends is what is cached by then.
func TestALateReplyShortensNothing(t *testing.T) {
	history := chatted(8, 200)
	for i := range history {
		if history[i].Role == models.RoleTool {
			history[i].Content = text(6000)
		}
		history[i].CreatedAt = time.Now()
	}
	w := contextwin.Open(contextwin.Options{Limits: contextwin.Limits{ContextTokens: 20_000, Pruning: contextwin.Pruning{Mode: contextwin.ModeCacheTTL, TTL: time.Hour}}})
	first, _ := w.Fit(t.Context(), agent.Request{Messages: history})
	late := assistant("", "call_late")
	late.ID, late.TurnID, late.CreatedAt = "msg_late", "trn_7", time.Now().Add(2*time.Hour)
	came := result("call_late", "short")
	came.ID, came.TurnID, came.CreatedAt = "msg_came", "trn_7", time.Now().Add(2*time.Hour)
	next, _ := w.Fit(t.Context(), agent.Request{Messages: append(history, late, came)})
	if spelled(next[:len(first)]) != spelled(first) {
		t.Errorf("sent %q and then %q", bodies(first, history), bodies(next[:len(first)], history))
	}
}
