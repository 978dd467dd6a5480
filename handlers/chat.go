package handlers

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// Home is the page of a new chat.
func (h *Handlers) Home(c echo.Context) error { return h.home(c, http.StatusOK, "", "") }

// home is the page of a new chat with a draft that could not be sent, and why.
func (h *Handlers) home(c echo.Context, status int, draft, problem string) error {
	sidebar, err := h.sidebar(c, "")
	if err != nil {
		return err
	}
	picker := h.picker(models.Session{})
	if chosen := c.FormValue("model"); slices.Contains(h.Models, chosen) {
		picker.Chosen = chosen // of a message that is given back
	}
	return h.render(c, status, views.ChatPage(views.Chat{Sidebar: sidebar, Picker: picker, Draft: draft, Problem: problem}))
}

// Chat is the page of one session.
func (h *Handlers) Chat(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	if message := q.text("at"); message != "" {
		return h.chatAt(c, sess, message)
	}
	return h.chat(c, http.StatusOK, sess, page{})
}

// LogFragment is the newest part of a conversation, for a page that has lost
// its place, or what was said before a cursor, or up to a turn. Without scripts it
// is a page.
func (h *Handlers) LogFragment(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	before := q.text("before")
	if turn := q.text("upto"); turn != "" {
		if before, _, err = h.Store.After(ctx, sess.ID, turn); err != nil {
			return err
		}
	}
	if !isFragment(c) {
		return h.chat(c, http.StatusOK, sess, page{before: before})
	}
	live := h.Runner.Live(sess.ID)
	log, err := h.log(ctx, sess, before, live)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.LogFragment(log))
}

// page is what a chat page shows beside the newest of its session.
type page struct {
	before  string        // the cursor before which the messages were said; empty: the newest
	later   string        // the first message after these, of a page that shows the past
	draft   string        // a text that could not be sent
	problem string        // why
	alone   []views.Entry // shown in the place of the messages; nil: they are shown
}

// chat is the page of one session.
func (h *Handlers) chat(c echo.Context, status int, sess models.Session, p page) error {
	ctx := c.Request().Context()
	live := h.Runner.Live(sess.ID) // before the store is read
	log, err := h.log(ctx, sess, p.before, live)
	if err != nil {
		return err
	}
	if p.alone != nil {
		log.Older, log.Entries = "", p.alone
	}
	behind := log.Behind
	log.Behind = views.Behind{} // the page has it in its own place
	sidebar, err := h.sidebar(c, sess.ID)
	if err != nil {
		return err
	}
	grants, err := h.grants(ctx, sess.ID)
	if err != nil {
		return err
	}
	return h.render(c, status, views.ChatPage(views.Chat{
		Grants:    grants,
		SessionID: sess.ID, Title: sess.Title, Pinned: sess.Pinned, Archived: sess.Archived, Seq: live.Seq, RunningTurn: live.TurnID,
		Owner: sess.OwnerName, Picker: h.picker(sess), ForkedFrom: h.original(c, sess), Sidebar: sidebar, Log: log, Behind: behind, Later: p.later, Draft: p.draft, Problem: p.problem,
	}))
}

// Card is the body of a tool card, fetched when it is first opened.
func (h *Handlers) Card(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	id := c.Param("call")
	call, result, err := h.Store.Call(ctx, sess.ID, id)
	if _, nested := models.ParentCallID(id); nested && isNotFound(err) {
		return h.nestedBody(c, sess, id)
	}
	if err != nil {
		return err
	}
	if result == nil {
		return h.render(c, http.StatusOK, views.CardBodyFragment(views.CardBody{
			SessionID: sess.ID, CallID: call.ID, Tool: call.Name, Subject: subject(call),
			Arguments: indented(call.Arguments), Ended: views.CardWaiting,
		}))
	}
	body, err := h.cardBody(ctx, sess, call, result)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.CardBodyFragment(body))
}

// Goes says what a deletion of the session takes with it, to who is about to
// delete it.
func (h *Handlers) Goes(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	list, _, err := h.Store.SessionStats(c.Request().Context(), models.SessionQuery{
		OwnerID: sess.OwnerID, ID: sess.ID, Page: models.Page{Limit: 1},
	})
	switch {
	case err != nil:
		return err
	case len(list) == 0:
		return errNoSession // deleted in this moment
	}
	return h.render(c, http.StatusOK, views.GoesFragment(views.Goes{
		Messages: list[0].Messages, Outputs: list[0].Outputs, OutputBytes: list[0].OutputBytes,
	}))
}

// idLetters are the characters of ids.
const idLetters = "abcdefghijklmnopqrstuvwxyz0123456789_"

// SidebarFragment is the list of sessions, or what follows a cursor in it.
func (h *Handlers) SidebarFragment(c echo.Context) error {
	current := ""
	if path, ok := strings.CutPrefix(currentPage(c), h.BasePath+"/s/"); ok {
		current = strings.TrimSuffix(path, strings.TrimLeft(path, idLetters))
	}
	sidebar, err := h.sidebar(c, current)
	if err != nil {
		return err
	}
	if !isFragment(c) { // the search of a page without scripts
		return h.render(c, http.StatusOK, views.ChatPage(views.Chat{Sidebar: sidebar, Picker: h.picker(models.Session{})}))
	}
	return h.render(c, http.StatusOK, views.SidebarFragment(sidebar))
}

// sidebar is the user's own sessions beside a page. On the address of the list
// itself, its parameters choose the part.
func (h *Handlers) sidebar(c echo.Context, current string) (views.Sidebar, error) {
	var text, cursor string
	if strings.HasSuffix(c.Path(), "/sessions") && c.Request().Method == http.MethodGet {
		q, err := queryOf(c)
		if err != nil {
			return views.Sidebar{}, err
		}
		if text, err = q.search(); err != nil {
			return views.Sidebar{}, err
		}
		cursor = q.text("cursor")
	}
	return h.sessionsOf(c.Request().Context(), me(c), current, text, cursor)
}

func (h *Handlers) sessionsOf(ctx context.Context, owner, current, text, cursor string) (views.Sidebar, error) {
	list, next, err := h.Store.Sessions(ctx, models.SessionQuery{
		OwnerID: owner, Text: text, In: sidebarPart(text), Archived: models.Ptr(false), Page: models.Page{Cursor: cursor},
	})
	if err != nil {
		return views.Sidebar{}, err
	}
	items := make([]views.SessionItem, len(list))
	for i, s := range list {
		items[i] = sessionItem(s, current)
	}
	sidebar := views.Sidebar{Groups: views.GroupSessions(items, h.today(ctx)), Query: text}
	if next != "" {
		params := url.Values{"cursor": {next}}
		if text != "" {
			params.Set("q", text)
		}
		sidebar.More = "/sessions?" + params.Encode()
	}
	return sidebar, nil
}

// sidebarPart is where the list beside a conversation looks for a text while it
// is typed: a single character is looked for in titles alone, because no index
// knows where one stands.
func sidebarPart(text string) models.SearchPart {
	for word := range strings.FieldsSeq(text) {
		if utf8.RuneCountInString(word) < 2 {
			return models.SearchTitles
		}
	}
	return models.SearchAll
}

// sessionItem is a session as lists show it.
func sessionItem(s models.Session, current string) views.SessionItem {
	return views.SessionItem{
		ID: s.ID, Title: s.Title, Pinned: s.Pinned, Running: s.Running, Current: s.ID == current,
		UpdatedAt: s.UpdatedAt,
	}
}
