package skills

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// nonBlocking: what was a file when it was looked at may be a pipe by now.
const nonBlocking = unix.O_NONBLOCK

// agentsFile is where a folder tells agents how to work in it, and maxAgents
// how much of it a model is told: 32 KiB, as other products do.
const (
	agentsFile = "AGENTS.md"
	maxAgents  = 32 << 10
)

// Agents is the AGENTS.md of a workspace, or a note why it is not read; empty
// where there is none.
func Agents(workspace string) string {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }()
	if _, err := root.Lstat(agentsFile); err != nil {
		return ""
	}
	info, err := root.Stat(agentsFile)
	if err != nil || !info.Mode().IsRegular() {
		return "(AGENTS.md is not read: it is no file of the workspace.)"
	}
	raw, err := readFile(root, agentsFile, maxAgents+1)
	switch {
	case err != nil:
		return "(AGENTS.md is not read: it cannot be opened.)"
	case bytes.IndexByte(raw, 0) >= 0:
		return "(AGENTS.md is not read: it is no text.)"
	case len(raw) <= maxAgents:
		return strings.TrimSpace(strings.ToValidUTF8(string(bytes.TrimPrefix(raw, []byte("\uFEFF"))), "\uFFFD"))
	}
	raw = raw[:maxAgents]
	if end := bytes.LastIndexByte(raw, '\n'); end > 0 {
		raw = raw[:end]
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD") +
		fmt.Sprintf("\n(These are the first %d of %d bytes: read_file reads the rest.)", len(raw), info.Size())
}
