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
	query, when, err := h.historyQuery(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	query.OwnerID = me(c)
	list, next, err := h.Store.SessionStats(ctx, query)
	if err != nil {
		return err
	}
	page := views.History{Query: query.Text, In: string(query.In), When: when, Next: next, Sessions: len(list)}
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
	page.Groups = views.GroupHistory(items, query.Text != "", h.today(ctx))
	if err := h.besideHistory(c, &page); err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.HistoryPage(page))
}

// historyQuery is which sessions are asked for, and the time as the address says
// it.
func (h *Handlers) historyQuery(c echo.Context) (query models.SessionQuery, when string, err error) {
	if query, err = sessionQuery(c); err != nil {
		return query, "", err
	}
	if query.In = models.SearchPart(c.QueryParam("in")); !query.In.Valid() {
		return query, "", badParameter("in", "messages, outputs or titles, or left out")
	}
	when = c.QueryParam("when")
	query.From, query.To, err = span(when, h.today(c.Request().Context()))
	return query, when, err
}

// span is the time that a word of an address means, in now's zone: the last so
// many days, this one included, or a month such as 2026-11.
func span(when string, now time.Time) (from, to time.Time, err error) {
	if when == "" {
		return from, to, nil
	}
	if days, ok := views.HistoryDays[when]; ok {
		year, month, day := now.Date()
		return time.Date(year, month, day+1-days, 0, 0, 0, 0, now.Location()), to, nil
	}
	month, err := time.ParseInLocation(views.MonthInAddress, when, now.Location())
	if err != nil {
		return from, to, badParameter("when", "today, 7d, 30d or a month such as 2026-11")
	}
	return month, month.AddDate(0, 1, 0), nil
}

// maxMonths is how many months one can choose from: two years.
const maxMonths = 24

// months are those since a time, in now's zone, the newest first.
func months(since, now time.Time) (list []time.Time) {
	if since.IsZero() {
		return nil
	}
	year, month, _ := now.Date()
	for at := time.Date(year, month, 1, 0, 0, 0, 0, now.Location()); len(list) < maxMonths; at = at.AddDate(0, -1, 0) {
		list = append(list, at)
		if !at.After(since) {
			break
		}
	}
	return list
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
	snips, places := map[string][]views.Snip{}, map[string]int{}
	if len(words) > 0 {
		places, err = h.Store.Places(ctx, query, ids, shownPlaces, func(place models.Place) {
			snips[place.SessionID] = append(snips[place.SessionID], snip(place, words))
		})
		if err != nil {
			return nil, err
		}
	}
	items := make([]views.HistoryItem, len(list))
	for i, s := range list {
		items[i] = historyItem(s)
		items[i].Snips, items[i].More = snips[s.ID], places[s.ID]-len(snips[s.ID])
	}
	return items, nil
}

func historyItem(s models.SessionStats) views.HistoryItem {
	return views.HistoryItem{
		SessionItem: sessionItem(s.Session, ""), Archived: s.Archived, Outputs: s.Outputs, OutputBytes: s.OutputBytes,
	}
}

func snip(place models.Place, words []string) views.Snip {
	s := views.Snip{SessionID: place.SessionID, MessageID: place.MessageID, Role: string(place.Role), At: place.CreatedAt}
	if !place.Shown {
		s.Elsewhere = place.TurnID
	}
	for _, part := range find.Excerpt(place.Content, words, excerptWidth) {
		s.Spans = append(s.Spans, views.Span(part))
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
	page.Storage = views.Storage{
		Sessions: kept.Sessions, Archived: kept.Archived, Outputs: kept.Outputs, UsedBytes: kept.UsedBytes, QuotaBytes: kept.QuotaBytes,
	}
	page.Months = months(kept.Since, h.today(ctx))
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
