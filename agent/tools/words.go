package tools

import "fmt"

// counted is a number with its noun: 1 line, 2 lines.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
