package handlers

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"offcut/models"

	"github.com/alexedwards/scs/v2"
	"github.com/labstack/echo/v4"
)

// How long a browser stays signed in: with "stay signed in" for thirty days,
// otherwise until it is closed, and at most a day.
const (
	longStay  = 30 * 24 * time.Hour
	shortStay = 24 * time.Hour
)

// cookieName is the cookie that says who is signed in.
const cookieName = "offcut_session"

// CSRFCookie is the cookie with the token of the forms.
const CSRFCookie = "offcut_csrf"

// What is stored of a web session: whose it is, whether it is for long, and when
// it was begun by a link (in seconds since 1970; nothing: by password).
const (
	keyUser = "user"
	keyStay = "stay"
	keyLink = "link"
)

// linkTrust is how long after signing in by a link one may choose a password
// without the old one: who was given the link may have forgotten it.
const linkTrust = time.Hour

// Cookies ties browsers to who is signed in.
type Cookies struct {
	sessions *scs.SessionManager
	store    WebSessions
	path     string
}

func newCookies(store WebSessions, basePath string) *Cookies {
	sessions := scs.New()
	sessions.Lifetime = longStay
	sessions.Store = store
	return &Cookies{sessions: sessions, store: store, path: basePath + "/"}
}

// attach loads the web session of a request and stores what changed of it
// before the answer begins.
func (k *Cookies) attach(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		ctx, err := k.load(c.Request().Context(), cookieValue(c))
		if err != nil {
			return fmt.Errorf("load the web session: %w", err)
		}
		c.SetRequest(c.Request().WithContext(ctx))
		c.Response().Header().Add("Vary", "Cookie")
		return next(c)
	}
}

func cookieValue(c echo.Context) string {
	cookie, err := c.Cookie(cookieName)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// csrfOf is the token of the forms that the browser has.
func csrfOf(c echo.Context) string {
	cookie, err := c.Cookie(CSRFCookie)
	if err != nil {
		return ""
	}
	return cookie.Value
}

func (k *Cookies) load(ctx context.Context, token string) (context.Context, error) {
	return k.sessions.Load(ctx, token)
}

// user is the id of who is signed in; empty where nobody is.
func (k *Cookies) user(ctx context.Context) string { return k.sessions.GetString(ctx, keyUser) }

// signedInBy is how somebody signs in.
type signedInBy struct {
	stay bool // for long; else until the browser is closed
	link bool // by a link; else by password
}

// byLink reports whether somebody signed in by a link a short time ago.
func (k *Cookies) byLink(ctx context.Context, now time.Time) bool {
	at := k.sessions.GetInt64(ctx, keyLink)
	return at != 0 && now.Sub(time.Unix(at, 0)) < linkTrust
}

// stays reports whether the browser stays signed in for long.
func (k *Cookies) stays(ctx context.Context) bool { return k.sessions.GetBool(ctx, keyStay) }

// put stores a value with the web session.
func (k *Cookies) put(ctx context.Context, key, value string) error {
	k.sessions.Put(ctx, key, value)
	_, _, err := k.sessions.Commit(ctx)
	return err
}

// take is a value that was put, once; empty where there is none.
func (k *Cookies) take(ctx context.Context, key string) (string, error) {
	value := k.sessions.PopString(ctx, key)
	if value == "" {
		return "", nil
	}
	_, _, err := k.sessions.Commit(ctx)
	return value, err
}

// signIn makes the browser that of the user. It always gets new tokens, of the
// session and of the forms, so that what somebody planted before is worth
// nothing.
func (k *Cookies) signIn(c echo.Context, user models.User, how signedInBy, now time.Time) error {
	ctx := c.Request().Context()
	if err := k.sessions.Clear(ctx); err != nil {
		return fmt.Errorf("clear the web session: %w", err)
	}
	if err := k.sessions.RenewToken(ctx); err != nil {
		return fmt.Errorf("renew the web session: %w", err)
	}
	k.sessions.Put(ctx, keyUser, user.ID)
	k.sessions.Put(ctx, keyStay, how.stay)
	if how.link {
		k.sessions.Put(ctx, keyLink, now.Unix())
	}
	if !how.stay {
		k.sessions.SetDeadline(ctx, now.Add(shortStay))
	}
	if err := k.store.Bind(ctx, k.sessions.Token(ctx), user); err != nil {
		return fmt.Errorf("bind the web session: %w", err)
	}
	token, expiry, err := k.sessions.Commit(ctx)
	if err != nil {
		return fmt.Errorf("store the web session: %w", err)
	}
	cookie := k.cookie(c, token)
	if how.stay {
		cookie.Expires, cookie.MaxAge = expiry, int(expiry.Sub(now).Seconds())
	}
	c.SetCookie(cookie)
	k.renewCSRF(c)
	return nil
}

// renewCSRF gives the browser another token of the forms, instead of the one
// that it sent. Other pages that are open have to be loaded again.
func (k *Cookies) renewCSRF(c echo.Context) {
	header := c.Response().Header()
	header["Set-Cookie"] = slices.DeleteFunc(header.Values("Set-Cookie"), func(line string) bool {
		return strings.HasPrefix(line, CSRFCookie+"=")
	})
	cookie := k.cookie(c, rand.Text())
	cookie.Name, cookie.MaxAge = CSRFCookie, int(longStay.Seconds())
	c.SetCookie(cookie)
}

// signOut ends the web session here and in the store.
func (k *Cookies) signOut(c echo.Context) error {
	if err := k.sessions.Destroy(c.Request().Context()); err != nil {
		return fmt.Errorf("end the web session: %w", err)
	}
	cookie := k.cookie(c, "")
	cookie.Expires, cookie.MaxAge = time.Unix(1, 0), -1
	c.SetCookie(cookie)
	return nil
}

func (k *Cookies) cookie(c echo.Context, value string) *http.Cookie {
	return &http.Cookie{
		Name: cookieName, Value: value, Path: k.path,
		HttpOnly: true, Secure: Secure(c), SameSite: http.SameSiteLaxMode,
	}
}

const secureKey = "offcut.secure"

// SetSecure says that the browser reaches the server through TLS.
func SetSecure(c echo.Context, secure bool) { c.Set(secureKey, secure) }

// Secure reports whether cookies of this request are for TLS alone.
func Secure(c echo.Context) bool {
	secure, _ := c.Get(secureKey).(bool)
	return secure
}
