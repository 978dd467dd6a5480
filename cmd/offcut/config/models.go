package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// DemoModel is the name of the model that is built in.
const DemoModel = "demo"

// keyVariables are the variables of the providers' keys, as their own libraries
// name them.
var keyVariables = map[string]string{OpenAI: "OPENAI_API_KEY", Anthropic: "ANTHROPIC_API_KEY"}

// models completes the list of models and chooses the default one.
func (l *loader) models(cfg *Config) error {
	if err := l.fileModels(cfg); err != nil {
		return err
	}
	if err := l.envModel(cfg); err != nil {
		return err
	}
	switch {
	case cfg.EnvModel != "":
		cfg.DefaultModel = cfg.EnvModel
	case len(cfg.Models) > 0:
		cfg.DefaultModel = cfg.Models[0].Name
	default:
		cfg.DefaultModel = DemoModel
	}
	return nil
}

// fileModels completes the models that the file lists.
func (l *loader) fileModels(cfg *Config) error {
	seen := map[string]bool{}
	for i := range cfg.Models {
		m := &cfg.Models[i]
		at := l.name(fmt.Sprintf("models[%d]", i))
		switch {
		case m.Name == "":
			return fmt.Errorf("%s: name is missing; it is the provider's name of the model", at)
		case seen[m.Name] || m.Name == DemoModel:
			return fmt.Errorf("%s: %q is not accepted; each model has a name of its own, and %q is built in", l.name(fmt.Sprintf("models[%d].name", i)), m.Name, DemoModel)
		}
		seen[m.Name] = true
		m.Provider = cmp.Or(m.Provider, OpenAI)
		m.ContextTokens = cmp.Or(m.ContextTokens, cfg.EnvContextTokens)
		if err := m.thinks(); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		key, err := l.key(i, *m)
		if err != nil {
			return err
		}
		m.APIKey = key
	}
	return nil
}

// key is the key of a model that the file lists: that of its own file, or at a
// provider's own address that of the variable. To other addresses no key goes
// that was not meant for them.
func (l *loader) key(i int, m Model) (string, error) {
	switch {
	case m.APIKeyFile != "":
		return readSecret(l.name(fmt.Sprintf("models[%d].apiKeyFile", i)), m.APIKeyFile)
	case m.BaseURL == "":
		return l.secret(keyVariables[m.Provider])
	}
	return "", nil
}

// thinks holds what is set of a model's thinking against each other.
func (m Model) thinks() error {
	switch {
	case m.Provider != Anthropic && (m.Thinking != "" || m.ThinkingTokens > 0):
		return fmt.Errorf("thinking and thinkingTokens are not accepted of the provider %s; only %s has them", m.Provider, Anthropic)
	case m.Thinking != "" && m.ThinkingTokens > 0:
		return errors.New("thinking and thinkingTokens are both set; only one of them is accepted")
	case m.MaxOutputTokens > 0 && m.ThinkingTokens >= m.MaxOutputTokens:
		return fmt.Errorf("thinkingTokens: \"%d\" is not accepted; it is less than maxOutputTokens, which is %d", m.ThinkingTokens, m.MaxOutputTokens)
	case m.ThinkingTokens > 0 && m.SendReasoning != nil && !*m.SendReasoning:
		return errors.New("sendReasoning: \"false\" is not accepted with thinkingTokens; such a model wants its thinking back")
	}
	return nil
}

// envModel adds the model that the variables describe.
func (l *loader) envModel(cfg *Config) error {
	keys := map[string]string{}
	for provider, variable := range keyVariables {
		key, err := l.secret(variable)
		if err != nil {
			return err
		}
		keys[provider] = key
	}
	given := keys[OpenAI] != "" || keys[Anthropic] != "" || cfg.EnvBaseURL != ""
	known := slices.ContainsFunc(cfg.Models, func(m Model) bool { return m.Name == cfg.EnvModel })
	switch {
	case cfg.EnvModel == "":
		if given && len(cfg.Models) == 0 {
			cfg.Notes = append(cfg.Notes, "OPENAI_API_KEY, OPENAI_BASE_URL or ANTHROPIC_API_KEY is set, but OFFCUT_MODEL names no model: the demo model answers")
		}
		return nil
	case known || cfg.EnvModel == DemoModel:
		return nil
	case !given:
		return fmt.Errorf("%s: %q is not accepted alone; set OPENAI_API_KEY or ANTHROPIC_API_KEY, or OPENAI_BASE_URL for another server than OpenAI's", l.name("model"), cfg.EnvModel)
	}
	provider := envProvider(cfg, keys)
	cfg.Models = append([]Model{{
		Name: cfg.EnvModel, Provider: provider, BaseURL: cfg.EnvBaseURL, APIKey: keys[provider],
		ContextTokens: cfg.EnvContextTokens, MaxOutputTokens: cfg.EnvMaxOutputTokens,
	}}, cfg.Models...)
	return nil
}

// envProvider is the provider of the model that the variables describe: the one
// whose key is set. Of two keys it is OpenAI's, unless the model has the name of
// one of Anthropic's.
func envProvider(cfg *Config, keys map[string]string) string {
	if keys[Anthropic] == "" || cfg.EnvBaseURL != "" {
		return OpenAI
	}
	if keys[OpenAI] == "" || strings.HasPrefix(cfg.EnvModel, "claude-") {
		return Anthropic
	}
	return OpenAI
}
