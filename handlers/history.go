package handlers

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"offcut/models"
	"offcut/models/find"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

const (
	// shownPlaces is how many places of one session a search shows.
	shownPlaces = 3
	// excerptWidth is about how many characters of each are shown.
	excerptWidth = 180
	// shownArchive is how many sessions of the archive stand beside the list.
	shownArchive = 4
)

// History is the page of all the user's own sessions, or of those in which
// something was found.
func (h *Handlers) History(c echo.Context) error {
	query, err := sessionQuery(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	query.OwnerID = me(c)
	list, next, err := h.Store.SessionStats(ctx, query)
	if err != nil {
		return err
	}
	page := views.History{Query: query.Text, Next: next, Sessions: len(list)}
	if query.Archived != nil {
		page.Archived = strconv.FormatBool(*query.Archived)
	}
	items, err := h.found(ctx, query, list)
	if err != nil {
		return err
	}
	for _, item := range items {
		page.Places += len(item.Snips) + item.More
	}
	page.Groups = views.GroupHistory(items, query.Text != "", h.Now())
	if err := h.besideHistory(c, &page); err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.HistoryPage(page))
}

// found are the sessions of a list with the places that were found in them.
func (h *Handlers) found(ctx context.Context, query models.SessionQuery, list []models.SessionStats) ([]views.HistoryItem, error) {
	ids := make([]string, len(list))
	for i, s := range list {
		ids[i] = s.ID
	}
	words, err := find.Words(query.Text)
	if err != nil {
		return nil, err
	}
	var places map[string]models.Places
	if len(words) > 0 {
		if places, err = h.Store.Places(ctx, query.OwnerID, query.Text, ids, shownPlaces); err != nil {
			return nil, err
		}
	}
	items := make([]views.HistoryItem, len(list))
	for i, s := range list {
		items[i] = historyItem(s)
		for _, place := range places[s.ID].Best {
			items[i].Snips = append(items[i].Snips, snip(place, words))
		}
		items[i].More = places[s.ID].Total - len(items[i].Snips)
	}
	return items, nil
}

func historyItem(s models.SessionStats) views.HistoryItem {
	return views.HistoryItem{
		SessionItem: sessionItem(s.Session, ""), Archived: s.Archived, Outputs: s.Outputs, OutputBytes: s.OutputBytes,
	}
}

func snip(place models.Place, words []string) views.Snip {
	s := views.Snip{SessionID: place.SessionID, MessageID: place.MessageID, Role: string(place.Role), At: place.CreatedAt.In(time.Local)}
	for _, span := range find.Excerpt(place.Content, words, excerptWidth) {
		s.Spans = append(s.Spans, views.Span(span))
	}
	return s
}

// besideHistory fills in what stands beside the list.
func (h *Handlers) besideHistory(c echo.Context, page *views.History) error {
	ctx := c.Request().Context()
	var err error
	if page.Sidebar, err = h.historySidebar(c); err != nil {
		return err
	}
	kept, err := h.Store.Storage(ctx, me(c))
	if err != nil {
		return err
	}
	page.Storage = views.Storage(kept)
	archive, _, err := h.Store.Sessions(ctx, models.SessionQuery{
		OwnerID: me(c), Archived: models.Ptr(true), Page: models.Page{Limit: shownArchive},
	})
	for _, s := range archive {
		page.Archive = append(page.Archive, sessionItem(s, ""))
	}
	return err
}

func (h *Handlers) historySidebar(c echo.Context) (views.Sidebar, error) {
	sidebar, err := h.sessionsOf(c.Request().Context(), me(c), "", "", "")
	sidebar.History = true
	return sidebar, err
}
