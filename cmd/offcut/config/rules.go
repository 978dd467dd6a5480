package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"offcut/agent/fetch"
	"offcut/agent/retain"
)

// rule says what a setting may be. Its pattern is a key of the file, in which
// * stands for any one name, or a part of it, and [] for any place in a list.
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
	{"trustedProxies[]", "a network such as 10.0.0.0/8, or an address", isNetwork},
	{"sandbox", "auto, required or off", oneOf("auto", "required", "off")},
	{"approval", "auto, ask or never", oneOf("auto", "ask", "never")},
	{"model", "the name of a model", isText},
	{"openaiBaseURL", "an address that begins with http:// or https://", isURL},
	whole("modelMaxOutputTokens", 1, 10_000_000),
	whole("modelContextTokens", 1024, 100_000_000),

	{"models[].name", "the provider's name of a model", isText},
	{"models[].provider", "openai or anthropic", oneOf(OpenAI, Anthropic)},
	{"models[].baseURL", "an address that begins with http:// or https://", isURL},
	{"models[].apiKeyFile", "the path of a file that holds the key", isText},
	whole("models[].contextTokens", 1024, 100_000_000),
	whole("models[].maxOutputTokens", 1, 10_000_000),
	{"models[].sendReasoning", "true or false", isBool},
	{"models[].thinking", "adaptive or off", oneOf("adaptive", "off")},
	whole("models[].thinkingTokens", 1024, 10_000_000),
	{"models[].images", "true or false", isBool},
	amount("models[].price.input"),
	amount("models[].price.output"),
	amount("models[].price.cached"),

	whole("tools.maxToolResultTokens", retain.MinPreviewTokens, retain.MaxPreviewTokens),
	{"tools.truncationMessage", "a text with {original}, {kept} and {output_id}", isTemplate},
	{"tools.folders[]", "the absolute path of a folder", isAbsolute},
	whole("tools.*.previewBytes", retain.MinPreviewBytes, retain.MaxPreviewBytes),
	whole("tools.*.maxResultTokens", retain.MinPreviewTokens, retain.MaxPreviewTokens),
	{"tools.*.keep", "both or head", oneOf(string(retain.KeepBoth), string(retain.KeepHead))},
	whole("tools.run_command.timeoutSeconds", 1, 86_400),
	whole("tools.*__*.timeoutSeconds", 1, 86_400), // of MCP servers
	whole("tools.run_script.timeoutSeconds", 1, 3600),
	{"tools.run_command.network", "true or false", isBool},
	whole("tools.fetch_url.timeoutSeconds", 1, 600),
	{"tools.fetch_url.allow[]", "a host such as wiki.example.org, an address, or a network such as 10.1.0.0/16", isReachable},

	{"skills.folders[]", "the absolute path of a folder", isAbsolute},
	noticeShare("tools.*.noticeShare"),
	noticeShare("truncation.noticeShare"),
	{"truncation.markAbsence", "true or false", isBool},
	{"metrics.open", "true or false", isBool},
	{"traces.contents", "true or false", isBool},

	{"contextPruning.mode", "off or cache-ttl", oneOf("off", "cache-ttl")},
	{"contextPruning.ttl", "a time from 1s to 24h, such as 5m", isWait},
	share("contextPruning.softTrimRatio"),
	share("contextPruning.hardClearRatio"),
	whole("contextPruning.keepLastAssistants", 1, 1000),

	whole("retention.maxAgeDays", 1, 36_500),
	whole("retention.maxBytesPerUser", 1<<20, 1<<50),
	{"retention.onlyAdminsDelete", "true or false", isBool},

	whole("limits.turnsPerUser", 1, 10_000),
	whole("limits.turns", 1, 100_000),
	whole("limits.backgroundPerUser", 1, 1_000),
	whole("limits.storagePerUserBytes", 1<<20, 1<<50),
	whole("limits.uploadBytes", 1<<10, 1<<40),
	whole("limits.modelCallsPerTurn", 1, 10_000),
	whole("limits.continuationsPerTurn", 1, 10_000),
}

// whole is the rule of a whole number.
func whole(pattern string, least, most int64) rule {
	return rule{pattern, fmt.Sprintf("a whole number from %d to %d", least, most), between(least, most)}
}

// amount is the rule of a price.
func amount(pattern string) rule {
	return rule{pattern, "US dollars per million tokens, 0 to 1000000", numberFrom(0, 1_000_000)}
}

// share is the rule of a part of something.
func share(pattern string) rule {
	return rule{pattern, "a share from 0.01 to 1", numberFrom(0.01, 1)}
}

// noticeShare is the rule of a share that raises a notice.
func noticeShare(pattern string) rule {
	return rule{pattern, "a share from 0.0001 to 1", numberFrom(0.0001, 1)}
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

func matches(pattern, key string) bool {
	want, have := strings.Split(pattern, "."), strings.Split(key, ".")
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		name, place, listed := strings.Cut(have[i], "[")
		if listed && strings.HasSuffix(place, "]") {
			name += "[]"
		}
		if fits, _ := path.Match(want[i], name); !fits && want[i] != name {
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

// numberFrom accepts numbers, whole or not.
func numberFrom(least, most float64) func(any) bool {
	return func(value any) bool {
		text, ok := value.(string)
		if !ok {
			text = fmt.Sprint(value)
		}
		n, err := strconv.ParseFloat(text, 64)
		return err == nil && n >= least && n <= most
	}
}

func isWait(value any) bool {
	s, ok := value.(string)
	if !ok {
		return false
	}
	d, err := time.ParseDuration(s)
	return err == nil && d >= time.Second && d <= 24*time.Hour
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

func isNetwork(value any) bool {
	s, ok := value.(string)
	_, err := parseNetwork(s)
	return ok && err == nil
}

// parseNetwork reads a network, or an address as the network of it alone.
func parseNetwork(s string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(s); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	return netip.ParsePrefix(s)
}

func isReachable(value any) bool {
	s, ok := value.(string)
	return ok && fetch.CheckAllowed(s) == nil
}

func isAbsolute(value any) bool {
	s, ok := value.(string)
	return ok && isText(value) && filepath.IsAbs(s)
}

func isTemplate(value any) bool {
	s, ok := value.(string)
	return ok && strings.Contains(s, "{original}") && strings.Contains(s, "{kept}") && strings.Contains(s, "{output_id}")
}
