package config

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// rule says what a setting may be. Its pattern is a key of the file, in which
// * stands for any one name and [] for any place in a list.
type rule struct {
	pattern  string
	accepted string
	accepts  func(value any) bool
}

// rules are all the keys there are: another one is refused.
var rules = []rule{
	{"addr", "a host and port, such as 127.0.0.1:8080", isAddr},
	{"dataDir", "the path of a folder", isText},
	{"basePath", "empty, or a path that begins with a slash and does not end with one, such as /offcut", isBasePath},
	{"publicURL", "an address such as https://chat.example.org, without a path", isOrigin},
	{"sandbox", "auto, required or off", oneOf("auto", "required", "off")},
	{"approval", "auto, ask or never", oneOf("auto", "ask", "never")},
	{"model", "the name of a model", isText},
	{"openaiBaseURL", "an address that begins with http:// or https://", isURL},
	{"modelMaxOutputTokens", "a whole number from 1 to 10000000", between(1, 10_000_000)},
	{"modelContextTokens", "a whole number from 1024 to 100000000", between(1024, 100_000_000)},

	{"models[].name", "the provider's name of a model", isText},
	{"models[].provider", "openai", oneOf("openai")},
	{"models[].baseURL", "an address that begins with http:// or https://", isURL},
	{"models[].apiKeyFile", "the path of a file that holds the key", isText},
	{"models[].contextTokens", "a whole number from 1024 to 100000000", between(1024, 100_000_000)},
	{"models[].maxOutputTokens", "a whole number from 1 to 10000000", between(1, 10_000_000)},
	{"models[].sendReasoning", "true or false", isBool},

	{"tools.maxToolResultTokens", "a whole number from 64 to 1000000", between(64, 1_000_000)},
	{"tools.truncationMessage", "a text with {original}, {kept} and {output_id}", isTemplate},
	{"tools.*.previewBytes", "a whole number from 256 to 1048576", between(256, 1<<20)},
	{"tools.*.maxResultTokens", "a whole number from 64 to 1000000", between(64, 1_000_000)},
	{"tools.*.keep", "head-tail or head", oneOf("head-tail", "head")},
	{"tools.*.timeoutSeconds", "a whole number from 1 to 86400", between(1, 86_400)},
	{"tools.*.network", "true or false", isBool},

	{"limits.turnsPerUser", "a whole number from 1 to 10000", between(1, 10_000)},
	{"limits.turns", "a whole number from 1 to 100000", between(1, 100_000)},
	{"limits.storagePerUserBytes", "a number of bytes from 1048576 on", between(1<<20, 1<<60)},
	{"limits.modelCallsPerTurn", "a whole number from 1 to 10000", between(1, 10_000)},
	{"limits.continuationsPerTurn", "a whole number from 1 to 10000", between(1, 10_000)},
}

// leaf is one value of a tree of settings, with its path.
type leaf struct {
	path  string
	value any
}

// leaves walks a tree in the order of its keys.
func leaves(path string, value any) []leaf {
	var out []leaf
	switch v := value.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			out = append(out, leaves(strings.TrimPrefix(path+"."+key, "."), v[key])...)
		}
	case []any:
		for i, item := range v {
			out = append(out, leaves(fmt.Sprintf("%s[%d]", path, i), item)...)
		}
	default:
		out = append(out, leaf{path, value})
	}
	return out
}

// ruleFor finds the rule of a path; false: there is no such key.
func ruleFor(path string) (rule, bool) {
	for _, r := range rules {
		if matches(r.pattern, path) {
			return r, true
		}
	}
	return rule{}, false
}

func matches(pattern, path string) bool {
	want, have := strings.Split(pattern, "."), strings.Split(path, ".")
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		name, place, listed := strings.Cut(have[i], "[")
		if listed && strings.HasSuffix(place, "]") {
			name += "[]"
		}
		if want[i] != "*" && want[i] != name {
			return false
		}
	}
	return true
}

func isText(value any) bool {
	s, ok := value.(string)
	return ok && strings.TrimSpace(s) != "" && !strings.ContainsAny(s, "\x00\r\n")
}

func isBool(value any) bool {
	_, ok := value.(bool)
	return ok
}

func oneOf(words ...string) func(any) bool {
	return func(value any) bool {
		s, ok := value.(string)
		return ok && slices.Contains(words, s)
	}
}

// between accepts whole numbers, as YAML has them and as text.
func between(least, most int64) func(any) bool {
	return func(value any) bool {
		var n int64
		switch v := value.(type) {
		case int:
			n = int64(v)
		case int64:
			n = v
		case string:
			parsed, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				return false
			}
			n = parsed
		default:
			return false
		}
		return n >= least && n <= most
	}
}

func isAddr(value any) bool {
	s, ok := value.(string)
	if !ok {
		return false
	}
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

func isBasePath(value any) bool {
	s, ok := value.(string)
	if !ok || s == "" {
		return ok
	}
	u, err := url.Parse(s)
	return err == nil && u.Path == s && strings.HasPrefix(s, "/") && !strings.HasSuffix(s, "/") &&
		!strings.Contains(s, "//") && !strings.ContainsAny(s, "\\ \"'<>") && !slices.Contains(strings.Split(s, "/"), "..")
}

func isURL(value any) bool {
	s, ok := value.(string)
	if !ok {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

func isOrigin(value any) bool {
	if !isURL(value) {
		return false
	}
	u, err := url.Parse(value.(string))
	return err == nil && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && u.User == nil
}

func isTemplate(value any) bool {
	s, ok := value.(string)
	return ok && strings.Contains(s, "{original}") && strings.Contains(s, "{kept}") && strings.Contains(s, "{output_id}")
}
