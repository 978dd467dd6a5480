// Package mcp offers the tools of MCP servers: programs on this machine that
// speak over their standard input and output, and servers that are reached over
// HTTP. They are started when their tools are first needed, are shared by all
// sessions, and know nothing of the sessions: no roots are told them.
//
// What a server says is hostile. Names, descriptions and schemas are bounded,
// errors are told apart from what a server wrote, and nothing that a server was
// configured with as a secret comes back out of here.
package mcp
