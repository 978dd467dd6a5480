package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"offcut/agent"
	"offcut/agent/llm"
	"offcut/agent/llm/demo"
	"offcut/agent/llm/openai"
	"offcut/agent/retain"
	"offcut/agent/runner"
	"offcut/agent/sandbox"
	"offcut/agent/tools"
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
	info  runner.ModelInfo
}

// models makes the clients of all models, and starts the demo model where it
// is the one that answers.
func (a *App) models() (*catalogue, error) {
	c := &catalogue{byID: map[string]entry{}, demo: a.cfg.DefaultModel == config.DemoModel}
	client := &http.Client{Transport: llm.NewTransport(nil)}
	for _, m := range a.cfg.Models {
		c.add(m, client)
	}
	if c.demo {
		server, err := demo.Start()
		if err != nil {
			return nil, err
		}
		a.closing(server.Close)
		c.add(config.Model{
			Name: config.DemoModel, BaseURL: server.BaseURL(), APIKey: server.Key(), ContextTokens: config.DefaultContextTokens,
		}, client)
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

func (c *catalogue) add(m config.Model, client *http.Client) {
	c.names = append(c.names, m.Name)
	c.byID[m.Name] = entry{
		model: openai.New(openai.Config{
			BaseURL:         m.BaseURL,
			APIKey:          m.APIKey,
			Model:           m.Name,
			MaxOutputTokens: m.MaxOutputTokens,
			OmitReasoning:   m.SendReasoning != nil && !*m.SendReasoning,
			HTTPClient:      client,
		}),
		info: runner.ModelInfo{Name: m.Name, ContextTokens: m.ContextTokens, MaxOutputTokens: m.MaxOutputTokens},
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
			"The model %q of this session is not configured any more; choose another one.", name)
	}
	return found.model, found.info, nil
}

// keeping is how results are shown and kept.
func keeping(t config.Tools) retain.Config {
	out := retain.Config{MaxResultTokens: t.MaxToolResultTokens, Message: t.TruncationMessage, Tools: map[string]retain.ToolConfig{}}
	for name, tool := range t.Each {
		out.Tools[name] = retain.ToolConfig{
			PreviewBytes: tool.PreviewBytes, MaxResultTokens: tool.MaxResultTokens, Keep: retain.Keep(tool.Keep),
		}
	}
	return out
}

func (a *App) toolOptions(keeper *retain.Keeper, reader *retain.Reader, confined *sandbox.Sandbox) tools.Options {
	command := a.cfg.Tools.Each["run_command"]
	return tools.Options{
		Keeper:    keeper,
		Reader:    reader,
		Sandbox:   confined,
		Approval:  tools.Approval(a.cfg.Approval),
		Folders:   a.cfg.Tools.Folders,
		Sensitive: []string{a.cfg.DataDir},
		Command:   tools.CommandOptions{Timeout: time.Duration(command.TimeoutSeconds) * time.Second, Network: command.Network},
	}
}

// knownTools refuses settings of tools that there are not.
func knownTools(t config.Tools, offered []agent.Tool) error {
	var names []string
	for _, tool := range offered {
		names = append(names, tool.Spec().Name)
	}
	for name := range t.Each {
		if !slices.Contains(names, name) {
			return fmt.Errorf("tools.%s: there is no such tool; there are %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}
