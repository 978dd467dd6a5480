package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// separator stands between the name of a server and that of its tool. No
// server's name has it, so that a tool's name is of one server only.
const separator = "__"

// The lengths that names may have, in bytes. OpenAI and Anthropic take tool
// names of 64 letters, digits, _ and -.
const (
	maxServerName = 32
	maxToolName   = 64
	hashLength    = 8 // of a name that had to be told apart from another
)

// NameOf is a server's name as it begins the names of its tools; empty: it has
// no letter or digit that can stand there.
func NameOf(server string) string {
	name := plain(server)
	for strings.Contains(name, separator) {
		name = strings.ReplaceAll(name, separator, "_")
	}
	name = strings.Trim(name[:min(len(name), maxServerName)], "_-")
	return name
}

// Prefix begins the names of all tools of a server.
func Prefix(server string) string { return NameOf(server) + separator }

// plain replaces what cannot stand in a tool's name.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}

// toolNames are the names of a server's tools as models know them, in the order
// of the given ones, which are all different. Where two would be the same, the
// one that needed no change has it, and the others end with a hash of their own
// names: no name depends on the order of the list.
func toolNames(server string, tools []string) []string {
	count := map[string]int{}
	for _, tool := range tools {
		count[fit(server, tool)]++
	}
	names := make([]string, len(tools))
	for i, tool := range tools {
		name := fit(server, tool)
		if whole := Prefix(server) + tool; name != whole && (count[name] > 1 || len(whole) > maxToolName) {
			sum := sha256.Sum256([]byte(tool))
			name = name[:min(len(name), maxToolName-hashLength-1)] + "_" + hex.EncodeToString(sum[:])[:hashLength]
		}
		names[i] = name
	}
	return names
}

func fit(server, tool string) string {
	name := Prefix(server) + plain(tool)
	return name[:min(len(name), maxToolName)]
}
