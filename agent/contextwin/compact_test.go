package contextwin_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/contextwin"
	"offcut/models"
)

// notebook is a memory that a test reads.
type notebook struct {
	pruned    contextwin.Decisions
	summaries []models.Summary
	used      models.Usage
	learned   int
	scale     float64
	outputs   []models.RetainedOutput
	history   []models.Message // of the session, whole
	ids       map[string]bool  // of its outputs; nil: not known
}

func (n *notebook) Pruned(_ context.Context, more contextwin.Decisions) {
	if n.pruned == nil {
		n.pruned = contextwin.Decisions{}
	}
	maps.Copy(n.pruned, more)
}

func (n *notebook) Summarised(_ context.Context, s models.Summary) {
	n.summaries = append(n.summaries, s)
}

func (n *notebook) Used(_ context.Context, used models.Usage) { n.used = n.used.Add(used) }

func (n *notebook) Learned(tokens int) { n.learned = tokens }

func (n *notebook) Scaled(scale float64) { n.scale = scale }

func (n *notebook) Outputs(context.Context) []models.RetainedOutput { return n.outputs }

func (n *notebook) OutputIDs(context.Context) map[string]bool { return n.ids }

func (n *notebook) Earlier(_ context.Context, uptoTurn string) []models.Message {
	return n.history[:behind(n.history, uptoTurn)]
}

// behind is where a history goes on behind a turn; 0 where the turn is not in it.
func behind(history []models.Message, turn string) int {
	for i := len(history); i > 0; i-- {
		if history[i-1].TurnID == turn {
			return i
		}
	}
	return 0
}

// window is that of the session's next turn.
func (n *notebook) window(limits contextwin.Limits, model agent.Model) *begun {
	return &begun{book: n, options: contextwin.Options{Limits: limits, Pruned: maps.Clone(n.pruned), Model: model, Memory: n}}
}

// begun is the window of a turn whose history is read from behind the summary
// that covers most of it.
type begun struct {
	book    *notebook
	options contextwin.Options
	window  *contextwin.Window
	from    int
}

func (b *begun) read(req agent.Request) agent.Request {
	if b.window == nil {
		for i, s := range b.book.summaries {
			if at := behind(req.Messages, s.UptoTurn); at > b.from || (at > 0 && at == b.from) {
				b.from, b.options.Before = at, &b.book.summaries[i]
			}
		}
		b.window = contextwin.Open(b.options)
	}
	b.book.history = req.Messages
	req.Messages = req.Messages[b.from:]
	return req
}

func (b *begun) Fit(ctx context.Context, req agent.Request) ([]models.Message, int) {
	req = b.read(req)
	return b.window.Fit(ctx, req)
}

func (b *begun) Shrink(ctx context.Context, req agent.Request) ([]models.Message, int, bool) {
	req = b.read(req)
	return b.window.Shrink(ctx, req)
}

// chatted is a session of turns, each with a call for a result, and texts of so
// many bytes. The last turn has only its question.
func chatted(turns, bytes int) []models.Message {
	var history []models.Message
	at := noon
	for i := range turns {
		turn, call := fmt.Sprint("trn_", i), fmt.Sprint("call_", i)
		said := []models.Message{user(fmt.Sprintf("question %d\n%s", i, text(bytes)), models.StateDone)}
		if i < turns-1 {
			said = append(said, assistant("", call), result(call, fmt.Sprint("result ", i)), assistant(fmt.Sprintf("answer %d %s", i, text(bytes))))
		}
		for k := range said {
			at = at.Add(time.Second)
			said[k].ID, said[k].SessionID, said[k].TurnID, said[k].CreatedAt = fmt.Sprintf("msg_%d_%d", i, k), "ses_1", turn, at
		}
		history = append(history, said...)
	}
	return history
}

// writes is a model that answers each request with this summary.
func writes(text string) *agenttest.Script {
	step := agenttest.Says(text)
	step.Usage = models.Usage{InputTokens: 100, OutputTokens: 10}
	return agenttest.NewScript(slices.Repeat([]agenttest.Step{step}, 20)...)
}

func TestOldTurnsAreSummarisedOnce(t *testing.T) {
	history := chatted(12, 2000)
	book := &notebook{outputs: []models.RetainedOutput{
		{ID: "out_1", TurnID: "trn_1", Tool: "run_command", Title: "make test", TotalBytes: 90_000, Complete: true},
		{ID: "out_9", TurnID: "trn_10", Tool: "run_command", Title: "later"},
	}}
	script := writes("They asked twelve questions.")
	limits := contextwin.Limits{ContextTokens: 8000}
	req := agent.Request{Messages: history, Model: "m"}
	sent, left := book.window(limits, script).Fit(t.Context(), req)

	wellFormed(t, sent)
	if n := contextwin.Estimate(agent.Request{Messages: sent}); n > 4000 || left != 8000-n {
		t.Errorf("sent %d tokens, and %d are left", n, left)
	}
	if len(book.summaries) != 1 {
		t.Fatalf("%d summaries", len(book.summaries))
	}
	s := book.summaries[0]
	if !strings.Contains(s.Content, "They asked twelve questions.") || s.Model != "scripted" || s.TokensBefore < 4000 || s.TokensAfter > 500 {
		t.Errorf("%+v", s)
	}
	if book.used.InputTokens != 100*int64(len(script.Requests())) {
		t.Errorf("used %+v", book.used)
	}
	if first := sent[0]; first.Role != models.RolePerson || !first.IsMeta || first.Content != s.Content {
		t.Errorf("begins with %+v", first)
	}
	if sent[1].Role != models.RolePerson || sent[1].TurnID == s.UptoTurn || len(sent) != 1+len(history)-slices.IndexFunc(history, func(m models.Message) bool { return m.ID == sent[1].ID }) {
		t.Errorf("goes on with %.40q", sent[1].Content)
	}
	if !strings.Contains(s.Content, `{"output_id":"out_1","tool":"run_command","title":"make test","total_bytes":90000,"complete":true}`) || strings.Contains(s.Content, "out_9") || s.Outputs != 1 {
		t.Errorf("%d outputs in %s", s.Outputs, s.Content)
	}
	asked := script.Requests()[0]
	if len(asked.Tools) != 0 || asked.Model != "m" || !strings.Contains(asked.Messages[0].Content, `{"role":"user","content":"question 0\n`) {
		t.Errorf("asked %+v", asked)
	}
	again, _ := book.window(limits, agenttest.NewScript()).Fit(t.Context(), req)
	if spelled(again) != spelled(sent) || len(book.summaries) != 1 {
		t.Error("another turn sends something else")
	}
}

func TestASummaryHoldsForItsOwnPathAlone(t *testing.T) {
	book := &notebook{}
	limits := contextwin.Limits{ContextTokens: 8000}
	history := chatted(12, 2000)
	book.window(limits, writes("Path one.")).Fit(t.Context(), agent.Request{Messages: history})
	upto := book.summaries[0].UptoTurn
	other := slices.Clone(history)
	for i := range other {
		if other[i].TurnID == upto { // another version of that turn
			other[i].TurnID, other[i].Content = "trn_other", "x"+other[i].Content
		}
	}
	sent, _ := book.window(limits, writes("Path two.")).Fit(t.Context(), agent.Request{Messages: other})
	if strings.Contains(sent[0].Content, "Path one.") || !strings.Contains(sent[0].Content, "Path two.") {
		t.Errorf("begins with %.200s", sent[0].Content)
	}
	short, _ := book.window(limits, nil).Fit(t.Context(), agent.Request{Messages: history[:4]})
	if short[0].Content != history[0].Content {
		t.Errorf("a path that ends before begins with %.200s", short[0].Content)
	}
}

func TestASummaryGoesOnWithTheOneBefore(t *testing.T) {
	book := &notebook{}
	limits := contextwin.Limits{ContextTokens: 8000}
	book.window(limits, writes("First part.")).Fit(t.Context(), agent.Request{Messages: chatted(12, 2000)})
	script := writes("Both parts.")
	sent, _ := book.window(limits, script).Fit(t.Context(), agent.Request{Messages: chatted(20, 2000)})
	if !strings.Contains(sent[0].Content, "Both parts.") || sent[1].IsMeta || len(book.summaries) != 2 {
		t.Errorf("begins with %.300s", sent[0].Content)
	}
	covered, _ := strconv.Atoi(strings.TrimPrefix(book.summaries[0].UptoTurn, "trn_"))
	next := strconv.Itoa(covered + 1)
	asked := script.Requests()[0].Messages[0].Content
	if !strings.HasPrefix(asked, "Summary so far:\nFirst part.") || strings.Contains(asked, "question 0") || !strings.Contains(asked, "question "+next) {
		t.Errorf("asked %.300s", asked)
	}
	if book.summaries[1].Messages <= book.summaries[0].Messages {
		t.Errorf("covers %d messages, before %d", book.summaries[1].Messages, book.summaries[0].Messages)
	}
}

func TestWhereNoModelSummarisesTheProgramListsWhatWasAsked(t *testing.T) {
	for name, test := range map[string]struct {
		step agenttest.Step
		kept int // a failure that passes is no reason to keep the list
	}{
		"it refuses":      {agenttest.Fails(&agent.ModelError{Code: models.CodeProviderRefused, Message: "no"}), 1},
		"it is down":      {agenttest.Fails(&agent.ModelError{Code: models.CodeProviderError, Message: "down"}), 0},
		"it says nothing": {agenttest.Says(" "), 1},
		"it breaks off":   {agenttest.Breaks("half a"), 0},
	} {
		book := &notebook{}
		sent, _ := book.window(contextwin.Limits{ContextTokens: 8000}, agenttest.NewScript(test.step)).Fit(t.Context(), agent.Request{Messages: chatted(12, 2000)})
		if first := sent[0].Content; !strings.Contains(first, "- question 0\n- question 1\n") {
			t.Errorf("%s: %.600s", name, first)
		}
		if len(book.summaries) != test.kept || (test.kept > 0 && book.summaries[0].Model != "") {
			t.Errorf("%s: kept %+v", name, book.summaries)
		}
		if n := contextwin.Estimate(agent.Request{Messages: sent}); n > 8000 {
			t.Errorf("%s: %d tokens are sent", name, n)
		}
	}
}

func TestAStopEndsTheSummary(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	script := agenttest.NewScript(agenttest.Blocks("never", make(chan struct{})))
	go func() {
		script.Await(context.Background(), 1)
		stop(agent.ErrStopped)
	}()
	book := &notebook{}
	book.window(contextwin.Limits{ContextTokens: 8000}, script).Fit(ctx, agent.Request{Messages: chatted(12, 2000)})
	if len(book.summaries) != 0 || !errors.Is(context.Cause(ctx), agent.ErrStopped) {
		t.Errorf("%+v", book.summaries)
	}
}

func TestALongPastIsSummarisedPieceByPiece(t *testing.T) {
	script := writes("so far")
	book := &notebook{}
	limits := contextwin.Limits{ContextTokens: 8000}
	sent, _ := book.window(limits, script).Fit(t.Context(), agent.Request{Messages: chatted(60, 3000)})
	requests := script.Requests()
	if len(requests) < 2 || len(requests) > 8 {
		t.Errorf("%d requests", len(requests))
	}
	for i, r := range requests {
		if n := contextwin.Estimate(r); n > limits.ContextTokens {
			t.Errorf("request %d takes %d tokens", i, n)
		}
	}
	if n := contextwin.Estimate(agent.Request{Messages: sent}); n > limits.ContextTokens {
		t.Errorf("%d tokens are sent", n)
	}
}

func TestTheLastRepliesKeepTheirResultsWhileOlderTurnsCanGo(t *testing.T) {
	history := chatted(12, 2000)
	history = slices.DeleteFunc(history, func(m models.Message) bool { return m.TurnID == "trn_11" })
	long := text(9000) // of the last reply's call; the turn goes on
	history = append(history, assistant("", "call_x"), result("call_x", long))
	for i := range history[len(history)-2:] {
		m := &history[len(history)-2+i]
		m.ID, m.SessionID, m.TurnID, m.CreatedAt = fmt.Sprint("msg_x", i), "ses_1", "trn_10", noon.Add(time.Hour)
	}
	sent, _ := (&notebook{}).window(contextwin.Limits{ContextTokens: 8000}, writes("s")).Fit(t.Context(), agent.Request{Messages: history})
	if last := sent[len(sent)-1]; last.Content != long {
		t.Errorf("the last result was sent as %.60q", last.Content)
	}
}

func TestAfterARefusalOldTurnsGoAndTheWindowIsKnown(t *testing.T) {
	book := &notebook{}
	req := agent.Request{Messages: chatted(12, 2000)}
	w := book.window(contextwin.Limits{}, writes("Summed up."))
	whole, left := w.Fit(t.Context(), req)
	before := contextwin.Estimate(agent.Request{Messages: whole})
	sent, _, ok := w.Shrink(t.Context(), req)
	if after := contextwin.Estimate(agent.Request{Messages: sent}); !ok || left != -1 || after > before/2 {
		t.Fatalf("%d tokens, then %d", before, after)
	}
	wellFormed(t, sent)
	if !strings.Contains(sent[0].Content, "Summed up.") || book.learned == 0 || book.learned >= before {
		t.Errorf("learned %d of %d; begins with %.100s", book.learned, before, sent[0].Content)
	}
	if again, left := w.Fit(t.Context(), req); left < 0 || spelled(again) != spelled(sent) {
		t.Errorf("%d left; the next request begins with %.100s", left, again[0].Content)
	}
}

// A summary that was made for a large window is itself too long for a small one:
// it is summarised in turn, and the shorter one takes its place.
func TestASummaryThatIsTooLongForAnotherModelIsShortened(t *testing.T) {
	history := chatted(3, 8000)
	old := models.Summary{SessionID: "ses_1", UptoTurn: "trn_0", Content: agent.SummaryHead + "\n\n" + strings.Repeat("A line of it.\n", 1200), Model: "large"}
	book := &notebook{summaries: []models.Summary{old}}
	script := writes("Shorter.")
	limits := contextwin.Limits{ContextTokens: 6000}
	sent, _ := book.window(limits, script).Fit(t.Context(), agent.Request{Messages: history[:len(history)-1], Model: "small"})
	made := book.summaries[len(book.summaries)-1]
	if len(script.Requests()) == 0 || !strings.Contains(sent[0].Content, "Shorter.") || made.Model != "scripted" || made.TokensAfter >= made.TokensBefore {
		t.Errorf("%d requests; made %+v; begins with %.100s", len(script.Requests()), made, sent[0].Content)
	}
	again, _ := book.window(limits, agenttest.NewScript()).Fit(t.Context(), agent.Request{Messages: history[:len(history)-1], Model: "small"})
	if spelled(again) != spelled(sent) {
		t.Errorf("the next turn begins with %.100s", again[0].Content)
	}
}
