package handlers

import (
	"errors"
	"net/http"

	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// Account is the user's own account: password, API tokens, sign-ins.
func (h *Handlers) Account(c echo.Context) error {
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	return h.account(c, http.StatusOK, views.OwnAccount{PasswordSet: q.text("done") == "password", NewToken: h.shownOnce(c)})
}

func (h *Handlers) account(c echo.Context, status int, v views.OwnAccount) error {
	ctx := c.Request().Context()
	user, _ := CurrentUser(c)
	tokens, err := h.Store.Tokens(ctx, user.ID)
	if err != nil {
		return err
	}
	used, err := h.Store.UsageTotal(ctx, models.UsageQuery{UserID: user.ID, Month: h.now().Format("2006-01")})
	if err != nil {
		return err
	}
	if v.Sidebar, err = h.sidebar(c, ""); err != nil {
		return err
	}
	v.Name, v.Admin, v.NeedsOld = user.Name, user.Admin(), h.needsOld(c, user)
	v.MonthTokens, v.MonthCost = used.Tokens(), used.Cost
	for _, t := range tokens {
		v.Tokens = append(v.Tokens, views.Token{ID: t.ID, Name: t.Name, CreatedAt: t.CreatedAt, UsedAt: t.LastUsedAt})
	}
	return h.render(c, status, views.AccountPage(v))
}

// needsOld reports whether a new password needs the old one: not where there is
// none, nor for somebody who has just come by a link.
func (h *Handlers) needsOld(c echo.Context, user models.User) bool {
	return user.PasswordHash != "" && !h.cookies.byLink(c.Request().Context(), h.Now())
}

// ChangePassword stores another password. All sign-ins of the user end; this
// browser gets a new one.
func (h *Handlers) ChangePassword(c echo.Context) error {
	err := h.changePassword(c)
	if refused, ok := refusedForm(c.Request().Context(), err); ok {
		return h.account(c, h.refuse(c, refused), views.OwnAccount{PasswordProblem: refused.message})
	}
	if err != nil {
		return err
	}
	return h.goTo(c, "/account?done=password")
}

func (h *Handlers) changePassword(c echo.Context) error {
	ctx := c.Request().Context()
	user, _ := CurrentUser(c)
	secret := c.FormValue("new")
	if secret != c.FormValue("again") {
		return models.Errorf(models.ErrInvalid, "passwords_differ", "the two new passwords are not the same; nothing was changed, type them again")
	}
	if h.needsOld(c, user) {
		if err := h.checkOld(c, user); err != nil {
			return err
		}
	}
	hash, err := hashPassword(ctx, secret)
	if err != nil {
		return err
	}
	if err := h.Store.SetPassword(ctx, user.ID, hash, h.entry(c, models.AuditUserPassword, user.ID, models.Deedf("password_changed", "changed their password"))); err != nil {
		return err
	}
	user.PasswordHash = hash
	return h.cookies.signIn(c, user, signedInBy{stay: h.cookies.stays(ctx)}, h.Now())
}

// checkOld refuses a wrong old password. Tries count as those of signing in do:
// a browser that was left open is no way to guess.
func (h *Handlers) checkOld(c echo.Context, user models.User) error {
	ctx := c.Request().Context()
	now := h.Now()
	if wait, ok := h.signIns.take(user.Name, c.RealIP(), now); !ok {
		return &models.Error{
			Kind: models.ErrLimited, Code: "too_many_tries", RetryAfter: wait,
			Message: "too many wrong passwords; wait a few minutes and try again, nothing was changed",
		}
	}
	_, err := h.checkPassword(ctx, user.Name, c.FormValue("old"))
	if errors.Is(err, errWrongPassword) {
		return models.Errorf(models.ErrInvalid, "wrong_password", "the old password is wrong; nothing was changed")
	}
	if err == nil {
		h.signIns.succeeded(user.Name, c.RealIP(), now)
	}
	return err
}

// AddToken makes an API token, which the account's page then shows once.
func (h *Handlers) AddToken(c echo.Context) error {
	user, _ := CurrentUser(c)
	name := c.FormValue("name")
	secret, hash := models.NewSecret(models.TokenPrefix)
	err := models.ValidateTokenName(name)
	if err == nil {
		token := models.APIToken{ID: models.NewID(models.PrefixToken), UserID: user.ID, Name: name, Hash: hash, CreatedAt: h.now()}
		err = h.Store.CreateToken(c.Request().Context(), token, h.entry(c, models.AuditTokenCreate, user.ID, models.Deedf("token_made", "made an API token")))
	}
	if refused, ok := refusedForm(c.Request().Context(), err); ok {
		return h.account(c, h.refuse(c, refused), views.OwnAccount{TokenName: clip(name, 400), TokenProblem: refused.message})
	}
	if err != nil {
		return err
	}
	h.showOnce(c, "/account", secret)
	return h.goTo(c, "/account")
}

// RevokeToken ends an API token of the user's own.
func (h *Handlers) RevokeToken(c echo.Context) error {
	user, _ := CurrentUser(c)
	deed := h.entry(c, models.AuditTokenRevoke, user.ID, models.Deedf("token_revoked", "revoked an API token"))
	if err := h.Store.DeleteToken(c.Request().Context(), user.ID, c.Param("token"), deed); err != nil {
		return err
	}
	return h.goTo(c, "/account")
}

// SignOutEverywhere ends all sign-ins of the user, this one too. API tokens
// stay.
func (h *Handlers) SignOutEverywhere(c echo.Context) error {
	ctx := c.Request().Context()
	if err := h.WebSessions.DeleteForUser(ctx, me(c)); err != nil {
		return err
	}
	if err := h.Store.AddAudit(ctx, h.entry(c, models.AuditSignOut, me(c), models.Deedf("signed_out_everywhere", "signed out everywhere"))); err != nil {
		return err
	}
	if err := h.cookies.signOut(c); err != nil {
		return err
	}
	return h.goTo(c, "/login")
}

// refuse is the status of a refusal, with the wait that it asks for.
func (h *Handlers) refuse(c echo.Context, f failure) int {
	setRetryAfter(c, f.retryAfter)
	return f.status
}
