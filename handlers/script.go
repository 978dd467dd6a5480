package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"offcut/agent/events"
	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// scriptTool runs programs that call the other tools.
const scriptTool = "run_script"

// codeOf is the program of a script as HTML; empty of other calls.
func (h *Handlers) codeOf(call models.ToolCall) string {
	var arguments struct {
		Code string `json:"code"`
	}
	if call.Name != scriptTool || json.Unmarshal([]byte(call.Arguments), &arguments) != nil || arguments.Code == "" {
		return ""
	}
	fence := "```"
	for strings.Contains(arguments.Code, fence) {
		fence += "`"
	}
	return h.Markdown(fence + "javascript\n" + clip(arguments.Code, maxCode) + "\n" + fence)
}

// maxCode bounds, in bytes, how much of a program an open card shows.
const maxCode = 64 << 10

// nestedCalls are the calls that a script made, as rows of its card.
func (h *Handlers) nestedCalls(ctx context.Context, sess models.Session, made []models.NestedCall) ([]views.NestedCall, error) {
	rows := make([]views.NestedCall, len(made))
	for i, call := range made {
		var err error
		if rows[i], err = h.nestedCall(ctx, sess, call); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (h *Handlers) nestedCall(ctx context.Context, sess models.Session, made models.NestedCall) (views.NestedCall, error) {
	call := models.ToolCall{ID: made.ID, Name: made.Tool, Arguments: made.Arguments}
	row := views.NestedCall{ToolCard: views.ToolCard{
		SessionID: sess.ID, CallID: made.ID, Tool: made.Tool, Subject: subject(call), State: string(made.State), Failed: made.IsError,
		Took: -1, Exit: made.ExitCode, Signal: made.Signal, TimedOut: made.TimedOut, StartedAt: h.Now(),
	}, Unsaved: made.Unsaved}
	row.Unstarted = made.Unstarted && made.State != models.CallWaiting
	if made.ExecutionMS != nil {
		row.Took = time.Duration(*made.ExecutionMS) * time.Millisecond
	}
	if made.OutputID == "" {
		return row, nil
	}
	out, err := h.keptOutput(ctx, sess.ID, made.OutputID)
	if err != nil || out.gone {
		return row, err
	}
	row.OutputID, row.LeftOut = out.ID, out.TotalBytes
	row.Coverage, row.Incomplete = coverageOf(out), !out.Complete
	return row, nil
}

// nestedBody is the open card of a call that a script made: a page of what is
// kept of it.
func (h *Handlers) nestedBody(c echo.Context, sess models.Session, id string) error {
	ctx := c.Request().Context()
	parent, made, err := h.madeBy(ctx, sess.ID, id)
	if err != nil {
		return err
	}
	row, err := h.nestedCall(ctx, sess, made)
	if err != nil {
		return err
	}
	body := views.NestedBody{NestedCall: row, Parent: parent.ID}
	if row.OutputID == "" {
		return h.render(c, http.StatusOK, views.NestedBodyFragment(body))
	}
	out, err := h.Store.Output(ctx, sess.ID, row.OutputID)
	if err != nil {
		return err
	}
	if body.Pager, err = h.opened(c, out); err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.NestedBodyFragment(body))
}

// madeBy finds the call with the id among those of the script that made it.
func (h *Handlers) madeBy(ctx context.Context, sessionID, id string) (parent models.ToolCall, made models.NestedCall, err error) {
	none := models.Errorf(models.ErrNotFound, "call_not_found", "there is no such call in this session")
	parentID, nested := models.ParentCallID(id)
	if !nested {
		return parent, made, none
	}
	parent, result, err := h.Store.Call(ctx, sessionID, parentID)
	if err != nil || result == nil {
		if err == nil {
			err = none
		}
		return parent, made, err
	}
	calls := metadataOf(result).Calls
	at := slices.IndexFunc(calls, func(c models.NestedCall) bool { return c.ID == id })
	if at < 0 {
		return parent, made, none
	}
	return parent, calls[at], nil
}

// origin is the script within which an output was made, as its page names it;
// nil where the model itself made the call.
func (h *Handlers) origin(ctx context.Context, out models.RetainedOutput) (*views.Origin, error) {
	parentID, nested := models.ParentCallID(out.CallID)
	if !nested {
		return nil, nil
	}
	parent, result, err := h.Store.Call(ctx, out.SessionID, parentID)
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	origin := views.Origin{CallID: parent.ID}
	if result != nil {
		origin.OutputID = metadataOf(result).OutputID
	}
	return &origin, nil
}

// nested adds a call to the card of the script that makes it, or shows how it
// ended.
func (f *framer) nested(ctx context.Context, e events.Event) ([]frame, error) {
	row, err := f.h.nestedCall(ctx, f.sess, *e.Nested)
	if err != nil {
		return nil, err
	}
	content, err := f.html(ctx, "#t-"+e.CallID+"-calls", "beforeend", views.NestedRow(row))
	content.Optional = true // it has ended, and its card has all of them
	return []frame{content}, err
}
