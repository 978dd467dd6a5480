package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"

	udiff "github.com/aymanbagabas/go-udiff"
)

const (
	// maxDiffBytes bounds the diff in the result of a change: it is read by
	// people, and by a model that knows already what it wrote.
	maxDiffBytes = 8 << 10
	// maxDiffedBytes bounds what is compared at all.
	maxDiffedBytes = 1 << 20
)

// diffOf is a unified diff, cut after a whole line where it is long; empty for
// what is too large or no text.
func diffOf(shown, old, now string) string {
	if len(old) > maxDiffedBytes || len(now) > maxDiffedBytes || !utf8.ValidString(old) || !utf8.ValidString(now) {
		return ""
	}
	from, to := "a/"+shown, "b/"+shown
	if old == "" {
		from = "/dev/null"
	}
	diff := clean(udiff.Unified(from, to, old, now))
	if len(diff) <= maxDiffBytes {
		return diff
	}
	end := strings.LastIndexByte(diff[:maxDiffBytes], '\n') + 1
	if end == 0 {
		return ""
	}
	return diff[:end] + fmt.Sprintf("… %s of this diff\n", counted(int64(strings.Count(diff[end:], "\n")), "more line", "more lines"))
}
