package web

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// It is one in the morning in Shanghai, and the afternoon before is yesterday
// there, whatever day the server has.
func TestDaysBeginWhenTheyDoForTheReader(t *testing.T) {
	var clock atomic.Int64
	at := func(hour int) { clock.Store(time.Date(2026, 11, 30, hour, 0, 0, 0, time.UTC).Unix()) }
	at(9)
	s := start(t, with(func(c *Config) { c.Handlers.Now = func() time.Time { return time.Unix(clock.Load(), 0) } }))
	s.wants(201, ann, "POST", "/sessions", `{"title":"Said in the afternoon"}`)
	at(17)
	b := s.signedIn(ann)
	const items = "main [data-testid=session-item]"
	for zone, want := range map[string]struct {
		day, time    string
		today, month int
	}{
		"UTC":           {"Today", "2026-11-30 09:00", 1, 1},
		"Asia/Shanghai": {"Yesterday", "2026-11-30 17:00", 0, 0},
	} {
		get := func(path string) answer { return b.get(path, "Cookie", "offcut_zone="+zone) }
		page := get("/history").page(t)
		for _, heading := range []string{"main .found-age", "#sessions h2"} {
			if got := page.Find(heading).Text(); got != want.day {
				t.Errorf("in %s it is under %q, not %q", zone, got, want.day)
			}
		}
		if got := page.Find(items + " time").Text(); got != want.time {
			t.Errorf("in %s it was at %q", zone, got)
		}
		for address, n := range map[string]int{"when=today": want.today, "when=7d": 1, "when=2026-11": 1, "when=2026-12": 0} {
			if got := get("/history?" + address).page(t).Find(items).Length(); got != n {
				t.Errorf("in %s %s finds %d, not %d", zone, address, got, n)
			}
		}
		if got := page.Find("option[value='2026-12']").Length() == 0; got != (want.month == 1) {
			t.Errorf("in %s one can choose December: %t", zone, !got)
		}
	}
}

// A cookie is whatever a browser sends: what is no zone is as if there were none,
// and no name leads to a file.
func TestAZoneThatIsNoneIsLeftOut(t *testing.T) {
	s := start(t)
	s.wants(201, ann, "POST", "/sessions", `{"title":"One"}`)
	b := s.signedIn(ann)
	want := b.get("/history").page(t).Find("main time").Text()
	for _, zone := range []string{"../../../../etc/passwd", "/etc/localtime", "Nowhere/Else", "%00", strings.Repeat("a", 5000)} {
		a := b.get("/history", "Cookie", "offcut_zone="+zone)
		if got := a.page(t).Find("main time").Text(); a.status != 200 || got != want {
			t.Errorf("%.30q: status %d, %q instead of %q", zone, a.status, got, want)
		}
	}
}
