package views

import "time"

// AdminServers is the page of the MCP servers.
type AdminServers struct{ Servers []MCPServer }

// MCPServer is a server of tools as an admin sees it.
type MCPServer struct {
	Name    string
	Local   bool // a program on this machine
	Address string
	// State is off, idle, starting, ready or failed.
	State   string
	Since   time.Time // zero: not known
	Product string
	Error   string
	RetryAt time.Time
	Tools   []MCPTool
	LeftOut []string
	Stderr  string
}

// MCPTool is one tool of a server.
type MCPTool struct {
	Name        string
	Description string
	ReadOnly    bool
}

// starting: some server is, so that the page will soon say something else.
func (v AdminServers) starting() bool {
	for _, s := range v.Servers {
		if s.State == "starting" {
			return true
		}
	}
	return false
}

func (s MCPServer) kind() string {
	if s.Local {
		return "local"
	}
	return "remote"
}

// serverTone is how a state looks.
func serverTone(state string) string {
	switch state {
	case "ready":
		return "on"
	case "failed":
		return "bad"
	}
	return ""
}
