package mcp

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// SoundsSecret reports whether what has such a name is a secret: a variable, a
// header, a flag, a parameter.
func SoundsSecret(name string) bool {
	name = strings.ToLower(name)
	if slices.ContainsFunc([]string{
		"key", "token", "secret", "pass", "pwd", "auth", "cookie", "credential", "bearer", "session", "signature", "dsn",
	}, func(part string) bool { return strings.Contains(name, part) }) {
		return true
	}
	// These are parts of other words too, such as path.
	return slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }), func(word string) bool {
		return word == "pat" || word == "sig"
	})
}

var (
	// userinfo is what stands before the host of an address, or of what some
	// databases are reached by: a name, which may be missing, and a password.
	userinfo = regexp.MustCompile(`(?:^|//|["'\s=])(([^\s/@:"'=]*):([^\s/"']+))@`)
	// named is the beginning of a value that stands behind its name, in a flag, a
	// header, JSON, or what names a database.
	named = regexp.MustCompile(`([A-Za-z][\w.-]*)["']?\s*[=:]\s*["']?`)
	// valueAt is that value, without the word that says of what kind it is.
	valueAt = regexp.MustCompile(`^(?i:(?:bearer|basic|token)\s+)?([^\s"'&;,/][^\s"'&;,]*)`)
)

// SecretsIn are the parts of a configured value that its form says are secrets:
// a password in an address, what stands behind a name that sounds so, and a long
// part of a path that nobody would make up.
func SecretsIn(value string) []string {
	var secrets []string
	for _, part := range userinfo.FindAllStringSubmatch(value, -1) {
		secrets = append(secrets, part[1], part[3])
		if plain, err := url.PathUnescape(part[3]); err == nil && plain != part[3] {
			secrets = append(secrets, plain)
		}
	}
	for _, at := range named.FindAllStringSubmatchIndex(value, -1) {
		if found := valueAt.FindStringSubmatch(value[at[1]:]); found != nil && SoundsSecret(value[at[2]:at[3]]) {
			secrets = append(secrets, found[1])
		}
	}
	if u, err := url.Parse(value); err == nil && u.Host != "" {
		for part := range strings.SplitSeq(u.Path, "/") {
			if looksRandom(part) {
				secrets = append(secrets, part)
			}
		}
	}
	return secrets
}

// A part of a path is taken for a token from so many bytes on, and with so many
// changes between digits, small letters and large ones.
const (
	tokenBytes   = 16
	tokenChanges = 4
)

// looksRandom reports whether a part of a path looks like a token.
func looksRandom(part string) bool {
	changes, last := 0, 0
	for _, r := range part {
		kind := 0
		switch {
		case unicode.IsDigit(r):
			kind = 1
		case unicode.IsUpper(r):
			kind = 2
		case unicode.IsLower(r):
			kind = 3
		}
		if kind != 0 && last != 0 && kind != last {
			changes++
		}
		if kind != 0 {
			last = kind
		}
	}
	return len(part) >= tokenBytes && changes >= tokenChanges && strings.ContainsAny(part, "0123456789")
}
