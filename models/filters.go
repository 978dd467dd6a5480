package models

import (
	"slices"
	"strings"
)

// filters are the programs that only pick from what they are given.
var filters = []string{"grep", "egrep", "fgrep", "rg", "head", "tail", "sed", "awk", "cut", "sort", "uniq", "wc", "cat", "tr", "nl", "less", "more", "jq"}

// unfiltered is a command without the filters that its output goes through in the
// end: that of "make 2>&1 | tail -5" is "make".
func unfiltered(command string) string {
	parts := pipeline(command)
	for len(parts) > 1 {
		words := strings.Fields(parts[len(parts)-1])
		if len(words) == 0 || !slices.Contains(filters, words[0]) || strings.ContainsAny(parts[len(parts)-1], ";&><\n`$") {
			break
		}
		parts = parts[:len(parts)-1]
	}
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(strings.Join(parts, "|")), "2>&1"))
}

// pipeline takes a command apart at its pipes, outside of quotation marks.
func pipeline(command string) []string {
	var parts []string
	from, quote := 0, byte(0)
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '|' && strings.HasPrefix(command[i:], "||"):
			i++
		case c == '|':
			parts = append(parts, command[from:i])
			from = i + 1
		}
	}
	return append(parts, command[from:])
}
