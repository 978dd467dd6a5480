package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"offcut/agent/mcp"
)

// MCPServer is one server of mcpServers, with what its texts referred to.
type MCPServer struct {
	Name    string
	Off     bool
	Command string
	Args    []string
	Env     map[string]string
	Dir     string
	URL     string
	Headers map[string]string
	// TimeoutSeconds bounds one call; 0: the product's own bound.
	TimeoutSeconds int
	// Secrets are values among those above that nobody is to read.
	Secrets []string
}

// serverKeys are the keys of a server, as other products write them. Their names
// may hold dots, so that they are no paths of the rules.
var serverKeys = []rule{
	{"type", "stdio, http or streamable-http, or left out", oneOf("stdio", "http", "streamable-http", "streamableHttp")},
	{"command", "the program of a server on this machine", isText},
	{"args[]", "a text", isLine},
	{"env.*", "a text", isScalar},
	{"cwd", "the path of a folder", isText},
	{"url", "an address that begins with http:// or https://", isText},
	{"headers.*", "a text on one line", isLine},
	{"disabled", "true or false", isBool},
	whole("timeoutSeconds", 1, 86_400),
}

// oldTransport is what the protocol had before streamable HTTP.
const oldTransport = "sse"

// servers reads mcpServers. All that is wrong is in the one error.
func (l *loader) servers(cfg *Config) error {
	branch := l.tree.Raw()[serversKey]
	if branch == nil {
		return nil
	}
	all, ok := branch.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: it is a server's settings by its name", l.name(serversKey))
	}
	var wrong []error
	names := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		at := serversKey + "." + name
		short := mcp.NameOf(name)
		switch other, taken := names[short]; {
		case short == "" || len(name) > 64 || strings.ContainsFunc(name, unicode.IsControl):
			wrong = append(wrong, fmt.Errorf("%s: the name is not accepted; it has letters or digits, and at most 64 characters", l.name(at)))
		case taken:
			wrong = append(wrong, fmt.Errorf("%s: the name is too like %q; the tools of both would be called %s", l.name(at), other, mcp.Prefix(name)))
		}
		names[short] = name
		server, err := l.server(name, at, all[name])
		if err != nil {
			wrong = append(wrong, err)
		}
		cfg.Servers = append(cfg.Servers, server)
	}
	return errors.Join(wrong...)
}

const serversKey = "mcpServers"

func (l *loader) server(name, at string, value any) (MCPServer, error) {
	settings, ok := value.(map[string]any)
	if !ok {
		return MCPServer{}, fmt.Errorf("%s: it has a command, or a url", l.name(at))
	}
	if settings["type"] == oldTransport {
		return MCPServer{}, fmt.Errorf("%s: %q is not accepted; it is the transport that streamable HTTP took the place of, and most such servers have an address for http too", l.name(at+".type"), oldTransport)
	}
	if err := l.checkServer(at, settings); err != nil {
		return MCPServer{}, err
	}
	e := expander{loader: l, at: at}
	s := MCPServer{
		Name:           name,
		Off:            settings["disabled"] == true,
		Command:        e.text("command", settings["command"], false),
		Args:           e.list("args", settings["args"]),
		Env:            e.texts("env", settings["env"]),
		Dir:            e.text("cwd", settings["cwd"], false),
		URL:            e.text("url", settings["url"], false),
		Headers:        e.texts("headers", settings["headers"]),
		TimeoutSeconds: wholeOf(settings["timeoutSeconds"]),
	}
	s.Secrets = e.secrets
	return s, errors.Join(append(e.wrong, l.whole(at, settings["type"], s))...)
}

// checkServer holds every value against its rule.
func (l *loader) checkServer(at string, settings map[string]any) error {
	var wrong []error
	for key, value := range settings {
		for _, leaf := range serverLeaves(key, value) {
			r, known := serverRule(leaf.path)
			switch {
			case leaf.value == nil:
			case !known:
				wrong = append(wrong, fmt.Errorf("%s: there is no such key; a server has command, args, env and cwd, or url and headers, and type, disabled and timeoutSeconds", l.name(at+"."+key)))
			case !r.accepts(leaf.value):
				wrong = append(wrong, fmt.Errorf("%s: the value is not accepted; it is %s", l.name(at+"."+key), r.accepted))
			}
		}
	}
	return errors.Join(wrong...)
}

// serverLeaves are the values below a key, by the patterns of their rules.
func serverLeaves(key string, value any) []leaf {
	var out []leaf
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			out = append(out, leaf{key + ".*", inner})
		}
	case []any:
		for _, inner := range v {
			out = append(out, leaf{key + "[]", inner})
		}
	default:
		out = append(out, leaf{key, value})
	}
	return out
}

func serverRule(pattern string) (rule, bool) {
	i := slices.IndexFunc(serverKeys, func(r rule) bool { return r.pattern == pattern })
	if i < 0 {
		return rule{}, false
	}
	return serverKeys[i], true
}

// whole holds the keys of a server against each other.
func (l *loader) whole(at string, kind any, s MCPServer) error {
	local := kind == "stdio" || kind == nil && s.URL == ""
	switch {
	case s.Command == "" && s.URL == "":
		return fmt.Errorf("%s: it has neither a command nor a url", l.name(at))
	case s.Command != "" && s.URL != "":
		return fmt.Errorf("%s: it has both a command and a url; only one of them is accepted", l.name(at))
	case local != (s.Command != ""):
		return fmt.Errorf("%s: the type %v goes with the other of command and url", l.name(at), kind)
	case local && len(s.Headers) > 0:
		return fmt.Errorf("%s: headers go with a url", l.name(at))
	case !local && (len(s.Args) > 0 || len(s.Env) > 0 || s.Dir != ""):
		return fmt.Errorf("%s: args, env and cwd go with a command", l.name(at))
	case !all(s.Env, variableName):
		return fmt.Errorf("%s: a name is not accepted; it is that of a variable", l.name(at+".env"))
	case !all(s.Headers, headerName):
		return fmt.Errorf("%s: a name is not accepted; it is that of a header", l.name(at+".headers"))
	case !local && !isURL(s.URL):
		return fmt.Errorf("%s: the address is not accepted; it begins with http:// or https://", l.name(at+".url"))
	}
	return nil
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerName   = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
)

// all: every name is of the form.
func all(named map[string]string, form *regexp.Regexp) bool {
	for name := range named {
		if !form.MatchString(name) {
			return false
		}
	}
	return true
}

// reference is ${NAME}, ${NAME:-default}, ${env:NAME} or ${file:PATH}.
var reference = regexp.MustCompile(`\$\{(?:(file):([^}]+)|(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?)\}`)

// expander replaces references by what they name, and remembers what of it is a
// secret. No error shows a value.
type expander struct {
	loader  *loader
	at      string
	secrets []string
	wrong   []error
}

// text is one value, all of which is a secret where that is said, and in which
// what a file or a variable that sounds secret holds is one anyway, and so is
// what has the form of one.
func (e *expander) text(key string, value any, secret bool) string {
	if value == nil {
		return ""
	}
	text := reference.ReplaceAllStringFunc(fmt.Sprint(value), func(whole string) string {
		part := reference.FindStringSubmatch(whole)
		if part[1] != "" {
			content, err := readSecret(e.loader.name(e.at+"."+key), part[2])
			if err != nil {
				e.wrong = append(e.wrong, err)
			}
			e.hide(content)
			return content
		}
		content := cmp.Or(e.loader.env[part[3]], part[4])
		if content == "" && !strings.Contains(whole, ":-") {
			e.wrong = append(e.wrong, fmt.Errorf("%s: the variable %s, to which it refers, is not set", e.loader.name(e.at+"."+key), part[3]))
		}
		if mcp.SoundsSecret(part[3]) {
			e.hide(content)
		}
		return content
	})
	if secret {
		_, credentials, _ := strings.Cut(text, " ") // of Bearer and the like
		e.hide(text)
		e.hide(credentials)
	}
	for _, part := range mcp.SecretsIn(text) {
		e.hide(part)
	}
	return text
}

// The least lengths, in bytes, of what is taken for a secret; of letters alone it
// is the longer one, as the none or bearer of an AUTH_MODE stand in any text.
const (
	shortestSecret = 6
	shortestWord   = 8
)

func (e *expander) hide(value string) {
	word := !strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsLetter(r) })
	if len(value) >= shortestWord || len(value) >= shortestSecret && !word {
		e.secrets = append(e.secrets, value)
	}
}

func (e *expander) list(key string, value any) []string {
	items, _ := value.([]any)
	var out []string
	secret := false // behind a flag that takes one
	for _, item := range items {
		text := e.text(key, item, secret)
		secret = strings.HasPrefix(text, "-") && !strings.ContainsAny(text, "= ") && mcp.SoundsSecret(text)
		out = append(out, text)
	}
	return out
}

func (e *expander) texts(key string, value any) map[string]string {
	named, _ := value.(map[string]any)
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		out[name] = e.text(key+"."+name, named[name], mcp.SoundsSecret(name))
	}
	return out
}

func wholeOf(value any) int {
	n, _ := value.(int)
	return n
}

// isLine accepts a text that may be empty.
func isLine(value any) bool {
	return isScalar(value) && !strings.ContainsAny(fmt.Sprint(value), "\x00\r\n")
}

// isScalar accepts what YAML reads as a number or a truth too.
func isScalar(value any) bool {
	switch value.(type) {
	case string, bool, int, int64, uint64, float64:
		return !strings.Contains(fmt.Sprint(value), "\x00")
	}
	return false
}
