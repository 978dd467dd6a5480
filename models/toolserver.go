package models

import "time"

// ServerState says how a server of tools is.
type ServerState string

// The states of such a server. One that failed is started again when its tools
// are next needed, but not before RetryAt.
const (
	ServerOff      ServerState = "off"      // switched off by the configuration
	ServerIdle     ServerState = "idle"     // not needed yet
	ServerStarting ServerState = "starting" // its tools are not known yet
	ServerReady    ServerState = "ready"
	ServerFailed   ServerState = "failed" // it did not start, or ended
)

// ToolServer is an MCP server as an admin sees it. What the server itself said
// is bounded and may be anything; no text holds a secret of the configuration.
type ToolServer struct {
	Name string
	// Local: a program on this machine. Address is its name, or the address of
	// a remote server without what may be secret in it.
	Local   bool
	Address string
	State   ServerState
	Since   time.Time // of the state; zero while it is idle or off
	Product string    // what the server calls itself, with its version
	Error   string    // why it does not run, or why its list is old; empty: nothing
	RetryAt time.Time // of a failed one
	Tools   []ServerTool
	// LeftOut are the tools that are not offered, each with the reason.
	LeftOut []string
	Stderr  string // the end of what a local server wrote there
}

// ServerTool is a tool of such a server.
type ServerTool struct {
	Name        string // as a model is told of it
	Description string
	// ReadOnly: the server says that it changes nothing.
	ReadOnly bool
}
