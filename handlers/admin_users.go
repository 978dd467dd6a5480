package handlers

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"offcut/handlers/password"
	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// AdminUsers is the list of the users, with a form to add one.
func (h *Handlers) AdminUsers(c echo.Context) error {
	return h.adminUsers(c, http.StatusOK, views.NewUser{})
}

func (h *Handlers) adminUsers(c echo.Context, status int, form views.NewUser) error {
	page, err := pageOf(c)
	if err != nil {
		return err
	}
	list, next, err := h.Store.UserStats(c.Request().Context(), page)
	if err != nil {
		return err
	}
	v := views.AdminUsers{New: form, Steps: views.StepsOf("/admin/users", c.QueryParams(), next)}
	for _, u := range list {
		v.Users = append(v.Users, accountOf(u))
	}
	return h.render(c, status, views.AdminUsersPage(v))
}

func accountOf(u models.UserStats) views.Account {
	a := views.Account{
		ID: u.ID, Name: u.Name, Admin: u.Admin(), Disabled: u.Disabled, AddedAt: u.CreatedAt, HasPassword: u.PasswordHash != "",
		Sessions: u.Sessions, Tokens: u.Tokens, StoredBytes: u.StoredBytes,
	}
	if u.LastSignInAt != nil {
		a.SignedInAt = *u.LastSignInAt
	}
	return a
}

// AdminAddUser adds a user, who signs in with a password or, without one, first
// with a link that works once.
func (h *Handlers) AdminAddUser(c echo.Context) error {
	form := views.NewUser{Name: boundedName(c.FormValue("name")), Admin: c.FormValue("role") == string(models.RoleAdmin)}
	user, err := h.addUser(c, c.FormValue("name"), c.FormValue("role"), c.FormValue("password"))
	if refused, ok := refusedForm(c.Request().Context(), err); ok {
		form.Problem = refused.message
		return h.adminUsers(c, refused.status, form)
	}
	if err != nil {
		return err
	}
	if user.PasswordHash != "" {
		return h.goTo(c, "/admin/users/"+user.ID)
	}
	secret, hash := models.NewSecret("")
	link := models.SignInLink{Hash: hash, UserID: user.ID, ExpiresAt: h.now().Add(models.SignInLinkAge)}
	if err := h.Store.CreateSignInLink(c.Request().Context(), link); err != nil {
		return err
	}
	return h.showLink(c, user, secret)
}

func (h *Handlers) addUser(c echo.Context, name, role, secret string) (models.User, error) {
	ctx := c.Request().Context()
	user := models.User{ID: models.NewID(models.PrefixUser), Name: name, Role: models.UserRole(role), CreatedAt: h.now()}
	if err := models.ValidateUserName(name); err != nil {
		return user, err
	}
	if !user.Role.Valid() {
		return user, errUnknownRole
	}
	if secret != "" {
		hash, err := hashPassword(ctx, secret)
		if err != nil {
			return user, err
		}
		user.PasswordHash = hash
	}
	return user, h.Store.CreateUser(ctx, user, h.entry(c, models.AuditUserAdd, user.ID, models.Deedf("user_added", "added %s as %s", models.Arg("name", name), models.Arg("role", role))))
}

var errUnknownState = models.Errorf(models.ErrInvalid, "unknown_state", "a user is enabled or disabled")

var errUnknownRole = models.Errorf(models.ErrInvalid, "unknown_role", "a role is admin or user")

// hashPassword is the stored form of a password that is one.
func hashPassword(ctx context.Context, secret string) (string, error) {
	if err := models.ValidatePassword(secret); err != nil {
		return "", err
	}
	return password.Hash(ctx, secret)
}

// AdminUser is the page of one user.
func (h *Handlers) AdminUser(c echo.Context) error {
	return h.adminUser(c, http.StatusOK, c.Param("user"), views.AdminUser{Link: h.shownOnce(c)})
}

func (h *Handlers) adminUser(c echo.Context, status int, id string, v views.AdminUser) error {
	ctx := c.Request().Context()
	user, err := h.Store.UserWithStats(ctx, id)
	if err != nil {
		return err
	}
	total, err := h.Store.UsageTotal(ctx, models.UsageQuery{UserID: user.ID})
	if err != nil {
		return err
	}
	v.Account, v.Self = accountOf(user), user.ID == me(c)
	v.Tokens, v.Cost = total.Tokens(), total.Cost
	return h.render(c, status, views.AdminUserPage(v))
}

// AdminSetRole makes a user an admin, or an ordinary user again.
func (h *Handlers) AdminSetRole(c echo.Context) error {
	role := models.UserRole(c.FormValue("role"))
	if !role.Valid() {
		return errUnknownRole
	}
	return h.changeUser(c, func(ctx context.Context, user models.User) error {
		deed := h.entry(c, models.AuditUserRole, user.ID, models.Deedf("user_role", "made %s %s", models.Arg("name", user.Name), models.Arg("role", role)))
		return h.Store.SetRole(ctx, user.ID, role, deed)
	})
}

// AdminSetState disables a user or lets them in again. Who is disabled is
// signed out everywhere; their tokens are refused, what runs for them is ended
// and their open pages are told within seconds. What is theirs stays.
func (h *Handlers) AdminSetState(c echo.Context) error {
	state := c.FormValue("state")
	if state != "disabled" && state != "enabled" {
		return errUnknownState
	}
	disabled := state == "disabled"
	return h.changeUser(c, func(ctx context.Context, user models.User) error {
		action, did := models.AuditUserEnable, models.Deedf("user_enabled", "enabled %s", models.Arg("name", user.Name))
		if disabled {
			action, did = models.AuditUserDisable, models.Deedf("user_disabled", "disabled %s", models.Arg("name", user.Name))
		}
		return h.Store.SetDisabled(ctx, user.ID, disabled, h.entry(c, action, user.ID, did))
	})
}

// changeUser changes a user and goes back to their page, or says there why it
// was refused.
func (h *Handlers) changeUser(c echo.Context, change func(context.Context, models.User) error) error {
	ctx := c.Request().Context()
	user, err := h.Store.User(ctx, c.Param("user"))
	if err != nil {
		return err
	}
	err = change(ctx, user)
	if refused, ok := refusedForm(c.Request().Context(), err); ok {
		return h.adminUser(c, refused.status, user.ID, views.AdminUser{Problem: refused.message})
	}
	if err != nil {
		return err
	}
	return h.goTo(c, "/admin/users/"+user.ID)
}

// AdminResetUser signs a user out everywhere. Their page then shows the new link
// once.
func (h *Handlers) AdminResetUser(c echo.Context) error {
	ctx := c.Request().Context()
	user, err := h.Store.User(ctx, c.Param("user"))
	if err != nil {
		return err
	}
	endPassword, endTokens := c.FormValue("password") != "", c.FormValue("tokens") != ""
	did := models.Deedf("user_reset", "reset %s", models.Arg("name", user.Name))
	switch {
	case endPassword && endTokens:
		did = models.Deedf("user_reset_both", "reset %s, password ended, API tokens revoked", models.Arg("name", user.Name))
	case endPassword:
		did = models.Deedf("user_reset_password", "reset %s, password ended", models.Arg("name", user.Name))
	case endTokens:
		did = models.Deedf("user_reset_tokens", "reset %s, API tokens revoked", models.Arg("name", user.Name))
	}
	secret, hash := models.NewSecret("")
	link := models.SignInLink{Hash: hash, UserID: user.ID, ExpiresAt: h.now().Add(models.SignInLinkAge)}
	if err := h.Store.ResetUser(ctx, link, endPassword, endTokens, h.entry(c, models.AuditUserReset, user.ID, did)); err != nil {
		return err
	}
	return h.showLink(c, user, secret)
}

// showLink goes to the page of a user, which shows a link that signs them in,
// once. Who resets themselves is signed out by it, and sees no other page.
func (h *Handlers) showLink(c echo.Context, user models.User, secret string) error {
	link, page := h.signInLink(c, secret), "/admin/users/"+user.ID
	if user.ID == me(c) {
		return h.adminUser(c, http.StatusOK, user.ID, views.AdminUser{Link: link})
	}
	h.showOnce(c, page, link)
	return h.goTo(c, page)
}

// signInLink is the whole address that signs in once, as people can be given
// it: under the public address, or under the one that is used now.
func (h *Handlers) signInLink(c echo.Context, secret string) string {
	at := url.URL{Scheme: "http", Host: c.Request().Host}
	if Secure(c) {
		at.Scheme = "https"
	}
	if h.PublicURL != nil {
		at.Scheme, at.Host = h.PublicURL.Scheme, h.PublicURL.Host
	}
	return at.String() + h.BasePath + "/login?" + url.Values{"token": {secret}}.Encode()
}

// refusedForm is a refusal that is told beside the form that was sent.
func refusedForm(ctx context.Context, err error) (failure, bool) {
	var refused *models.Error
	if !errors.As(err, &refused) || errors.Is(err, models.ErrNotFound) || errors.Is(err, models.ErrUnauthorized) {
		return failure{}, false
	}
	f := describe(err).in(ctx)
	f.message = views.Capital(f.message)
	return f, true
}
