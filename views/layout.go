package views

import (
	"context"
	"net/url"
	"strings"
	"time"

	"offcut/views/i18n"

	"github.com/a-h/templ"
)

// Layout is what every page and fragment of one request shares.
type Layout struct {
	// BasePath is the path under which the program is served, without a slash
	// at its end; empty at the root of a host.
	BasePath string
	// Theme is light or dark; empty follows the system.
	Theme string
	// Lang is the language of the interface, such as en; empty is English.
	Lang string
	// Zone is the time zone of the reader; nil: that of the server.
	Zone *time.Location
	// Lines are how many lines of a tool's output are shown of a card that
	// nobody opened; 0: none.
	Lines int
	// Thoughts: reasoning is shown unfolded.
	Thoughts bool
	// Notify: the browser is to tell when an answer in a hidden tab has ended.
	Notify bool
	// Unmarked: answers that say that something is absent are not marked.
	Unmarked bool
	// NoDeleting: the user does not delete sessions or kept outputs.
	NoDeleting bool
	// CSRF is the token that every form and request carries.
	CSRF string
	// User is who is signed in; the zero value is nobody.
	User User
	// Here is the address of the page below the base path, to come back to.
	Here string
	// Notice is what was done before the page was asked for; nil: nothing.
	Notice *Notice
	// ReadOnly: the session on the page is another's, and the user, an admin,
	// may only read it. Nothing that would change it is offered.
	ReadOnly bool
	// Policy names which calls are asked about; see approve.Policy. Empty: it is
	// not shown.
	Policy string
	// MostUpload bounds one file that is uploaded, in bytes.
	MostUpload int64
	// Demo: the built-in demo model answers, because none is configured.
	Demo bool
	// Asset gives the path of a static file below the base path, such as
	// /static/4f1c/base.css for base.css. Nil: /static/ and the name.
	Asset func(name string) string
}

// User is somebody who is signed in, as the pages show them.
type User struct {
	Name  string
	Admin bool
}

type layoutKey struct{}

// With puts the frame of a request into ctx. Rendering any component with the
// returned context makes its links, forms and texts fit that frame.
func With(ctx context.Context, l Layout) context.Context {
	l.BasePath = strings.TrimSuffix(l.BasePath, "/")
	return context.WithValue(i18n.With(ctx, l.Lang), layoutKey{}, l)
}

// frame is the Layout of ctx; the zero Layout where there is none.
func frame(ctx context.Context) Layout {
	l, _ := ctx.Value(layoutKey{}).(Layout)
	return l
}

// lang is the value of the page's lang attribute.
func (l Layout) lang() string {
	if l.Lang == "" {
		return "en"
	}
	return l.Lang
}

// at makes an address below the base path. Its parts are joined as they are:
// ids are safe in paths, and queries are made with url.Values. Where a part
// would lead elsewhere all the same, the address is the first page's.
func at(ctx context.Context, parts ...string) templ.SafeURL {
	return templ.SafeURL(path(ctx, parts...))
}

func path(ctx context.Context, parts ...string) string {
	address := strings.Join(parts, "")
	if strays(address) {
		address = "/"
	}
	return frame(ctx).BasePath + address
}

// strays reports whether a browser would leave the path: it takes . and .. for
// steps, also where they are escaped, and \ for /.
func strays(address string) bool {
	path, _, _ := strings.Cut(address, "#")
	path, _, _ = strings.Cut(path, "?")
	if strings.Contains(path, `\`) {
		return true
	}
	for step := range strings.SplitSeq(path, "/") {
		if len(step) > len("%2e%2e") {
			continue
		}
		if step, err := url.PathUnescape(step); err != nil || step == "." || step == ".." {
			return true
		}
	}
	return false
}

// asset is the address of a static file.
func asset(ctx context.Context, name string) string {
	l := frame(ctx)
	if l.Asset == nil {
		return l.BasePath + "/static/" + name
	}
	return l.BasePath + l.Asset(name)
}

// icon is the address of one symbol of the sprite.
func icon(ctx context.Context, name string) string {
	return asset(ctx, "icons.svg") + "#" + name
}
