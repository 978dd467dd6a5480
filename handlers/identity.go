package handlers

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"time"

	"offcut/models"

	"github.com/labstack/echo/v4"
)

const userKey = "offcut.user"

// CurrentUser is who makes the request. Behind the sign-in middlewares it is
// always somebody.
func CurrentUser(c echo.Context) (models.User, bool) {
	u, ok := c.Get(userKey).(models.User)
	return u, ok
}

// me is the id of who makes the request.
func me(c echo.Context) string {
	u, _ := CurrentUser(c)
	return u.ID
}

var (
	errNoToken = models.Errorf(models.ErrUnauthorized, "unauthorized",
		"this call needs a token in the header Authorization: Bearer; an administrator makes one with: offcut token create --user NAME")
	errBadToken = models.Errorf(models.ErrUnauthorized, "unauthorized",
		"the token is unknown, or its user is disabled")
	errAdminsOnly = models.Errorf(models.ErrForbidden, "forbidden", "only administrators may do this")
	errSignedOut  = models.Errorf(models.ErrUnauthorized, "signed_out", "you are not signed in; sign in and try again")
)

// WithToken lets only requests with a valid bearer token through. An address
// that has sent too many that are not has to wait, so that none is guessed; a
// token that nobody guesses is let through all the same: behind a proxy the
// address may be everybody's.
func (h *Handlers) WithToken(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		token, ok := bearer(c.Request().Header.Get(echo.HeaderAuthorization))
		if !ok {
			return errNoToken
		}
		address, now := network(c.RealIP()), h.Now()
		wait, spent := h.tokens.spent(address, now)
		user, err := h.userByToken(c.Request().Context(), token)
		wrong := errors.Is(err, models.ErrUnauthorized)
		switch {
		case spent && (wrong || h.guessable(token)):
			return tooManyTokens(wait)
		case wrong:
			h.tokens.take(address, now)
			return errBadToken
		case err != nil:
			return err
		}
		c.Set(userKey, user)
		return h.attended(c, func(ctx context.Context) (models.User, error) { return h.userByToken(ctx, token) }, next)
	}
}

func tooManyTokens(wait time.Duration) error {
	return &models.Error{
		Kind: models.ErrLimited, Code: "too_many_bad_tokens", RetryAfter: wait,
		Message: "too many requests with wrong tokens came from your address; wait a little and try again",
	}
}

// WithCookie lets only requests of somebody who is signed in through.
func (h *Handlers) WithCookie(next echo.HandlerFunc) echo.HandlerFunc {
	return h.Watching(func(c echo.Context) error {
		// A form may itself end the sign-in that it came with.
		if method := c.Request().Method; method != http.MethodGet && method != http.MethodHead {
			return next(c)
		}
		cookie := cookieValue(c)
		return h.attended(c, func(context.Context) (models.User, error) {
			// Not the request's context: it holds who was signed in when it began.
			return h.userOfCookie(context.Background(), cookie)
		}, next)
	})
}

// Watching is WithCookie for live connections, which look by themselves whether
// who opened them still may.
func (h *Handlers) Watching(next echo.HandlerFunc) echo.HandlerFunc {
	return h.cookies.attach(func(c echo.Context) error {
		user, err := h.signedIn(c.Request().Context())
		if err != nil {
			return err
		}
		c.Set(userKey, user)
		adapt(c)
		return next(c)
	})
}

// Visiting knows who is signed in where somebody is, and lets everybody
// through.
func (h *Handlers) Visiting(next echo.HandlerFunc) echo.HandlerFunc {
	return h.cookies.attach(func(c echo.Context) error {
		user, err := h.signedIn(c.Request().Context())
		if err == nil {
			c.Set(userKey, user)
		} else if !errors.Is(err, models.ErrUnauthorized) {
			return err
		}
		adapt(c)
		return next(c)
	})
}

// AdminsOnly lets only administrators through; it stands behind WithToken or
// WithCookie.
func AdminsOnly(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if u, _ := CurrentUser(c); !u.Admin() {
			return errAdminsOnly
		}
		return next(c)
	}
}

func bearer(header string) (string, bool) {
	scheme, token, found := strings.Cut(header, " ")
	token = strings.TrimSpace(token)
	return token, found && strings.EqualFold(scheme, "Bearer") && token != ""
}

// userByToken is whom a token lets act; it is models.ErrUnauthorized where it is
// nobody, or somebody who is disabled.
func (h *Handlers) userByToken(ctx context.Context, token string) (models.User, error) {
	if !h.isAdminToken(token) {
		return h.Store.UserByTokenHash(ctx, models.HashSecret(token))
	}
	user, err := h.Store.UserByName(ctx, h.AdminName)
	if errors.Is(err, models.ErrNotFound) || err == nil && user.Disabled {
		return models.User{}, errBadToken
	}
	return user, err
}

// guessable: it is the admin's token, and so short that tries may lead to it. The
// program's own tokens are long.
func (h *Handlers) guessable(token string) bool {
	return len(token) < models.SafeSecretLength && h.isAdminToken(token)
}

// isAdminToken compares in constant time, and hashes first so that not even
// the length shows.
func (h *Handlers) isAdminToken(token string) bool {
	if h.AdminToken == "" {
		return false
	}
	return subtle.ConstantTimeCompare([]byte(models.HashSecret(token)), []byte(models.HashSecret(h.AdminToken))) == 1
}
