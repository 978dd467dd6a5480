package config

import (
	"fmt"
	"slices"
)

// DemoModel is the name of the model that is built in.
const DemoModel = "demo"

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
		at := fmt.Sprintf("models[%d]", i)
		switch {
		case m.Name == "":
			return fmt.Errorf("%s: name is missing; it is the provider's name of the model", l.name(at))
		case seen[m.Name] || m.Name == DemoModel:
			return fmt.Errorf("%s: %q is not accepted; each model has a name of its own, and %q is built in", l.name(at+".name"), m.Name, DemoModel)
		}
		seen[m.Name] = true
		if m.Provider == "" {
			m.Provider = "openai"
		}
		if m.ContextTokens == 0 {
			m.ContextTokens = cfg.EnvContextTokens
		}
		if m.APIKeyFile == "" {
			continue
		}
		key, err := readSecret(l.name(at+".apiKeyFile"), m.APIKeyFile)
		if err != nil {
			return err
		}
		m.APIKey = key
	}
	return nil
}

// envModel adds the model that the variables describe.
func (l *loader) envModel(cfg *Config) error {
	key, err := l.secret(keyVariable)
	if err != nil {
		return err
	}
	known := slices.ContainsFunc(cfg.Models, func(m Model) bool { return m.Name == cfg.EnvModel })
	switch {
	case cfg.EnvModel == "":
		if (key != "" || cfg.EnvBaseURL != "") && len(cfg.Models) == 0 {
			cfg.Notes = append(cfg.Notes, "OPENAI_API_KEY or OPENAI_BASE_URL is set, but OFFCUT_MODEL names no model: the demo model answers")
		}
		return nil
	case known || cfg.EnvModel == DemoModel:
		return nil
	case key == "" && cfg.EnvBaseURL == "":
		return fmt.Errorf("%s: %q is not accepted alone; set OPENAI_API_KEY, or OPENAI_BASE_URL for another server than OpenAI's", l.name("model"), cfg.EnvModel)
	}
	cfg.Models = append([]Model{{
		Name: cfg.EnvModel, Provider: "openai", BaseURL: cfg.EnvBaseURL, APIKey: key,
		ContextTokens: cfg.EnvContextTokens, MaxOutputTokens: cfg.EnvMaxOutputTokens,
	}}, cfg.Models...)
	return nil
}
