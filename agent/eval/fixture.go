package eval

import (
	"encoding/base64"
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

// commandForm is a command as a file, made of its name and its script in base64.
// It notes the run before it does anything, so that one that is ended counts too.
// The script is coded so that a look into the file is no shortcut to the answer.
const commandForm = `#!/bin/sh
printf '%%s\n' "%[1]s${*:+ $*}" >>"$(dirname -- "$0")/` + runLog + `"
exec sh -c "$(printf %%s '%[2]s' | base64 -d)" %[1]s "$@"
`

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
		script := fmt.Sprintf(commandForm, c.Name, base64.StdEncoding.EncodeToString([]byte(c.Script)))
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
