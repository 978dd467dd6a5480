package handlers

import (
	"errors"
	"sync"

	"offcut/models"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"
)

// deletionsAtOnce is how many sessions are deleted at a time: each may have to
// wait until what runs in it has ended.
const deletionsAtOnce = 8

// deleteAll deletes sessions as deleteSession does each of them, and returns which
// are gone and how many are still there. One that was gone before is neither.
func (h *Handlers) deleteAll(c echo.Context, list []models.SessionStats, reason string) (gone []string, failed int) {
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(deletionsAtOnce)
	for _, one := range list {
		group.Go(func() error {
			err := h.deleteSession(c, one.Session, reason)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				gone = append(gone, one.ID)
			case !errors.Is(err, models.ErrNotFound):
				failed++
				h.logFault(c, err)
			}
			return nil
		})
	}
	_ = group.Wait() // what failed is counted
	return gone, failed
}
