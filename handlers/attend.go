package handlers

import (
	"context"
	"errors"
	"net/http"
	"time"

	"offcut/models"

	"github.com/labstack/echo/v4"
)

// attended answers a request as long as who sent it may: one that takes long, a
// wait or a download, is ended soon after its user is disabled, its token revoked
// or its browser signed out, and where an administrator is none any more. who gives
// the user as they are then, and is models.ErrUnauthorized where they are shut out.
func (h *Handlers) attended(c echo.Context, who func(context.Context) (models.User, error), next echo.HandlerFunc) error {
	began, _ := CurrentUser(c)
	still := func(ctx context.Context) error {
		user, err := who(ctx)
		if err == nil && began.Admin() && !user.Admin() {
			return errAdminsOnly
		}
		return err
	}
	r := c.Request()
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	c.Set(stillKey, still)
	c.SetRequest(r.WithContext(ctx))
	defer c.SetRequest(r) // whose context an error is answered with
	conn := http.NewResponseController(c.Response())
	var cut error
	looked := make(chan struct{})
	look := time.AfterFunc(lookEvery, func() {
		defer close(looked)
		if cut = untilNot(ctx, still); cut != nil {
			now := time.Now() // ends what waits for the client
			_, _ = conn.SetReadDeadline(now), conn.SetWriteDeadline(now)
			cancel(cut)
		}
	})
	err := next(c)
	if !look.Stop() {
		cancel(nil)
		<-looked
	}
	if cut == nil {
		return err
	}
	if c.Response().Committed {
		h.Log.InfoContext(ctx, "request cut: who sent it may not any more", "request", RequestID(c))
		panic(http.ErrAbortHandler) // the client sees that the answer is not whole
	}
	_ = conn.SetWriteDeadline(time.Time{})
	c.Response().Header().Set(echo.HeaderConnection, "close") // which was ended for all that it would carry next
	return cut
}

const stillKey = "offcut.still"

// stillMay is an error where who sent a request may not read its answer any more: it
// is asked after a wait, which what they were shut out of may itself have ended.
func stillMay(c echo.Context) error {
	still, ok := c.Get(stillKey).(func(context.Context) error)
	if !ok {
		return nil
	}
	return still(c.Request().Context())
}

// untilNot looks every while whether somebody still may, and returns the error that
// says that they may not; nil where ctx ends before. A database that does not
// answer says nothing.
func untilNot(ctx context.Context, still func(context.Context) error) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		if err := still(ctx); errors.Is(err, models.ErrUnauthorized) || errors.Is(err, models.ErrForbidden) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
