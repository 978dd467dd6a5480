package handlers

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"
)

// zoneCookie is where a script tells the zone of the browser, such as
// Asia/Shanghai, so that days and months begin when they do for the reader.
const zoneCookie = "offcut_zone"

// mostZoneName bounds what is looked up; the longest name of a zone has 30 bytes.
const mostZoneName = 64

// zoneOf is the time zone of the reader; the server's where the browser did not
// tell it, or what it told is none.
func zoneOf(c echo.Context) *time.Location {
	cookie, err := c.Cookie(zoneCookie)
	if err != nil || cookie.Value == "" || len(cookie.Value) > mostZoneName {
		return time.Local
	}
	// It reads no file but those of the zones: a name that leads elsewhere is none.
	zone, err := time.LoadLocation(cookie.Value)
	if err != nil {
		return time.Local
	}
	return zone
}

type zoneKey struct{}

// inZone makes a reader's time zone that of a context.
func inZone(ctx context.Context, zone *time.Location) context.Context {
	return context.WithValue(ctx, zoneKey{}, zone)
}

// today is the time as the reader of a context has it.
func (h *Handlers) today(ctx context.Context) time.Time {
	if zone, ok := ctx.Value(zoneKey{}).(*time.Location); ok {
		return h.Now().In(zone)
	}
	return h.Now().Local()
}
