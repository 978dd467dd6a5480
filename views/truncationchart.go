package views

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The chart's room, in the units of its viewBox: the lines lie between left and
// right, top and bottom; the names of the lines stand to the right.
const (
	chartLeft, chartRight = 56.0, 864.0
	chartTop, chartBottom = 20.0, 228.0
	chartLabels           = 14 // days that are named below, at most
	labelRoom             = 16 // between the names of two lines
)

// A chart is two lines of shares, one point a day.
type chart struct {
	truncated, read []chartPoint
	grid            []chartPoint // its lines, with their share as the text
	days            []chartPoint // the days that are named
	limit           *chartPoint  // the threshold; nil where it is above the chart
}

// chartPoint is a place with what is written there.
type chartPoint struct {
	x, y float64
	text string
}

func (p chartPoint) X() string { return coordinate(p.x) }
func (p chartPoint) Y() string { return coordinate(p.y) }

// below is where the text of a line stands, which is a little under its point.
func (p chartPoint) below() string { return coordinate(p.y + 4) }

func coordinate(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// chartOf draws days, the oldest first. A day without calls has no point.
func chartOf(days []Cuts, notice float64) chart {
	first, last := dayNumber(days[0].Name), dayNumber(days[len(days)-1].Name)
	top := 0.1
	for _, d := range days {
		top = max(top, ratio(d.Truncated, d.Calls), ratio(d.Recovered, d.Hidden))
	}
	top = math.Ceil(top*10) / 10
	y := func(share float64) float64 { return chartBottom - share/top*(chartBottom-chartTop) }
	var c chart
	step := (len(days) + chartLabels - 1) / chartLabels
	for i, d := range days {
		x := (chartLeft + chartRight) / 2
		if last > first {
			x = chartLeft + (dayNumber(d.Name)-first)/(last-first)*(chartRight-chartLeft)
		}
		if (len(days)-1-i)%step == 0 {
			c.days = append(c.days, chartPoint{x: x, text: strings.TrimPrefix(d.Name[len("2026-"):], "0")})
		}
		if d.Calls > 0 {
			c.truncated = append(c.truncated, chartPoint{x, y(ratio(d.Truncated, d.Calls)), ""})
		}
		if d.Hidden > 0 {
			c.read = append(c.read, chartPoint{x, y(ratio(d.Recovered, d.Hidden)), ""})
		}
	}
	for i := 1; i <= 5; i++ {
		at := top * float64(i) / 5
		c.grid = append(c.grid, chartPoint{chartLeft, y(at), strconv.FormatFloat(math.Round(at*1000)/10, 'f', -1, 64) + " %"})
	}
	if notice > 0 && notice <= top {
		c.limit = &chartPoint{chartLeft, y(notice), limitPercent(notice)}
	}
	return c
}

// dayNumber counts days; a day that cannot be read is the first.
func dayNumber(day string) float64 {
	at, _ := time.Parse(time.DateOnly, day) // the database's own form
	return float64(at.Unix() / (24 * 60 * 60))
}

func ratio(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return min(1, float64(part)/float64(whole))
}

// line is the points as a polyline wants them.
func line(points []chartPoint) string {
	var places []string
	for _, p := range points {
		places = append(places, p.X()+","+p.Y())
	}
	return strings.Join(places, " ")
}

// names are where the names of the two lines stand, and of the threshold: at
// their last points, apart from each other.
func (c chart) names() []chartPoint {
	const x = chartRight + 10
	var names []chartPoint
	if n := len(c.truncated); n > 0 {
		names = append(names, chartPoint{x, c.truncated[n-1].y, "truncated"})
	}
	if n := len(c.read); n > 0 {
		names = append(names, chartPoint{x, c.read[n-1].y, "read"})
	}
	if c.limit != nil {
		names = append(names, chartPoint{x, c.limit.y, "limit"})
	}
	slices.SortStableFunc(names, func(a, b chartPoint) int { return cmp.Compare(b.y, a.y) })
	for i := 1; i < len(names); i++ {
		names[i].y = min(names[i].y, names[i-1].y-labelRoom)
	}
	return names
}

// mostCut are the n with most truncated results.
func mostCut(all []Cuts, n int) []Cuts {
	sorted := slices.SortedStableFunc(slices.Values(all), func(a, b Cuts) int { return cmp.Compare(b.Truncated, a.Truncated) })
	return sorted[:min(n, len(sorted))]
}
