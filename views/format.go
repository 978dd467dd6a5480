package views

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"offcut/views/i18n"
	"offcut/views/visible"
)

// t is the text of key in the language of ctx.
func t(ctx context.Context, key string, args ...any) string { return i18n.T(ctx, key, args...) }

// rich is a text whose catalogue entry holds markup of its own, such as <b>
// around a number. The entry is ours and trusted; what is put into it is not.
func rich(ctx context.Context, key string, args ...any) string {
	safe := make([]any, len(args))
	for i, arg := range args {
		if s, ok := arg.(string); ok {
			arg = visible.String(s)
		}
		safe[i] = arg
	}
	return i18n.T(ctx, key, safe...)
}

// exact writes a count as people act on it: 5213908 is 5,213,908.
func exact[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "−", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// rounded writes a size in decimal units with three figures: 5189332 is
// 5.19 MB. It is for rows, where one only compares.
func rounded(n int64) string {
	const units = "kMGT"
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " B"
	}
	value, unit := float64(n)/1000, 0
	for value >= 999.5 && unit < len(units)-1 {
		value, unit = value/1000, unit+1
	}
	decimals := 0
	switch {
	case value < 9.995:
		decimals = 2
	case value < 99.95:
		decimals = 1
	}
	return strconv.FormatFloat(value, 'f', decimals, 64) + " " + units[unit:unit+1] + "B"
}

// share is a part of a whole in percent, never rounded to nothing or to all:
// what was read is seen, and what was left out is too.
func share(part, whole int64) string {
	if whole <= 0 || part >= whole {
		return "100"
	}
	percent := 100 * float64(part) / float64(whole)
	switch {
	case percent < 0.1:
		return "<0.1"
	case percent > 99.9:
		return ">99.9"
	case percent < 10:
		return strconv.FormatFloat(percent, 'f', 1, 64)
	}
	return strconv.FormatFloat(math.Min(percent, 99), 'f', 0, 64)
}

// took writes how long something ran, as short as it can be said.
func took(ctx context.Context, d time.Duration) string {
	switch {
	case d < 0:
		return ""
	case d < 100*time.Millisecond:
		return t(ctx, "took.ms", "ms", d.Milliseconds())
	case d < 10*time.Second:
		return t(ctx, "took.s", "s", strconv.FormatFloat(d.Truncate(100*time.Millisecond).Seconds(), 'f', -1, 64))
	case d < time.Minute:
		return t(ctx, "took.s", "s", int(d.Seconds()))
	case d < time.Hour:
		return t(ctx, "took.m", "m", int(d.Minutes()), "s", fmt.Sprintf("%02d", int(d.Seconds())%60))
	}
	return t(ctx, "took.h", "h", int(d.Hours()), "m", fmt.Sprintf("%02d", int(d.Minutes())%60))
}

// local is at in the reader's time zone. The browser tells it once a script has
// run; until then it is the server's, and the script puts right what it says.
func local(ctx context.Context, at time.Time) time.Time {
	if zone := frame(ctx).Zone; zone != nil {
		return at.In(zone)
	}
	return at.Local()
}

// clock is the reader's time of day at a time.
func clock(ctx context.Context, at time.Time) string { return local(ctx, at).Format("15:04") }

// tick is that to the second.
func tick(ctx context.Context, at time.Time) string { return local(ctx, at).Format("15:04:05") }

// moment is the date with it.
func moment(ctx context.Context, at time.Time) string {
	return local(ctx, at).Format("2006-01-02 15:04")
}

// stamp is at as the datetime attribute wants it.
func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// millis is at as scripts want it.
func millis(at time.Time) string { return strconv.FormatInt(at.UnixMilli(), 10) }

// sentence is text that ends like one, so that another can follow it.
func sentence(text string) string {
	said := strings.TrimRight(text, "”’\")")
	if said == "" || strings.ContainsAny(said[len(said)-1:], ".!?") || strings.HasSuffix(said, "。") {
		return text
	}
	return text + "."
}

func itoa[N int | int64](n N) string { return strconv.FormatInt(int64(n), 10) }

// initials are the one or two letters that stand for a user.
func initials(name string) string {
	var letters []rune
	fields := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_.@ ", r) })
	for _, field := range fields {
		letters = append(letters, []rune(field)[0])
		if len(letters) == 2 {
			break
		}
	}
	return strings.ToUpper(string(letters))
}
