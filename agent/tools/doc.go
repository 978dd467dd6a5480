// Package tools holds what the agent can do: run a command, read, write, list
// and search files, and read what was kept of long results. Each tool is one
// file, and what the model is told of it stands in a Markdown file beside it.
//
// What a model can mend, such as a wrong path, is a result that says how; no
// result names a folder of the server.
package tools
