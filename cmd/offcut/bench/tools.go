package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"offcut/agent"
	"offcut/agent/approve"
	"offcut/agent/retain"
	"offcut/agent/sandbox"
	"offcut/agent/tools"
	"offcut/models"
	"offcut/models/store"
)

const gib = 1 << 30

// bench's own tools run unconfined, as the commands do that they are held
// against.
func (b *bench) tool(ctx context.Context, db *store.Store, name string) (agent.Tool, error) {
	free, err := sandbox.Detect(sandbox.Off)
	if err != nil {
		return nil, err
	}
	for _, t := range tools.All(tools.Options{
		Keeper: retain.NewKeeper(db, retain.Config{}), Reader: retain.NewReader(db), Sandbox: free,
		Policy: approve.Policy{Mode: approve.Never, Sandbox: sandbox.Off},
	}) {
		if t.Spec().Name == name {
			return t, nil
		}
	}
	return nil, fmt.Errorf("there is no tool %s", name)
}

// call is a call of a tool in the session of output.
func (b *bench) call(of models.RetainedOutput, args map[string]any) agent.Call {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err) // plain values
	}
	return agent.Call{
		ID: models.NewID(models.PrefixCall), SessionID: of.SessionID, TurnID: of.TurnID, Workspace: b.dir,
		Arguments: raw, Live: func(string, int64) {},
	}
}

// capture compares a command that prints 1 GiB, captured, with the same
// command into cat, and watches the memory of this process meanwhile.
func (b *bench) capture(ctx context.Context) error {
	db, err := store.Open(ctx, filepath.Join(b.dir, "capture"), store.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	output, err := fullCopy(ctx, db) // its session and turn are used
	if err != nil {
		return err
	}
	run, err := b.tool(ctx, db, "run_command")
	if err != nil {
		return err
	}
	command := fmt.Sprintf("yes 'a line that is printed again and again' | head -c %d", gib)
	const times = 3
	theirs, err := median(times, func(int) (time.Duration, error) {
		return timed(exec.CommandContext(ctx, "sh", "-c", command+" | cat >/dev/null").Run)
	})
	if err != nil {
		return err
	}
	before, err := peakMemory()
	if err != nil {
		return err
	}
	ours, err := median(times, func(int) (time.Duration, error) {
		return timed(func() error {
			result, err := run.Run(ctx, b.call(output, map[string]any{"command": command}))
			if err == nil && (result.Metadata.CapturedBytes == nil || *result.Metadata.CapturedBytes != gib) {
				err = errors.New("not all was captured: " + result.Metadata.Line())
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	after, err := peakMemory()
	if err != nil {
		return err
	}
	b.ratio("1 GiB captured : into cat >/dev/null", ours, theirs, 1.2)
	b.size("memory that capturing 1 GiB adds", after-before, 32<<20)
	return nil
}

// peakMemory is the most memory that this process has had, in bytes.
func peakMemory() (int64, error) { return statusBytes("self", "VmHWM:") }

// statusBytes is a size in /proc/PID/status.
func statusBytes(pid, field string) (int64, error) {
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("process %s: no %s", pid, field)
}

// file compares the finding of a late line of a long file with tail and head.
func (b *bench) file(ctx context.Context) error {
	const line = 10_000_000
	path := filepath.Join(b.dir, "long.txt")
	if err := writeLines(path, gib); err != nil {
		return err
	}
	db, err := store.Open(ctx, filepath.Join(b.dir, "file"), store.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	readAt := func(read agent.Tool, line int64) (agent.ToolResult, error) {
		result, err := read.Run(ctx, b.call(models.RetainedOutput{}, map[string]any{"path": "long.txt", "line": line}))
		if err == nil && result.IsError {
			err = errors.New(result.Content)
		}
		return result, err
	}
	const times = 5
	var page agent.ToolResult
	var read agent.Tool
	ours, err := median(times, func(int) (time.Duration, error) {
		// A new tool, which has not seen the file: one that has knows the place.
		if read, err = b.tool(ctx, db, "read_file"); err != nil {
			return 0, err
		}
		return timed(func() (err error) { page, err = readAt(read, line); return err })
	})
	if err != nil {
		return err
	}
	theirs, err := median(times, func(int) (time.Duration, error) {
		return timed(exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf("tail -n +%d %s | head -c 4096 >/dev/null", line, path)).Run)
	})
	if err != nil {
		return err
	}
	if page.Metadata.NextLine == nil {
		return errors.New("the page names no next line: " + page.Metadata.Line())
	}
	next, err := timed(func() error { _, err := readAt(read, *page.Metadata.NextLine); return err })
	if err != nil {
		return err
	}
	b.ratio("line 10,000,000 of 1 GiB : tail -n +N | head -c 4096", ours, theirs, 1)
	b.delay("the page after it", next, 5*time.Millisecond)
	return nil
}

// writeLines writes numbered lines of a hundred bytes until there are size of
// them.
func writeLines(path string, size int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	for written, n := 0, 1; written < size; n++ {
		k, err := fmt.Fprintf(out, "%09d %s\n", n, "a line of a long log, with as many words on it as such lines have on average, a ti")
		if err != nil {
			return err
		}
		written += k
	}
	return errors.Join(out.Flush(), file.Close())
}
