package views

import (
	"context"
	"net/url"
)

// adminEntry is a line of the list of the admin's pages.
type adminEntry struct {
	Name string // the end of the page's address below /admin/ and of its text's key
	Icon string
}

// adminPages are the admin's pages in the order of their list. The first is
// where the way in leads.
var adminPages = []adminEntry{
	{"sessions", "queue"},
	{"users", "users"},
	{"usage", "chart"},
	{"truncation", "cut"},
	{"storage", "disk"},
	{"mcp", "plug"},
	{"audit", "eye"},
	{"dumps", "alert"},
}

// AdminHome is the address of the admin's first page.
func AdminHome() string { return "/admin/" + adminPages[0].Name }

func adminTitle(ctx context.Context, title string) string {
	return t(ctx, "admin.page", "title", title)
}

// Steps lead through a list that is read page by page, each from the cursor on
// that the one before ended with. The addresses are below the base path.
type Steps struct {
	First string // empty: this is the first page
	Next  string // empty: there is no more
}

// StepsOf makes the steps of a list at path, whose parameters choose what is in
// it; next is the cursor of what follows.
func StepsOf(path string, params url.Values, next string) Steps {
	first := url.Values{}
	for name, values := range params {
		if name != "cursor" && len(values) > 0 && values[0] != "" {
			first[name] = values
		}
	}
	var s Steps
	if params.Get("cursor") != "" {
		s.First = addressOf(path, first)
	}
	if next != "" {
		first.Set("cursor", next)
		s.Next = addressOf(path, first)
	}
	return s
}

func addressOf(path string, params url.Values) string {
	if len(params) == 0 {
		return path
	}
	return path + "?" + params.Encode()
}
