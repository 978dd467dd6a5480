package handlers

import (
	"net/http"

	"offcut/views"

	"github.com/labstack/echo/v4"
)

// AdminStorage says what is stored, by whom, and what the retention policy does.
func (h *Handlers) AdminStorage(c echo.Context) error {
	page, err := pageOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	users, next, err := h.Store.UserStats(ctx, page)
	if err != nil {
		return err
	}
	files, err := h.Store.FileSizes(ctx)
	if err != nil {
		return err
	}
	spaces, err := h.Workspaces.TotalBytes(ctx)
	if err != nil {
		return err
	}
	policy := h.Retention.Policy()
	v := views.AdminStorage{
		Database: files.Database, Free: files.Free, Log: files.Log, Workspaces: spaces, Quota: h.QuotaBytes,
		Policy: views.Retention{MaxAge: policy.MaxAge, MaxBytesPerUser: policy.MaxBytesPerUser},
		Steps:  views.StepsOf("/admin/storage", c.QueryParams(), next),
	}
	if last, ok := h.Retention.LastSweep(); ok {
		v.Policy.Sweep = &views.Sweep{At: last.At, Removed: last.Removed, Freed: last.Freed, Failed: last.Failed}
	}
	for _, u := range users {
		v.Users = append(v.Users, views.StoredBy{Name: u.Name, Sessions: u.Sessions, Bytes: u.StoredBytes})
	}
	return h.render(c, http.StatusOK, views.AdminStoragePage(v))
}
