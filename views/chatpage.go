package views

import (
	"context"
	"net/url"

	"github.com/a-h/templ"
)

// socketConfig is for htmx's websocket extension: a hidden tab keeps its
// socket, so that it hears how a turn ends, and every close that does not mean
// "stay away" (1000, 1008) is followed by another try, at first soon.
const socketConfig = `{"ws":{"pauseOnBackground":false,"reconnectDelay":300,"reconnectMaxDelay":10000,` +
	`"reconnectCodes":[1001,1005,1006,1011,1012,1013,1014]}}`

// example is a first request that the demo model understands too. Its texts
// are Key.text, Key.why, and Key.says: what is put into the composer.
type example struct{ Key, Icon string }

var examples = []example{
	{"hello.run", "terminal"},
	{"hello.read", "file"},
	{"hello.find", "find"},
}

func (v Chat) title(ctx context.Context) string {
	if v.Title == "" {
		return t(ctx, "session.untitled")
	}
	return v.Title
}

func (v Chat) pageTitle(ctx context.Context) string {
	if v.SessionID == "" {
		return t(ctx, "page.title", "title", t(ctx, "chat.new"))
	}
	return t(ctx, "page.title", "title", v.title(ctx))
}

// windowTitle is the page's title as the tab shows it: a turn that runs or asks
// is seen there, as static/js/frames.js goes on to show it.
func (v Chat) windowTitle(ctx context.Context) string { return v.attention(ctx) + v.pageTitle(ctx) }

func (v Chat) sendTo(ctx context.Context) templ.SafeURL {
	if v.SessionID == "" {
		return at(ctx, "/sessions")
	}
	return at(ctx, "/s/", v.SessionID, "/messages")
}

func (v Chat) placeholder(ctx context.Context) string {
	if v.SessionID == "" {
		return t(ctx, "composer.first")
	}
	return t(ctx, "composer.next")
}

// query escapes a value for the query part of an address.
func query(value string) string { return url.QueryEscape(value) }

// either is yes where it is so, else no.
func either(so bool, yes, no string) string {
	if so {
		return yes
	}
	return no
}
