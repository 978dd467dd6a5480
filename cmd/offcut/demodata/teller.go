package demodata

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// teller makes up what tools return. What it makes depends on its source alone.
type teller struct {
	*rand.Rand
	day time.Time // of the story
}

func one[T any](t *teller, of ...T) T { return of[t.IntN(len(of))] }

// between is a whole number from low to high.
func (t *teller) between(low, high int) int { return low + t.IntN(high-low+1) }

// took is how long something took, up to a bound.
func (t *teller) took(most time.Duration) time.Duration {
	return most/10 + time.Duration(t.Int64N(int64(most-most/10)))
}

var packages = []string{"billing", "orders", "money", "mailer", "catalog", "auth", "search", "reports"}

// buildLog is the log of a build, of so many lines, that ends badly.
func (t *teller) buildLog(lines int, failure string) string {
	var b strings.Builder
	at := t.day
	for n := range lines {
		at = at.Add(time.Duration(t.IntN(900)) * time.Millisecond)
		fmt.Fprintf(&b, "%s @harbor/%s:build: step %d of %d, %d files, cache %s\n",
			at.Format(time.RFC3339), one(t, packages...), n+1, lines, t.between(3, 240), one(t, "hit", "hit", "miss"))
	}
	fmt.Fprintf(&b, "%s %s\n%s  Tasks:    %d successful, 41 total\n%s Error: Process completed with exit code 2.\n",
		at.Format(time.RFC3339), failure, at.Format(time.RFC3339), t.between(30, 40), at.Format(time.RFC3339))
	return b.String()
}

// accessLog is a web server's log, of so many lines.
func (t *teller) accessLog(lines int) string {
	var b strings.Builder
	at := t.day
	for range lines {
		at = at.Add(time.Duration(t.IntN(4000)) * time.Millisecond)
		fmt.Fprintf(&b, "10.%d.%d.%d - - [%s] \"%s /api/%s/%d HTTP/2\" %d %d %.3f\n", t.IntN(8), t.IntN(255), t.IntN(255),
			at.Format("02/Jan/2006:15:04:05 -0700"), one(t, "GET", "GET", "GET", "POST"), one(t, packages...), t.between(1000, 99999),
			one(t, 200, 200, 200, 200, 304, 404, 499, 503), t.between(180, 42000), float64(t.between(2, 4000))/1000)
	}
	return b.String()
}

// orders is an export in JSON: an array of so many orders.
func (t *teller) orders(n int) string {
	type line struct {
		SKU    string `json:"sku"`
		Amount int    `json:"amount_cents"`
	}
	type order struct {
		ID       int    `json:"id"`
		Customer string `json:"customer"`
		Placed   string `json:"placed_at"`
		Lines    []line `json:"lines"`
		Total    int    `json:"total_cents"`
		Tax      *int   `json:"tax_cents,omitempty"`
	}
	list := make([]order, 0, n)
	for i := range n {
		o := order{ID: 410000 + i, Customer: fmt.Sprintf("c-%05d", t.IntN(40000)), Placed: t.day.Add(time.Duration(i) * 97 * time.Second).Format(time.RFC3339)}
		for range t.between(1, 4) {
			l := line{fmt.Sprintf("%s-%03d", one(t, "MUG", "TEE", "CAP", "BAG"), t.IntN(400)), t.between(490, 8900)}
			o.Lines, o.Total = append(o.Lines, l), o.Total+l.Amount
		}
		if t.IntN(9) > 0 {
			tax := o.Total * 19 / 119
			o.Tax = &tax
		}
		list = append(list, o)
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // plain values always marshal
	}
	return string(text)
}

// issues is what a tracker lists.
func (t *teller) issues(n int) string {
	var b strings.Builder
	b.WriteString(`{"issues":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"key":"HAR-%d","state":"%s","title":"%s %s in @harbor/%s","reporter":"%s","body":"%s"}`, 4200-i, one(t, "open", "open", "closed"),
			one(t, "Wrong", "Slow", "Missing", "Flaky"), one(t, "total", "query", "translation", "test", "redirect"), one(t, packages...),
			one(t, "mei", "jonas", "priya", "tomas"), strings.Repeat("Seen on staging and in production since the last release. ", t.between(1, 5)))
	}
	b.WriteString(`],"next_page":2}`)
	return b.String()
}

// document is a page of documentation, of so many sections.
func (t *teller) document(title string, sections int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", title)
	for n := range sections {
		fmt.Fprintf(&b, "## %d. %s\n\n", n+1, one(t, "Options", "Behaviour on failure", "Examples", "Limits", "Compatibility", "Notes on upgrading"))
		for range t.between(2, 5) {
			b.WriteString(one(t,
				"The value is read once, when the process starts, and a change takes effect with the next start. ",
				"Where the server answers with a code above 499 the request is sent again, with a pause that doubles each time. ",
				"A connection that is idle for longer than the limit is closed, and the pool opens another when it is needed. ",
				"Names are compared without regard to case; everything else in the address is taken as it is written. "))
		}
		b.WriteString("\n\n")
	}
	return b.String()
}

// source is a file of code, of so many functions.
func (t *teller) source(functions int) string {
	var b strings.Builder
	b.WriteString("package billing\n\nimport \"errors\"\n\n")
	for n := range functions {
		fmt.Fprintf(&b, "// Total%d sums the lines of an invoice in cents.\nfunc Total%d(lines []Line) (int, error) {\n\tsum := 0\n\tfor _, l := range lines {\n\t\tif l.Cents < 0 {\n\t\t\treturn 0, errors.New(\"a line below zero\")\n\t\t}\n\t\tsum += l.Cents\n\t}\n\treturn sum, nil\n}\n\n", n, n)
	}
	return b.String()
}

// tests is what a test run prints.
func (t *teller) tests(n int, failing string) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "ok  \tharbor/%s/%s\t%d.%03ds\n", one(t, packages...), one(t, "store", "web", "core", "cli"), t.IntN(9), t.IntN(999))
	}
	if failing != "" {
		fmt.Fprintf(&b, "--- FAIL: %s (0.04s)\n    cart_test.go:88: total is 1190, want 1000\nFAIL\tharbor/billing/core\t0.212s\nFAIL\n", failing)
	}
	return b.String()
}
