package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"offcut/agent/events"
	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// maxAsked bounds, in bytes, each text of what is asked about; the whole is
// fetched by who wants to see it.
const maxAsked = 4 << 10

// asks are the calls of a turn that wait for somebody, as a page shows them.
func (h *Handlers) asks(ctx context.Context, turn models.Turn) ([]views.Ask, error) {
	waiting, err := h.waiting(ctx, turn)
	if err != nil {
		return nil, err
	}
	asks := make([]views.Ask, len(waiting))
	for i, a := range waiting {
		asks[i] = views.Ask{
			SessionID: a.SessionID, TurnID: a.TurnID, CallID: a.CallID, Tool: a.Tool,
			Kind: a.Deed, Folder: a.Folder, Body: askBody(a, maxAsked),
		}
		if a.Unconfined {
			asks[i].Kind = views.AskUnconfined
		}
	}
	return asks, nil
}

// askBody is what a call would do, each text of it at most so many bytes long.
// What its arguments hold beside that is shown too: nothing that runs is left
// out.
func askBody(a models.Approval, most int) views.AskBody {
	body := views.AskBody{SessionID: a.SessionID, CallID: a.CallID}
	arguments := map[string]any{}
	_ = json.Unmarshal([]byte(a.Arguments), &arguments) // what is no object is shown as it is
	take := func(name string) string {
		text, ok := arguments[name].(string)
		if !ok {
			return ""
		}
		delete(arguments, name)
		body.Lines, body.End = ending(text, most)
		text, more := shortened(text, most)
		if more > 0 {
			body.Bytes = int64(len(a.Arguments))
		}
		return text
	}
	switch a.Tool {
	case "run_command":
		body.Text, body.Command = take("command"), true
	case "run_script":
		body.Text = take("code")
	case "write_file":
		body.Path, body.Added = take("path"), take("content")
	case "edit_file":
		body.Path, body.Removed, body.Added = take("path"), take("old_string"), take("new_string")
	}
	switch {
	case body.Text == "" && body.Path == "":
		body = views.AskBody{SessionID: a.SessionID, CallID: a.CallID}
		var more int64
		if body.Text, more = shortened(spread(a.Arguments), most); more > 0 {
			body.Bytes = int64(len(a.Arguments))
		}
	case len(arguments) > 0:
		rest, _ := json.Marshal(arguments) // it was JSON
		body.Rest, _ = shortened(string(rest), most)
	}
	return body
}

// boxLines are the lines that are seen of a text without scrolling.
const boxLines = 12

// ending tells of a text that is not seen all at once how long it is and what
// its last line says: what stands far down is not to be overlooked.
func ending(text string, most int) (lines int64, last string) {
	text = strings.TrimRight(text, " \t\r\n")
	n := strings.Count(text, "\n") + 1
	if n <= boxLines && len(text) <= most {
		return 0, ""
	}
	last = text[strings.LastIndexByte(text, '\n')+1:]
	return int64(n), strings.ToValidUTF8(last[max(0, len(last)-endBytes):], "")
}

// endBytes bounds the last line that is shown, to its end.
const endBytes = 200

// AskedWhole is what a call that waits would do, in full. Without scripts it is
// plain text.
func (h *Handlers) AskedWhole(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	a, err := h.Store.Approval(c.Request().Context(), sess.ID, c.Param("call"))
	if err != nil {
		return err
	}
	if !isFragment(c) {
		return c.String(http.StatusOK, spread(a.Arguments))
	}
	return h.render(c, http.StatusOK, views.AskBodyFragment(askBody(a, len(a.Arguments))))
}

// grants are the tools that run in a session without asking.
func (h *Handlers) grants(ctx context.Context, sessionID string) ([]views.Grant, error) {
	list, err := h.Store.Grants(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	grants := make([]views.Grant, len(list))
	for i, g := range list {
		grants[i] = views.Grant{Tool: g.Tool}
	}
	return grants, nil
}

// approval shows what waits in a turn, and what runs in the session without
// asking.
func (f *framer) approval(ctx context.Context, e events.Event) ([]frame, error) {
	var frames []frame
	if !f.layout.ReadOnly {
		grants, err := f.h.grants(ctx, f.sess.ID)
		if err != nil {
			return nil, err
		}
		shown, err := f.html(ctx, "#grants", "outerHTML", views.GrantsFragment(f.sess.ID, grants))
		if err != nil {
			return nil, err
		}
		shown.Optional = true // a page that one only reads has no such place
		frames = append(frames, shown)
	}
	if e.TurnID == "" {
		return frames, nil
	}
	turn, err := f.h.Store.AnyTurn(ctx, e.TurnID)
	if err != nil || turn.State.Final() { // its end shows the whole answer anew
		return frames, err
	}
	asks, err := f.h.asks(ctx, turn)
	if err != nil {
		return nil, err
	}
	footer, err := f.html(ctx, "#f-"+turn.ID, "outerHTML", views.TurnFooter(f.h.turnEnd(turnMessages{turn: turn})))
	if err != nil {
		return nil, err
	}
	block, err := f.html(ctx, "#q-"+turn.ID, "outerHTML", views.AsksFragment(turn.ID, asks))
	block.Type = "approval"
	return append(frames, footer, block), err
}
