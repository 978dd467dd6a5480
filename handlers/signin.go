package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"offcut/handlers/password"
	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

var (
	errBadLink = models.Errorf(models.ErrUnauthorized, "bad_link",
		"This sign-in link is unknown, was used before, or has expired.")
	errWrongPassword = errors.New("name or password is wrong")
)

// LoginPage shows the sign-in form. With a token in the address it signs in
// and redirects to an address without it.
func (h *Handlers) LoginPage(c echo.Context) error {
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	next := h.ownPath(q.text("next"))
	if token := q.text("token"); token != "" && c.Request().Method == http.MethodGet {
		return h.signInByToken(c, token, next)
	}
	if _, ok := CurrentUser(c); ok {
		return h.goTo(c, orHome(next))
	}
	return h.showLogin(c, http.StatusOK, views.Login{Next: next, BadLink: q.text("problem") == badLink})
}

func (h *Handlers) showLogin(c echo.Context, status int, page views.Login) error {
	page.Languages = languages()
	return h.render(c, status, views.LoginPage(page))
}

// badLink is the parameter of the sign-in page that says that a link was refused.
const badLink = "link"

// signInByToken takes a one-use link or the admin's token. Whatever comes of it,
// the browser goes on to an address without it.
func (h *Handlers) signInByToken(c echo.Context, token, next string) error {
	ctx, now := c.Request().Context(), h.Now()
	if wait, ok := h.signIns.take("", c.RealIP(), now); !ok {
		return h.tooManySignIns(c, views.Login{Next: next}, wait)
	}
	user, err := h.userOfLink(ctx, token)
	if errors.Is(err, models.ErrUnauthorized) || errors.Is(err, models.ErrNotFound) {
		if err := h.auditFailedSignIn(c, ""); err != nil {
			return err
		}
		return h.goTo(c, "/login?"+withNext(url.Values{"problem": {badLink}}, next).Encode())
	}
	if err != nil {
		return err
	}
	h.signIns.succeeded("", c.RealIP(), now)
	return h.welcome(c, user, signedInBy{stay: true, link: true}, next)
}

// withNext adds where one wants to go to the parameters of the sign-in page.
func withNext(params url.Values, next string) url.Values {
	if next != "" {
		params.Set("next", next)
	}
	return params
}

func (h *Handlers) userOfLink(ctx context.Context, token string) (models.User, error) {
	if !h.isAdminToken(token) {
		return h.Store.UseSignInLink(ctx, models.HashSecret(token), h.Now())
	}
	user, err := h.Store.UserByName(ctx, h.AdminName)
	if err == nil && user.Disabled {
		return models.User{}, errBadLink
	}
	return user, err
}

// Login takes the sign-in form.
func (h *Handlers) Login(c echo.Context) error {
	name, secret := c.FormValue("name"), c.FormValue("password")
	page := views.Login{Name: boundedName(name), Next: h.ownPath(c.FormValue("next"))}
	now := h.Now()
	if wait, ok := h.signIns.take(page.Name, c.RealIP(), now); !ok {
		return h.tooManySignIns(c, page, wait)
	}
	user, err := h.checkPassword(c.Request().Context(), name, secret)
	if errors.Is(err, errWrongPassword) {
		if err := h.auditFailedSignIn(c, page.Name); err != nil {
			return err
		}
		page.Wrong, page.TriesLeft = true, h.signIns.left(page.Name, c.RealIP(), now)
		page.Window, page.Wait = signInWindow, signInWindow/triesPerAccount
		return h.showLogin(c, http.StatusUnauthorized, page)
	}
	if err != nil {
		return err
	}
	h.signIns.succeeded(page.Name, c.RealIP(), now)
	return h.welcome(c, user, signedInBy{stay: c.FormValue("stay") != ""}, page.Next)
}

// boundedName is name as far as one may be long: it is counted, audited and
// shown again.
func boundedName(name string) string {
	runes := []rune(name)
	return string(runes[:min(len(runes), 64)])
}

// checkPassword is the user, or errWrongPassword: for a wrong name, a wrong
// password and a disabled user alike, after the same work.
func (h *Handlers) checkPassword(ctx context.Context, name, secret string) (models.User, error) {
	user, err := h.Store.UserByName(ctx, name)
	if err != nil && !errors.Is(err, models.ErrNotFound) {
		return models.User{}, err
	}
	if len(secret) > models.MaxPasswordLength {
		secret = "" // longer than any: not worth the work
	}
	ok, err := password.Verify(ctx, user.PasswordHash, secret)
	if err != nil {
		return models.User{}, fmt.Errorf("check the password of %q: %w", user.Name, err)
	}
	if !ok || user.Disabled {
		return models.User{}, errWrongPassword
	}
	return user, nil
}

func (h *Handlers) welcome(c echo.Context, user models.User, how signedInBy, next string) error {
	ctx := c.Request().Context()
	if err := h.cookies.signIn(c, user, how, h.Now()); err != nil {
		return err
	}
	if err := h.Store.RecordSignIn(ctx, user.ID, h.Now()); err != nil {
		return err
	}
	c.Set(userKey, user)
	if err := h.Store.AddAudit(ctx, h.entry(c, models.AuditSignIn, user.ID, models.Deedf("signed_in", "signed in"))); err != nil {
		return err
	}
	return h.goTo(c, orHome(next))
}

func (h *Handlers) auditFailedSignIn(c echo.Context, name string) error {
	return h.Store.AddAudit(c.Request().Context(), models.Deedf("sign_in_failed", "a sign-in failed").Of(models.AuditEntry{
		At: h.Now(), ActorName: name, Action: models.AuditSignInFailed, Address: c.RealIP(),
	}))
}

func (h *Handlers) tooManySignIns(c echo.Context, page views.Login, wait time.Duration) error {
	page.Wait = max(wait, time.Second)
	setRetryAfter(c, page.Wait)
	return h.showLogin(c, http.StatusTooManyRequests, page)
}

// Logout ends the sign-in of this browser.
func (h *Handlers) Logout(c echo.Context) error {
	if _, ok := CurrentUser(c); ok {
		if err := h.Store.AddAudit(c.Request().Context(), h.entry(c, models.AuditSignOut, me(c), models.Deedf("signed_out", "signed out"))); err != nil {
			return err
		}
	}
	if err := h.cookies.signOut(c); err != nil {
		return err
	}
	return h.goTo(c, "/login")
}

// signedIn is who is signed in with the web session of ctx, as they are now: a
// user who was disabled since is not.
func (h *Handlers) signedIn(ctx context.Context) (models.User, error) {
	id := h.cookies.user(ctx)
	if id == "" {
		return models.User{}, errSignedOut
	}
	user, err := h.Store.User(ctx, id)
	if errors.Is(err, models.ErrNotFound) || (err == nil && user.Disabled) {
		return models.User{}, errSignedOut
	}
	return user, err
}

func orHome(next string) string {
	if next == "" {
		return "/"
	}
	return next
}
