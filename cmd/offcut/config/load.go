package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"

	"offcut/models"
)

// Load reads all settings: the flags, the environment as os.Environ gives it,
// and the file that one of them names. All that is wrong is in the one error.
func Load(flags Flags, environ []string) (Config, error) {
	l := &loader{tree: koanf.New("."), env: environment(environ), origin: map[string]string{}}
	if err := l.layers(flags); err != nil {
		return Config{}, err
	}
	if err := l.check(); err != nil {
		return Config{}, err
	}
	return l.config()
}

// environment is environ as a map, without variables that are set to nothing:
// those count as not set.
func environment(environ []string) map[string]string {
	env := map[string]string{}
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok && value != "" {
			env[name] = value
		}
	}
	return env
}

type loader struct {
	tree *koanf.Koanf
	env  map[string]string
	// origin names, for each key, the flag or variable that set it.
	origin map[string]string
	file   string
}

// layers puts the sources over each other, the lightest first.
func (l *loader) layers(flags Flags) error {
	if err := l.tree.Load(confmap.Provider(defaults(), "."), nil); err != nil {
		return fmt.Errorf("default settings: %w", err)
	}
	l.file = l.env[configVariable]
	if flags.Config != nil {
		l.file = *flags.Config
	}
	if l.file != "" {
		if err := l.tree.Load(file.Provider(l.file), yaml.Parser()); err != nil {
			return fileError(l.file, err)
		}
	}
	over := map[string]any{}
	for _, s := range settings {
		if value, ok := l.env[s.variable]; ok {
			over[s.key], l.origin[s.key] = value, s.variable
		}
		if value, ok := flags.given(s); ok {
			over[s.key], l.origin[s.key] = value, s.flag
		}
	}
	if err := l.tree.Load(confmap.Provider(over, "."), nil); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	return nil
}

func fileError(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("%s: the configuration file %q cannot be read: %w", configVariable, name, path.Err)
	}
	return fmt.Errorf("configuration file %q: %w", name, err)
}

// check holds every value against its rule.
func (l *loader) check() error {
	var wrong []error
	tree := l.tree.Raw()
	delete(tree, serversKey) // names of servers are no paths: servers has rules of its own
	for _, leaf := range leaves("", tree) {
		if leaf.value == nil {
			continue // a key without a value, as in a file whose values are comments
		}
		r, known := ruleFor(leaf.path)
		switch {
		case !known:
			wrong = append(wrong, fmt.Errorf("%s: there is no such key; see config.example.yaml for all of them", l.name(leaf.path)))
		case !r.accepts(leaf.value):
			wrong = append(wrong, fmt.Errorf("%s: %q is not accepted; it is %s", l.name(leaf.path), fmt.Sprint(leaf.value), r.accepted))
		}
	}
	return errors.Join(wrong...)
}

// name is where a person finds the setting.
func (l *loader) name(path string) string {
	if origin, ok := l.origin[path]; ok {
		return origin
	}
	return path + " in " + l.file
}

// config turns the checked tree into its struct.
func (l *loader) config() (Config, error) {
	var cfg Config
	if err := l.tree.Unmarshal("", &cfg); err != nil {
		return Config{}, fmt.Errorf("settings: %w", err)
	}
	if err := l.tools(&cfg); err != nil {
		return Config{}, err
	}
	if err := l.pruning(cfg.Pruning); err != nil {
		return Config{}, err
	}
	if err := l.servers(&cfg); err != nil {
		return Config{}, err
	}
	var err error
	if cfg.DataDir, err = filepath.Abs(cfg.DataDir); err != nil {
		return Config{}, fmt.Errorf("data folder: %w", err)
	}
	cfg.PublicURL = strings.TrimRight(cfg.PublicURL, "/")
	if cfg.TrustedProxies, err = networks(l.tree.Strings("trustedProxies")); err != nil {
		return Config{}, err
	}
	if cfg.AdminToken, err = l.secret(tokenVariable); err != nil {
		return Config{}, err
	}
	if strings.ContainsFunc(cfg.AdminToken, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return Config{}, fmt.Errorf("%s: the token is not accepted; it is letters, digits and signs without spaces", tokenVariable)
	}
	if n := len(cfg.AdminToken); n > 0 && n < models.SafeSecretLength {
		cfg.Notes = append(cfg.Notes, fmt.Sprintf("%s has %d characters, which can be guessed; take at least %d", tokenVariable, n, models.SafeSecretLength))
	}
	cfg.Traces.Enabled = l.env["OTEL_EXPORTER_OTLP_ENDPOINT"] != "" || l.env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] != ""
	return cfg, l.models(&cfg)
}

func networks(written []string) ([]*net.IPNet, error) {
	var out []*net.IPNet
	for _, s := range written {
		prefix, err := parseNetwork(s)
		if err != nil {
			return nil, fmt.Errorf("trustedProxies: %w", err)
		}
		out = append(out, &net.IPNet{IP: prefix.Addr().AsSlice(), Mask: net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen())})
	}
	return out, nil
}

// tools reads the branch in which fixed keys and names of tools stand side by
// side.
func (l *loader) tools(cfg *Config) error {
	cfg.Tools = Tools{
		MaxToolResultTokens: l.tree.Int("tools.maxToolResultTokens"),
		TruncationMessage:   l.tree.String("tools.truncationMessage"),
		Folders:             l.tree.Strings("tools.folders"),
		Each:                map[string]Tool{},
	}
	branch, _ := l.tree.Get("tools").(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(branch)) {
		if _, nested := branch[name].(map[string]any); !nested {
			continue
		}
		var tool Tool
		if err := l.tree.Unmarshal("tools."+name, &tool); err != nil {
			return fmt.Errorf("settings of the tool %s: %w", name, err)
		}
		cfg.Tools.Each[name] = tool
	}
	return nil
}

// secret is the variable of that name, or the contents of the file that its
// _FILE form names. No error shows its value.
func (l *loader) secret(name string) (string, error) {
	value, set := l.env[name]
	path, fromFile := l.env[name+"_FILE"]
	switch {
	case set && fromFile:
		return "", fmt.Errorf("%s and %s_FILE are both set; only one of them is accepted", name, name)
	case fromFile:
		return readSecret(name+"_FILE", path)
	}
	return value, nil
}

func readSecret(setting, path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		var cause *fs.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return "", fmt.Errorf("%s: the file %q cannot be read: %w", setting, path, err)
	}
	secret := strings.TrimSpace(string(content))
	if secret == "" {
		return "", fmt.Errorf("%s: the file %q is empty; it is the secret on one line", setting, path)
	}
	return secret, nil
}
