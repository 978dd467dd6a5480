package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"offcut/models"
	"offcut/views"
	"offcut/views/i18n"

	"github.com/labstack/echo/v4"
)

// kinds holds the status and the sentence of each kind of error. The sentence
// serves where the error itself has none for people.
var kinds = []struct {
	kind     error
	status   int
	code     string
	sentence string
}{
	{models.ErrNotFound, http.StatusNotFound, "not_found", "there is nothing here; it may have been deleted, or belong to somebody else"},
	{models.ErrMalformed, http.StatusBadRequest, "malformed", "the request cannot be understood"},
	{models.ErrInvalid, http.StatusUnprocessableEntity, "invalid", "the request was understood and refused"},
	{models.ErrUnauthorized, http.StatusUnauthorized, "unauthorized", "you are not signed in"},
	{models.ErrForbidden, http.StatusForbidden, "forbidden", "you may not do this"},
	{models.ErrConflict, http.StatusConflict, "conflict", "this is not possible now; read it again and try once more"},
	{models.ErrTooLarge, http.StatusRequestEntityTooLarge, "too_large", "this is over its limit"},
	{models.ErrLimited, http.StatusTooManyRequests, "too_many_requests", "too many requests; wait a little and try again"},
	{models.ErrUnavailable, http.StatusServiceUnavailable, "unavailable", "the server cannot do this now; try again in a little while"},
}

// failure is an error as it is answered.
type failure struct {
	status     int
	code       string
	message    string // in English, until it is put into a language by in
	args       map[string]any
	details    map[string]any
	retryAfter time.Duration
}

// in is the failure with its sentence in the language of ctx.
func (f failure) in(ctx context.Context) failure {
	f.message = i18n.Error(ctx, f.code, f.message, f.args)
	return f
}

// said is the sentence of an error for people, in the language of ctx.
func said(ctx context.Context, err error) string { return describe(err).in(ctx).message }

// Fail answers a request that came to an error. It is the one place where
// kinds become statuses; only what is the server's own fault is logged.
func (h *Handlers) Fail(err error, c echo.Context) {
	if c.Response().Committed {
		h.logFault(c, err)
		return
	}
	if errors.Is(err, context.Canceled) && c.Request().Context().Err() != nil {
		return // nobody waits for an answer
	}
	f := describe(err)
	if f.status >= http.StatusInternalServerError {
		h.logFault(c, err)
	}
	setRetryAfter(c, f.retryAfter)
	c.Response().Header().Set("Cache-Control", "no-store")
	if h.isAPI(c) {
		err = h.failProgram(c, f)
	} else {
		err = h.failBrowser(c, f.in(i18n.With(c.Request().Context(), languageOf(c))))
	}
	if err != nil {
		h.logFault(c, fmt.Errorf("answer with an error: %w", err))
	}
}

// setRetryAfter says how long to wait, in whole seconds; nothing where there is
// no wait.
func setRetryAfter(c echo.Context, wait time.Duration) {
	if wait > 0 {
		c.Response().Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
}

func (h *Handlers) logFault(c echo.Context, err error) {
	h.Log.ErrorContext(c.Request().Context(), "request failed",
		"request", RequestID(c), "method", c.Request().Method, "path", c.Request().URL.Path, "error", err)
}

// isAPI reports whether problem documents are spoken at the address.
func (h *Handlers) isAPI(c echo.Context) bool {
	path, _ := strings.CutPrefix(c.Request().URL.Path, h.BasePath)
	return path == "/api" || strings.HasPrefix(path, "/api/") || path == "/healthz" || path == "/readyz" || path == "/metrics"
}

// isOfHistory reports whether the request came from the page of all sessions.
func (h *Handlers) isOfHistory(c echo.Context) bool {
	return strings.HasPrefix(c.Request().URL.Path, h.BasePath+"/history/")
}

func describe(err error) failure {
	var (
		own     *models.Error
		framed  *echo.HTTPError
		tooLong *http.MaxBytesError
	)
	switch {
	case errors.As(err, &tooLong):
		return failure{
			status: http.StatusRequestEntityTooLarge, code: "body_too_large",
			message: fmt.Sprintf("the request's body has more than the %d bytes that it may have", tooLong.Limit),
			args:    map[string]any{"most": tooLong.Limit},
			details: map[string]any{"limit": tooLong.Limit},
		}
	case errors.As(err, &own):
		f := ofKind(own.Kind)
		f.code, f.message, f.args, f.details, f.retryAfter = own.Code, own.Message, own.Args, own.Details, own.RetryAfter
		if f.status == http.StatusTooManyRequests && f.retryAfter <= 0 {
			f.retryAfter = time.Second
		}
		return f
	case errors.As(err, &framed):
		return ofStatus(framed.Code)
	case errors.Is(err, context.DeadlineExceeded):
		return ofKind(models.ErrUnavailable)
	}
	return ofKind(err)
}

func ofKind(err error) failure {
	for _, k := range kinds {
		if errors.Is(err, k.kind) {
			return failure{status: k.status, code: k.code, message: k.sentence}
		}
	}
	return failure{
		status: http.StatusInternalServerError, code: "internal",
		message: "something went wrong on the server; the log has the details under this request's id",
	}
}

// ofStatus describes an error of the router or of a middleware.
func ofStatus(status int) failure {
	if status == http.StatusMethodNotAllowed {
		return failure{status: status, code: "method_not_allowed", message: "this address does not take requests of this method"}
	}
	for _, k := range kinds {
		if k.status == status {
			return failure{status: status, code: k.code, message: k.sentence}
		}
	}
	if status >= 400 && status < 500 {
		return failure{status: status, code: "malformed", message: strings.ToLower(http.StatusText(status))}
	}
	return ofKind(nil)
}

// failProgram answers with a problem document (RFC 9457).
func (h *Handlers) failProgram(c echo.Context, f failure) error {
	problem := map[string]any{}
	maps.Copy(problem, f.details)
	problem["type"] = "about:blank"
	problem["title"] = http.StatusText(f.status)
	problem["status"] = f.status
	problem["code"] = f.code
	problem["detail"] = f.message
	problem["request_id"] = RequestID(c)
	if f.status == http.StatusUnauthorized {
		c.Response().Header().Set("WWW-Authenticate", `Bearer realm="offcut"`)
	}
	body, err := json.Marshal(problem)
	if err != nil {
		return fmt.Errorf("write a problem document: %w", err)
	}
	return c.Blob(f.status, "application/problem+json", body)
}

// failBrowser answers with a page, with a piece of one for a script, or with
// the way to the sign-in page. The sign-in page is never put into a fragment.
func (h *Handlers) failBrowser(c echo.Context, f failure) error {
	if f.status == http.StatusUnauthorized {
		return h.askToSignIn(c, f)
	}
	v := views.Failure{Status: f.status, Code: f.code, Message: f.message, SessionID: c.Param("session"), OfHistory: h.isOfHistory(c)}
	if f.status >= http.StatusInternalServerError {
		v.Reference = RequestID(c)
	}
	if id, ok := f.details["original"].(string); ok {
		v.Original = id
	}
	if isFragment(c) {
		return h.render(c, f.status, views.ErrorFragment(v))
	}
	return h.render(c, f.status, views.ErrorPage(v))
}

func (h *Handlers) askToSignIn(c echo.Context, f failure) error {
	if isFragment(c) {
		c.Response().Header().Set("HX-Redirect", h.signInAddress(currentPage(c)))
		return c.NoContent(http.StatusUnauthorized)
	}
	if c.Request().Method == http.MethodGet && !c.IsWebSocket() {
		return c.Redirect(http.StatusSeeOther, h.signInAddress(c.Request().URL.RequestURI()))
	}
	return h.render(c, f.status, views.ErrorPage(views.Failure{Status: f.status, Code: f.code, Message: f.message}))
}
