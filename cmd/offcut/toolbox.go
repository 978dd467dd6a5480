package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"offcut/agent"
	"offcut/agent/apart"
	"offcut/agent/approve"
	"offcut/agent/fetch"
	"offcut/agent/mcp"
	"offcut/agent/retain"
	"offcut/agent/sandbox"
	"offcut/agent/script"
	"offcut/agent/skills"
	"offcut/agent/tools"
	"offcut/agent/workspace"
	"offcut/cmd/offcut/config"
)

// beside runs f in a goroutine and returns what waits for its result.
func beside[T any](f func() (T, error)) func() (T, error) {
	once := sync.OnceValues(f)
	go func() { _, _ = once() }()
	return once
}

func (a *App) sandbox(folders []skills.Folder) (*sandbox.Sandbox, error) {
	mode, err := sandbox.ParseMode(a.cfg.Sandbox)
	if err != nil {
		return nil, err
	}
	confined, err := sandbox.New(sandbox.Options{Mode: mode, Hide: []sandbox.Hidden{sandbox.Hidden(a.cfg.DataDir)}, Show: shown(folders)})
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	return confined, nil
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

// policy is which calls somebody has to allow.
func (a *App) policy(confined *sandbox.Sandbox) approve.Policy {
	return approve.Policy{Mode: approve.Mode(a.cfg.Approval), Sandbox: confined.Mode(), Confined: confined.Confined()}
}

func (a *App) toolOptions(keeper *retain.Keeper, reader *retain.Reader, confined *sandbox.Sandbox, folders *workspace.Folders) tools.Options {
	command := a.cfg.Tools.Each["run_command"]
	return tools.Options{
		Keeper:    keeper,
		Reader:    reader,
		Sandbox:   confined,
		Policy:    a.policy(confined),
		Folders:   a.cfg.Tools.Folders,
		Sensitive: []string{a.cfg.DataDir},
		Room:      folders.Room,
		Written:   folders.Recount,
		Script:    script.Limits{Time: time.Duration(a.cfg.Tools.Each["run_script"].TimeoutSeconds) * time.Second},
		Command:   tools.CommandOptions{Timeout: time.Duration(command.TimeoutSeconds) * time.Second, Network: command.Network},
	}
}

// fetcher reads pages as the configuration lets it.
func (a *App) fetcher() (*fetch.Fetcher, error) {
	set := a.cfg.Tools.Each["fetch_url"]
	return fetch.New(fetch.Config{
		Allow: set.Allow, Timeout: time.Duration(set.TimeoutSeconds) * time.Second, Agent: "Offcut/" + version,
	})
}

// mcpServers are the servers of the configuration, whose tools keep and ask as
// all others do.
func (a *App) mcpServers(keeper *retain.Keeper, confined *sandbox.Sandbox, folders *workspace.Folders) *mcp.Servers {
	opts := mcp.Options{
		Version: version,
		Wrap:    func(t agent.Tool) agent.Tool { return approve.Wrap(keeper.Wrap(t), a.policy(confined)) },
		Room:    folders.Room,
		Log:     a.log,
		Memory:  apart.Memory(),
	}
	timeouts := map[string]time.Duration{}
	for name, tool := range a.cfg.Tools.Each {
		timeouts[name] = time.Duration(tool.TimeoutSeconds) * time.Second
	}
	for _, s := range a.cfg.Servers {
		opts.Servers = append(opts.Servers, mcp.Server{
			Name: s.Name, Off: s.Off, Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Dir, URL: s.URL, Headers: s.Headers,
			Timeout: time.Duration(s.TimeoutSeconds) * time.Second, Timeouts: timeouts, Secrets: s.Secrets,
		})
	}
	servers := mcp.New(opts)
	a.closing(servers.Close)
	return servers
}

// knownTools refuses settings of tools that there are not. Which tools a server
// has is known once it runs.
func knownTools(t config.Tools, servers []config.MCPServer, offered []agent.Tool) error {
	var names []string
	for _, tool := range offered {
		names = append(names, tool.Spec().Name)
	}
	for name := range t.Each {
		ofServer := slices.ContainsFunc(servers, func(s config.MCPServer) bool { return strings.HasPrefix(name, mcp.Prefix(s.Name)) })
		if !slices.Contains(names, name) && !ofServer {
			return fmt.Errorf("tools.%s: there is no such tool; there are %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}
