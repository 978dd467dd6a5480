package main

import (
	"cmp"
	"net/http"
	"slices"

	"offcut/agent"
	"offcut/agent/contextwin"
	"offcut/agent/llm"
	"offcut/agent/llm/anthropic"
	"offcut/agent/llm/demo"
	"offcut/agent/llm/openai"
	"offcut/agent/runner"
	"offcut/cmd/offcut/config"
	"offcut/models"
)

// catalogue is the models to choose from.
type catalogue struct {
	names []string // the default one first
	demo  bool     // the default one is the demo model
	byID  map[string]entry
}

type entry struct {
	model agent.Model
	price *models.Price // nil: none is configured
	info  runner.ModelInfo
}

// models makes the clients of all models, and starts the demo model where it
// is the one that answers.
func (a *App) models() (*catalogue, error) {
	c := &catalogue{byID: map[string]entry{}, demo: a.cfg.DefaultModel == config.DemoModel}
	client := &http.Client{Transport: llm.NewTransport(nil)}
	for _, m := range a.cfg.Models {
		c.add(m, client, a.cfg.Pruning, a.watched)
	}
	if c.demo {
		server, err := demo.Start()
		if err != nil {
			return nil, err
		}
		a.closing(server.Close)
		c.add(config.Model{
			Name: config.DemoModel, BaseURL: server.BaseURL(), APIKey: server.Key(), ContextTokens: a.cfg.EnvContextTokens,
		}, client, a.cfg.Pruning, a.watched)
	}
	if a.around != nil {
		for name, known := range c.byID {
			known.model = a.around(known.model)
			c.byID[name] = known
		}
	}
	slices.SortStableFunc(c.names, func(x, y string) int {
		switch a.cfg.DefaultModel {
		case x:
			return -1
		case y:
			return 1
		}
		return 0
	})
	return c, nil
}

func (c *catalogue) add(m config.Model, client *http.Client, p config.Pruning, w watched) {
	model, most := modelOf(m, client)
	price := (*models.Price)(m.Price)
	if price != nil {
		model = llm.Priced(model, *price)
	}
	c.names = append(c.names, m.Name)
	c.byID[m.Name] = entry{
		model: w.model(model, m.Name, cmp.Or(m.Provider, config.OpenAI)),
		price: price,
		info: runner.ModelInfo{
			Name: m.Name, ContextTokens: m.ContextTokens, MaxOutputTokens: most, Images: m.Images,
			OmitsReasoning: omitsReasoning(m),
			Pruning:        pruningOf(m, p), Settings: m.Settings(),
		},
	}
}

// omitsReasoning: the configuration leaves the reasoning of earlier replies out.
func omitsReasoning(m config.Model) bool { return m.SendReasoning != nil && !*m.SendReasoning }

// modelOf is the client of a model and the bound of one reply, in tokens; 0: the
// provider's own.
func modelOf(m config.Model, client *http.Client) (agent.Model, int) {
	omit := omitsReasoning(m)
	if m.Provider == config.Anthropic {
		cfg := anthropic.Config{
			BaseURL:         m.BaseURL,
			APIKey:          m.APIKey,
			Model:           m.Name,
			MaxOutputTokens: m.MaxOutputTokens,
			Thinking:        anthropic.Thinking(m.Thinking),
			ThinkingTokens:  m.ThinkingTokens,
			OmitReasoning:   omit,
			HTTPClient:      client,
		}
		return anthropic.New(cfg), cfg.MaxOutput()
	}
	return openai.New(openai.Config{
		BaseURL:         m.BaseURL,
		APIKey:          m.APIKey,
		Model:           m.Name,
		MaxOutputTokens: m.MaxOutputTokens,
		OmitReasoning:   omit,
		HTTPClient:      client,
	}), m.MaxOutputTokens
}

// pruningOf is how old results are shortened for a model: by itself only for
// Anthropic's, whose cache of prompts is what the figures were made for.
func pruningOf(m config.Model, p config.Pruning) contextwin.Pruning {
	mode := contextwin.Mode(p.Mode)
	if mode == "" && m.Provider == config.Anthropic {
		mode = contextwin.ModeCacheTTL
	}
	return contextwin.Pruning{
		Mode: mode, TTL: p.TTL, SoftTrimRatio: p.SoftTrimRatio, HardClearRatio: p.HardClearRatio, KeepLastAssistants: p.KeepLastAssistants,
	}
}

// find is the model of that name; an empty name is the default.
func (c *catalogue) find(name string) (agent.Model, runner.ModelInfo, error) {
	if name == "" {
		name = c.names[0]
	}
	found, ok := c.byID[name]
	if !ok {
		return nil, runner.ModelInfo{}, models.Errorf(models.ErrNotFound, "unknown_model",
			"The model %q of this session is not configured any more; choose another one.", models.Arg("model", name))
	}
	return found.model, found.info, nil
}

// window is how many tokens a model's window has; 0 where that is not known.
func (c *catalogue) window(name string) int {
	_, info, err := c.find(name)
	if err != nil {
		return 0
	}
	return info.ContextTokens
}

// takesImages reports whether a model is sent pictures.
func (c *catalogue) takesImages(name string) bool {
	_, info, err := c.find(name)
	return err == nil && info.Images
}
