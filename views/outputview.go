package views

import "context"

func (v Pager) title(ctx context.Context) string {
	if v.Title == "" {
		return t(ctx, "output.untitled")
	}
	return oneLine(v.Title, 120)
}

func (v Pager) sawText(ctx context.Context) string {
	c := v.coverage()
	switch {
	case c.unread():
		return rich(ctx, "saw.none", "total", exact(v.Total))
	case v.partial():
		return rich(ctx, "saw.ofkept", "seen", exact(c.seen()), "total", exact(v.Total))
	}
	return rich(ctx, "saw.of", "seen", exact(c.seen()), "total", exact(v.Total))
}

// card is the call whose card the output stands in.
func (v Output) card() string {
	if v.Origin != nil {
		return v.Origin.CallID
	}
	return v.Pager.CallID
}

// readKind is the end of the catalogue key of a way of reading.
func readKind(kind string) string {
	switch kind {
	case "page", "search", "query":
		return kind
	}
	return "preview"
}

func completeKey(v Pager) string {
	switch {
	case v.Running:
		return "output.complete.running"
	case v.Complete:
		return "output.complete.yes"
	}
	return "output.complete.no"
}
