package handlers

import (
	"bytes"
	"context"
	"fmt"

	"offcut/agent/events"
	"offcut/models"
	"offcut/views"
	"offcut/views/i18n"

	"github.com/a-h/templ"
)

// retrying is the code under which other languages than English say why a
// request is sent again.
const retrying = "retrying"

// framer turns the events of one session into frames for one watcher. What
// comes most, text, is passed on without a look at the database.
type framer struct {
	h      *Handlers
	sess   models.Session
	user   models.User
	layout views.Layout
}

func (f *framer) frames(ctx context.Context, e events.Event) ([]frame, error) {
	frames, err := f.unnumbered(ctx, e)
	if isNotFound(err) {
		return nil, nil // what the event told of is gone again
	}
	for i := range frames {
		if i < len(frames)-1 {
			frames[i].Of = e.Seq
		} else {
			frames[i].Seq = e.Seq
		}
	}
	return frames, err
}

func (f *framer) unnumbered(ctx context.Context, e events.Event) ([]frame, error) {
	switch e.Kind {
	case events.KindText:
		return []frame{{Type: "text", ID: e.MessageID, Text: e.Text}}, nil
	case events.KindReasoning:
		return []frame{{Type: "reasoning", ID: e.MessageID, Text: e.Text}}, nil
	case events.KindSeal:
		return []frame{{Type: "seal", ID: e.MessageID, HTML: e.HTML, Rest: &e.Text, Bytes: e.Bytes}}, nil
	case events.KindOutput:
		return []frame{{Type: "output", Call: e.CallID, Text: e.Text, Bytes: e.Bytes}}, nil
	case events.KindTitle:
		return f.title(ctx, e)
	case events.KindModel:
		return []frame{{Type: "model", Text: e.Text}}, nil
	case events.KindVersion:
		return []frame{{Type: "resync"}}, nil
	case events.KindUsage:
		return f.usage(ctx, e)
	case events.KindSummary:
		return f.summary(ctx, e)
	case events.KindRetry:
		if e.Attempt == 0 {
			return []frame{{Type: "retry", Turn: e.TurnID}}, nil
		}
		notice, err := f.html(ctx, "", "", views.RetryNoticeFragment(views.RetryNotice{
			TurnID: e.TurnID, Until: e.Until, Attempt: e.Attempt, Most: e.Most, Reason: i18n.Error(ctx, retrying, e.Reason, nil),
		}))
		return []frame{{Type: "retry", Turn: e.TurnID, Reason: i18n.Error(ctx, retrying, e.Reason, nil), Content: notice.Content}}, err
	case events.KindGone:
		return []frame{{Type: "gone", Text: i18n.T(ctx, e.Text), State: frameDeleted}}, nil
	case events.KindTurn:
		return f.turn(ctx, e)
	case events.KindMessage:
		return f.message(ctx, e)
	case events.KindApproval:
		return f.approval(ctx, e)
	case events.KindNested:
		return f.nested(ctx, e)
	case events.KindCall, events.KindOutputDeleted:
		return f.call(ctx, e)
	}
	return nil, nil
}

func (f *framer) title(ctx context.Context, e events.Event) ([]frame, error) {
	sessions, err := f.sessions(ctx)
	return []frame{sessions, {Type: "title", Text: e.Text}}, err
}

// turn opens an answer when a turn begins, and closes it when it rests.
func (f *framer) turn(ctx context.Context, e events.Event) ([]frame, error) {
	state := frame{Type: "state", Turn: e.TurnID, State: string(e.State)}
	if e.State == models.StateQueued {
		return []frame{state}, nil
	}
	sessions, err := f.sessions(ctx)
	if err != nil {
		return nil, err
	}
	turn, err := f.h.Store.AnyTurn(ctx, e.TurnID)
	if err != nil {
		return nil, err
	}
	if e.State.Final() {
		return f.ended(ctx, turn, state, sessions)
	}
	message, err := f.h.messageOf(ctx, turn)
	if err != nil {
		return nil, err
	}
	answer := views.Answer{
		TurnID: turn.ID, State: string(e.State), At: answeredAt(turnMessages{turn: turn}),
		End: views.TurnEnd{TurnID: turn.ID, State: string(e.State), At: answeredAt(turnMessages{turn: turn})},
	}
	target, swap := "#messages", "beforeend"
	if message != nil {
		target, swap = "#m-"+message.ID, "afterend"
	}
	opened, err := f.html(ctx, target, swap, views.AnswerArticle(answer))
	return []frame{state, sessions, opened}, err
}

// ended shows the answer of a turn as it is in the end. A turn that never left
// the queue has none.
func (f *framer) ended(ctx context.Context, turn models.Turn, state, sessions frame) ([]frame, error) {
	t, err := f.h.turnMessages(ctx, turn)
	if err != nil {
		return nil, err
	}
	entries, err := f.h.entries(ctx, f.sess, t, events.Live{}, true)
	if err != nil {
		return nil, err
	}
	frames := []frame{sessions}
	for _, entry := range entries {
		if entry.Answer == nil {
			continue
		}
		answer, err := f.html(ctx, "#a-"+turn.ID, "outerHTML", views.AnswerArticle(*entry.Answer))
		if err != nil {
			return nil, err
		}
		frames = append(frames, answer)
	}
	return append(frames, state), nil
}

// message shows what a person wrote, or a reply as it begins and as it is in
// the end. In between its text streams in.
func (f *framer) message(ctx context.Context, e events.Event) ([]frame, error) {
	if e.CallID != "" {
		return nil, nil // a tool's result: its card is told of by an event of its own
	}
	if e.State == models.StateRunning {
		part, err := f.html(ctx, "#b-"+e.TurnID, "beforeend", views.PartFragment(views.Part{MessageID: e.MessageID}))
		return []frame{part}, err
	}
	m, err := f.h.Store.Message(ctx, f.sess.ID, e.MessageID)
	if err != nil || m.IsMeta {
		return nil, err
	}
	if m.Role == models.RolePerson {
		said, err := f.h.said(ctx, m)
		if err != nil {
			return nil, err
		}
		article, err := f.html(ctx, "#messages", "beforeend", views.UserArticle(*said))
		return []frame{article}, err
	}
	return f.reply(ctx, m)
}

func (f *framer) reply(ctx context.Context, m models.Message) ([]frame, error) {
	if m.Role != models.RoleAssistant {
		return nil, nil
	}
	m, err := f.h.joined(ctx, m)
	if err != nil || saysNothing(m) {
		return nil, err
	}
	results := map[string]models.Message{}
	for _, call := range m.ToolCalls {
		_, result, err := f.h.Store.Call(ctx, f.sess.ID, call.ID)
		if err != nil {
			return nil, err
		}
		if result != nil {
			results[call.ID] = *result
		}
	}
	part, err := f.h.part(ctx, f.sess, m, results, events.Live{}, true)
	if err != nil {
		return nil, err
	}
	content, err := f.html(ctx, "#b-"+m.TurnID, "beforeend", views.PartFragment(part))
	return []frame{content}, err
}

// call shows a tool card as it is now. One that runs is shown empty: what it
// prints follows, and what it had printed before it went on in the background is
// in the page.
func (f *framer) call(ctx context.Context, e events.Event) ([]frame, error) {
	call, result, err := f.h.Store.Call(ctx, f.sess.ID, e.CallID)
	if err != nil {
		return nil, err
	}
	var live events.Live
	if e.CallState == string(models.CallRunning) || e.CallState == string(models.CallBackground) {
		live.Calls = []events.LiveCall{f.begun(e.CallID)}
	}
	card, err := f.h.card(ctx, f.sess, call, result, live, true)
	if err != nil {
		return nil, err
	}
	if result == nil && e.CallState != "" {
		card.State = e.CallState
	}
	content, err := f.html(ctx, "#t-"+e.CallID, "outerHTML", views.Card(card))
	if err != nil {
		return nil, err
	}
	more, err := f.background(ctx, result, e)
	return append(more, content), err
}

// begun is a call that runs, without what it printed.
func (f *framer) begun(callID string) events.LiveCall {
	for _, running := range f.h.Runner.Live(f.sess.ID).Calls {
		if running.CallID == callID {
			return events.LiveCall{CallID: callID, StartedAt: running.StartedAt, Movable: running.Movable}
		}
	}
	return events.LiveCall{CallID: callID, StartedAt: f.h.Now()}
}

// sessions is the list beside the page, in which this session moved.
func (f *framer) sessions(ctx context.Context) (frame, error) {
	sidebar, err := f.h.sessionsOf(ctx, f.user.ID, f.sess.ID, "", "")
	if err != nil {
		return frame{}, err
	}
	return f.html(ctx, "#sessions", "innerHTML", views.SidebarFragment(sidebar))
}

func (f *framer) html(ctx context.Context, target, swap string, content templ.Component) (frame, error) {
	var buf bytes.Buffer
	if err := content.Render(views.With(ctx, f.layout), &buf); err != nil {
		return frame{}, fmt.Errorf("render a fragment for %s: %w", target, err)
	}
	return frame{Type: "html", Target: target, Swap: swap, Content: buf.String()}, nil
}
