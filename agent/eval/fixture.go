package eval

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	// commandFolder holds the commands, in the workspace.
	commandFolder = "bin"
	// runLog is where each command notes that it runs, a line a run.
	runLog = ".runs"
)

// runNote begins each command. It notes the run before it does anything, so that
// one that is ended counts too.
const runNote = "#!/bin/sh\n" +
	`printf '%%s\n' "%s${*:+ $*}" >>"$(dirname -- "$0")/` + runLog + `"` + "\n"

// lay puts the files and commands of a fixture into a workspace.
func (f Fixture) lay(workspace string) error {
	for _, file := range f.Files {
		content, err := file.bytes()
		if err == nil {
			err = write(filepath.Join(workspace, file.Path), content, 0o644)
		}
		if err != nil {
			return fmt.Errorf("fixture: %s: %w", file.Path, err)
		}
	}
	for _, c := range f.Commands {
		script := fmt.Sprintf(runNote, c.Name) + c.Script
		if err := write(filepath.Join(workspace, commandFolder, c.Name), []byte(script), 0o755); err != nil {
			return fmt.Errorf("fixture: %s: %w", c.Name, err)
		}
	}
	return nil
}

func write(path string, content []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, mode)
}

// runsIn are the runs of commands, each as its name and arguments, in their
// order. A model can write in the workspace: what it did to the file, such as a
// link, is not followed.
func runsIn(workspace string) []string {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	log, err := root.ReadFile(filepath.Join(commandFolder, runLog))
	if err != nil {
		return nil // none has run
	}
	return strings.FieldsFunc(string(log), func(r rune) bool { return r == '\n' })
}
