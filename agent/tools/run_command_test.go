package tools

import (
	"context"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"offcut/agent/approve"
	"offcut/agent/retain"
	"offcut/agent/sandbox"
	"offcut/models"
)

// patience is for what would else hang for a minute, on a busy machine. How
// fast a stop is, the sandbox's own tests say.
const patience = 15 * time.Second

func TestRunCommand(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct {
		name, command string
		body          string
		code          int // -1: none
		signal        string
	}{
		{"success", "echo hello; echo err >&2", "", 0, ""},
		{"exit code", "echo FATAL; exit 3", "FATAL\n", 3, ""},
		{"nothing printed", "true", "(no output)", 0, ""},
		{"signal", "kill -9 $$", "(no output)", -1, "SIGKILL"},
		{"pipeline", "yes | head -1", "y\n", 0, ""},
		{"background child", "sleep 60 & echo done", "done\n", 0, ""},
		{"no input, no terminal", "cat; (read x </dev/tty) 2>/dev/null || echo none", "none\n", 0, ""},
		// Two pipes have an order only where what they carry is apart in time.
		{"stderr before stdout", `head -c 300 /dev/zero | tr '\0' e >&2; exec 2>&-; sleep 1; echo`, strings.Repeat("e", 300) + "\n", 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			begun := time.Now()
			got := b.ok("run_command", arguments{"command": tt.command})
			if time.Since(begun) > patience {
				t.Errorf("took %v", time.Since(begun))
			}
			meta := got.Metadata
			if tt.body != "" && got.Content != tt.body {
				t.Errorf("body is %q", got.Content)
			}
			if code := meta.ExitCode; (code == nil) != (tt.code < 0) || code != nil && *code != tt.code || meta.Signal != tt.signal {
				t.Errorf("ended with %s", meta.Line())
			}
			if meta.Truncated || meta.TimedOut || meta.Retention != models.RetentionNotNeeded || meta.ExecutionMS == nil || meta.Sandbox == nil {
				t.Errorf("metadata is %s", meta.Line())
			}
			if *meta.Sandbox != (meta.SandboxKind != "") {
				t.Errorf("sandbox %v of kind %q", *meta.Sandbox, meta.SandboxKind)
			}
		})
	}
}

func TestRunCommandRefuses(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct {
		args  arguments
		words []string
	}{
		{arguments{"command": "  \n"}, []string{"empty"}},
		{arguments{"command": "a\x00b"}, []string{"NUL"}},
		{arguments{"command": strings.Repeat("x", sandbox.MaxCommandBytes+1)}, []string{"script"}},
		{arguments{"command": "true", "timeout_s": 0}, []string{"minimum"}},
		{arguments{"command": "true", "timeout_s": 3601}, []string{"maximum"}},
		{arguments{"command": "true", "background": true}, []string{"background"}},
		{arguments{}, []string{"command"}},
	} {
		b.refused("run_command", tt.args, tt.words...)
	}
}

func TestTimeoutKeepsWhatCame(t *testing.T) {
	b := newBench(t)
	begun := time.Now()
	got := b.ok("run_command", arguments{"command": "echo begun; yes", "timeout_s": 1})
	if took := time.Since(begun); took > patience {
		t.Errorf("took %v", took)
	}
	meta := got.Metadata
	if !meta.TimedOut || meta.ExitCode != nil || meta.Signal != "" || meta.Retention != models.RetentionKept || meta.OutputID == "" {
		t.Errorf("metadata is %s", meta.Line())
	}
	if !strings.HasPrefix(got.Content, "begun\ny\n") || len(got.Content) > retain.CommandPreviewBytes+1000 {
		t.Errorf("body is %d bytes, %.20q", len(got.Content), got.Content)
	}
	if *meta.CapturedBytes <= *meta.TotalBytes || *meta.Complete || *meta.OmittedBytes == 0 {
		t.Errorf("a flood is complete: %s", meta.Line())
	}
}

func TestStopKeepsWhatCame(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b.ctx = ctx
	var stopped time.Time
	b.live = func(text string, _ int64) {
		if strings.Contains(text, "begun") {
			stopped = time.Now()
			cancel()
		}
	}
	got := b.ok("run_command", arguments{"command": "echo begun; sleep 60"})
	if took := time.Since(stopped); stopped.IsZero() || took > patience {
		t.Errorf("took %v", took)
	}
	meta := got.Metadata
	if !strings.HasPrefix(got.Content, "begun\n") || meta.ExitCode != nil || meta.TimedOut {
		t.Errorf("%q, %s", got.Content, meta.Line())
	}
	if meta.Complete != nil && *meta.Complete {
		t.Errorf("a stopped command is complete: %s", meta.Line())
	}
}

func TestLimitIsNamed(t *testing.T) {
	box, err := sandbox.New(sandbox.Options{Mode: sandbox.Auto, Limits: sandbox.Limits{Processes: 60}})
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(o *Options) {
		if o.Sandbox.Confined() {
			o.Sandbox = box
		}
	})
	got := b.ok("run_command", arguments{"command": "i=0; while [ $i -lt 200 ]; do sleep 20 & i=$((i+1)); done; wait"})
	if box.Confined() && (got.Metadata.Signal != "SIGKILL" || !strings.Contains(got.Content, "ended: it had more than 60 processes")) {
		t.Errorf("%q, %s", got.Content, got.Metadata.Line())
	}
}

func TestPolicy(t *testing.T) {
	none, err := sandbox.New(sandbox.Options{Mode: sandbox.Auto, Kinds: []string{"no such kind"}})
	if err != nil {
		t.Fatal(err)
	}
	required, err := sandbox.New(sandbox.Options{Mode: sandbox.Required, Kinds: []string{"no such kind"}})
	if err != nil {
		t.Fatal(err)
	}
	off, err := sandbox.Detect(sandbox.Off)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		box      *sandbox.Sandbox
		approval approve.Mode
		says     string // empty: it runs
	}{
		{none, approve.Auto, "nobody can be asked"},
		{none, approve.Ask, "nobody can be asked"},
		{none, approve.Never, "only with OFFCUT_SANDBOX=off"},
		{required, approve.Never, "OFFCUT_SANDBOX=required"},
		{required, approve.Auto, "OFFCUT_SANDBOX=required"},
		{required, approve.Ask, "OFFCUT_SANDBOX=required"},
		{off, approve.Auto, "nobody can be asked"},
		{off, approve.Never, ""},
	} {
		b := newBench(t, func(o *Options) {
			o.Sandbox, o.Policy = tt.box, approve.Policy{Mode: tt.approval, Sandbox: tt.box.Mode(), Confined: tt.box.Confined()}
		})
		if tt.says != "" {
			b.refused("run_command", arguments{"command": "touch ran"}, tt.says)
			if _, err := os.Stat(b.path("ran")); err == nil {
				t.Errorf("%s with %s ran", tt.approval, tt.box.Mode())
			}
			continue
		}
		got := b.ok("run_command", arguments{"command": "touch ran"})
		if *got.Metadata.Sandbox || got.Metadata.SandboxKind != "" {
			t.Errorf("says %s", got.Metadata.Line())
		}
		b.read("ran")
	}
}

// What a command printed beyond its preview is read and found by the other
// tools, to the byte.
func TestKeptOutputIsReadAndSearched(t *testing.T) {
	b := newBench(t)
	result := b.ok("run_command", arguments{"command": "i=1; while [ $i -le 20000 ]; do echo \"line $i\"; i=$((i+1)); done; echo FATAL X; exit 3"})
	meta := result.Metadata
	if *meta.ExitCode != 3 || !meta.Truncated || meta.Retention != models.RetentionKept || !*meta.Complete || !strings.Contains(result.Content, "FATAL X") {
		t.Fatalf("%s", meta.Line())
	}
	var whole, want strings.Builder
	for i := 1; i <= 20000; i++ {
		want.WriteString("line " + strconv.Itoa(i) + "\n")
	}
	want.WriteString("FATAL X\n")
	for offset := int64(0); ; {
		page := b.ok("read_tool_output", arguments{"output_id": meta.OutputID, "offset": offset})
		if len(page.Content) > retain.MaxPageBytes || *page.Metadata.Offset != offset || page.Metadata.OutputID != "" || page.Metadata.Retention != "" {
			t.Fatalf("page at %d: %s", offset, page.Metadata.Line())
		}
		whole.WriteString(page.Content)
		offset = *page.Metadata.NextOffset
		if !*page.Metadata.HasMore {
			break
		}
	}
	if whole.String() != want.String() {
		t.Errorf("the pages are %d bytes, want %d", whole.Len(), want.Len())
	}

	found := b.ok("search_tool_output", arguments{"output_id": meta.OutputID, "pattern": "line 15000"})
	at := strings.Index(want.String(), "line 15000")
	if found.Content != "offset "+strconv.Itoa(at)+", line 15000: line 15000" {
		t.Errorf("found %q", found.Content)
	}
	if page := b.ok("read_tool_output", arguments{"output_id": meta.OutputID, "offset": at, "limit": 10}); page.Content != "line 15000" {
		t.Errorf("there stands %q", page.Content)
	}
	if none := b.ok("search_tool_output", arguments{"output_id": meta.OutputID, "pattern": "^lin.$", "regexp": true}); none.Content != "(no match)" {
		t.Errorf("found %q", none.Content)
	}

	total := strconv.FormatInt(*meta.TotalBytes, 10)
	b.refused("read_tool_output", arguments{"output_id": meta.OutputID, "offset": *meta.TotalBytes + 1}, total)
	b.refused("read_tool_output", arguments{"output_id": "out_none"}, "no such output in this session")
	b.refused("search_tool_output", arguments{"output_id": "out_none", "pattern": "x"}, "no such output in this session")
	b.refused("search_tool_output", arguments{"output_id": meta.OutputID, "pattern": "(", "regexp": true})
	if last := b.ok("read_tool_output", arguments{"output_id": meta.OutputID, "offset": *meta.TotalBytes}); last.Content != "" || *last.Metadata.HasMore {
		t.Errorf("at the end: %q", last.Content)
	}
}

func TestOffsetInsideCharacter(t *testing.T) {
	b := newBench(t)
	meta := b.ok("run_command", arguments{"command": "head -c 30000 /dev/zero | tr '\\0' a; printf '\\360\\237\\230\\200'; head -c 9 /dev/zero | tr '\\0' b"}).Metadata
	b.refused("read_tool_output", arguments{"output_id": meta.OutputID, "offset": 30002}, "30000", "30004")
}

func TestLiveOutput(t *testing.T) {
	b := newBench(t)
	var mu sync.Mutex
	var seen strings.Builder
	b.live = func(text string, _ int64) {
		mu.Lock()
		defer mu.Unlock()
		if !utf8.ValidString(text) {
			t.Errorf("invalid text %q", text)
		}
		seen.WriteString(text)
	}
	b.ok("run_command", arguments{"command": "echo one; sleep 0.3; echo zwölf"})
	mu.Lock()
	defer mu.Unlock()
	if seen.String() != "one\nzwölf\n" {
		t.Errorf("saw %q", seen.String())
	}
}

func TestTitleOfCommand(t *testing.T) {
	for command, want := range map[string]string{
		"ls -l": "ls -l", "\nls\nrm x\n": "ls …", strings.Repeat("ä", 300): strings.Repeat("ä", maxTitle) + " …", "a\xffb": "a\uFFFDb",
	} {
		if got := titleOf(command); got != want {
			t.Errorf("%.20q is %q", command, got)
		}
	}
}

func TestTheModelIsToldWhetherThereIsANetwork(t *testing.T) {
	for network, want := range map[bool]string{false: "there is no network, and", true: "the network can be used, and"} {
		b := newBench(t, func(o *Options) { o.Command.Network = network })
		if said := b.tools["run_command"].Spec().Description; !strings.Contains(said, want) || strings.Contains(said, "{") {
			t.Errorf("network %v: %s", network, said)
		}
	}
}
