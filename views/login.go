package views

import (
	"context"
	"time"
)

// The output on the sign-in page: an example, the same in every language.
const (
	doorHead = "$ cat ci/build.log\nadded 1,842 packages in 22s\n@harbor/money:build: done in 4.1s"
	doorTail = "ERROR  @harbor/billing#bundle: exited (2)\nError: Process completed with exit code 2."
)

// problem is the sentence about a sign-in that failed; empty where none did.
func (v Login) problem(ctx context.Context) string {
	switch {
	case v.BadLink:
		return t(ctx, "login.link.bad")
	case !v.Wrong && v.Wait == 0:
		return ""
	case !v.Wrong:
		return t(ctx, "login.limited", "wait", waiting(ctx, v.Wait))
	}
	key := "login.tries.many"
	if v.TriesLeft <= 4 {
		key = "login.tries." + itoa(v.TriesLeft)
	}
	return t(ctx, "login.wrong") + " " + t(ctx, key, "count", v.TriesLeft,
		"minutes", int(v.Window.Minutes()), "wait", waiting(ctx, v.Wait))
}

// waiting is a wait in words, rounded up.
func waiting(ctx context.Context, d time.Duration) string {
	seconds := int((d + time.Second - 1) / time.Second)
	if seconds < 60 {
		return t(ctx, "wait.seconds", "n", max(seconds, 1))
	}
	return t(ctx, "wait.minutes", "n", (seconds+59)/60)
}
