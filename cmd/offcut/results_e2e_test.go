package main_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// run is one command as the model, the API and the copy show it.
type run struct {
	session string
	meta    map[string]any // the metadata line that the model was sent
	body    string         // what the model was sent after it
	took    time.Duration
}

// runCommand lets the model run a command and looks at what it was sent back.
func runCommand(t *testing.T, s *server, p *provider, arguments args) run {
	t.Helper()
	key := fmt.Sprintf("run this: %s %d", t.Name(), time.Now().UnixNano())
	p.on(key, calls(call("run_command", arguments)), says("Done."))
	began := time.Now()
	r := run{session: s.ask(key), took: time.Since(began)}
	results := p.lastSent(t, key).results()
	if len(results) != 1 {
		t.Fatalf("the model was sent %d results", len(results))
	}
	r.meta, r.body = results[0].result(t)
	return r
}

// number is a figure of the metadata line; it fails the test where it is absent.
func (r run) number(t *testing.T, key string) int64 {
	t.Helper()
	n, ok := r.meta[key].(float64)
	if !ok {
		t.Fatalf("the metadata have no number %q: %v", key, r.meta)
	}
	return int64(n)
}

func (r run) shown(t *testing.T) [][2]int64 {
	t.Helper()
	list, _ := r.meta["shown"].([]any)
	ranges := make([][2]int64, len(list))
	for i, pair := range list {
		p := pair.([]any)
		ranges[i] = [2]int64{int64(p[0].(float64)), int64(p[1].(float64))}
	}
	return ranges
}

// without takes the shown ranges of the copy out of the body and returns what
// is left, which are markers, and how many bytes the ranges have. The end of one
// stream and the beginning of the next may be one range, with a label between
// them in the body.
func (r run) without(t *testing.T, text string, ranges [][2]int64) (left string, seen int64) {
	t.Helper()
	var missing []string
	for _, label := range []string{"[stderr]\n", "\n[stderr]\n"} {
		left, seen, missing = strings.ReplaceAll(r.body, label, ""), 0, nil
		for _, span := range ranges {
			if span[0] < 0 || span[0] >= span[1] || span[1] > int64(len(text)) {
				t.Fatalf("the range %v is not in the copy of %d bytes", span, len(text))
			}
			before, after, found := strings.Cut(left, text[span[0]:span[1]])
			if !found {
				missing = append(missing, fmt.Sprint(span))
			}
			left, seen = before+"\x00"+after, seen+span[1]-span[0]
		}
		if missing == nil {
			return left, seen
		}
	}
	t.Errorf("the ranges %v are said to be shown and are not in the body", missing)
	return left, seen
}

// checkKept holds the metadata of a plain cut result against its copy: the
// figures add up, and each range that is said to be shown stands in the body.
func (r run) checkKept(t *testing.T, s *server) string {
	t.Helper()
	output := s.output(r.session)
	text := s.copyOf(r.session, output.ID)
	if r.meta["output_id"] != output.ID || r.meta["retention"] != "kept" {
		t.Errorf("metadata do not name the copy %s: %v", output.ID, r.meta)
	}
	if r.number(t, "total_bytes") != int64(len(text)) || output.TotalBytes != int64(len(text)) {
		t.Errorf("total_bytes %v, in the list %d; the copy has %d bytes", r.meta["total_bytes"], output.TotalBytes, len(text))
	}
	if r.meta["complete"] != output.Complete {
		t.Errorf("complete is %v for the model and %v in the list", r.meta["complete"], output.Complete)
	}
	ranges := r.shown(t)
	if len(ranges) == 0 || len(ranges) > 32 {
		t.Fatalf("shown has %d ranges", len(ranges))
	}
	left, seen := r.without(t, text, ranges)
	if seen > 24576 {
		t.Errorf("the body shows %d bytes of the copy", seen)
	}
	if len(left) > 1500 {
		t.Errorf("%d bytes of the body are neither shown ranges nor short markers: %.300q", len(left), left)
	}
	if !utf8.ValidString(r.body) {
		t.Error("the body is not valid UTF-8")
	}
	if !reflect.DeepEqual(output.Coverage, ranges) {
		t.Errorf("coverage %v, shown %v", output.Coverage, ranges)
	}
	return text
}

func TestSmallResultsReachTheModelWhole(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	for _, test := range []struct {
		name, command, body string
		exit                float64
	}{
		{"a line", "echo hello", "hello\n", 0},
		{"both streams in the order in which they came", "echo out; sleep 0.1; echo err >&2; sleep 0.1; echo out again", "out\nerr\nout again\n", 0},
		{"nothing at all", "true", "(no output)", 0},
		{"an exit code is no error", "echo almost; exit 3", "almost\n", 3},
		{"the end of a pipe is what the shell reports", "false | cat", "(no output)", 0},
		{"head may end what feeds it", "yes | head -1", "y\n", 0},
		{"one line of 2,000 characters", "head -c 2000 /dev/zero | tr '\\0' x", strings.Repeat("x", 2000), 0},
		{"five thousand lines of one character", "yes 1 | head -5000", strings.Repeat("1\n", 5000), 0},
		{"exactly the budget", "head -c 24576 /dev/zero | tr '\\0' x", strings.Repeat("x", 24576), 0},
		{"escape sequences are taken away", "printf '\\033[31mred\\033[0m\\n'", "red\n", 0},
		{"a terminal is not there", "(read x </dev/tty) 2>/dev/null || echo none", "none\n", 0},
		{"standard input is at its end", "cat; echo end", "end\n", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := runCommand(t, s, p, args{"command": test.command})
			if r.body != test.body {
				t.Errorf("body %.200q, want %.200q", r.body, test.body)
			}
			if r.meta["is_error"] != false || r.meta["truncated"] != false || r.meta["exit_code"] != test.exit {
				t.Errorf("metadata %v", r.meta)
			}
			if r.meta["retention"] != "not_needed" {
				t.Errorf("retention %v", r.meta["retention"])
			}
			for _, key := range []string{"execution_ms", "sandbox", "sandbox_kind"} {
				if _, there := r.meta[key]; !there {
					t.Errorf("metadata lack %s: %v", key, r.meta)
				}
			}
			for _, key := range []string{"output_id", "shown", "total_bytes", "reasons", "approved", "signal", "timed_out", "replaced_bytes", "offset", "nested"} {
				if value, there := r.meta[key]; there {
					t.Errorf("metadata have %s = %v", key, value)
				}
			}
			if len(s.outputs(r.session)) != 0 {
				t.Error("something was kept")
			}
			if r.took > 8*time.Second {
				t.Errorf("it took %v", r.took)
			}
		})
	}
}

func TestBigResultsAreCutAndKept(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)

	t.Run("the copy is what was printed", func(t *testing.T) {
		r := runCommand(t, s, p, args{"command": "seq 1 200000"})
		text := r.checkKept(t, s)
		var want strings.Builder
		for i := 1; i <= 200000; i++ {
			fmt.Fprintln(&want, i)
		}
		if text != want.String() {
			t.Error("the copy is another text")
		}
		if r.meta["truncated"] != true || r.meta["complete"] != true {
			t.Errorf("metadata %v", r.meta)
		}
		if r.number(t, "captured_bytes") != int64(len(text)) || r.meta["omitted_bytes"] != nil && r.number(t, "omitted_bytes") != 0 {
			t.Errorf("metadata %v", r.meta)
		}
		ranges := r.shown(t)
		head, tail := ranges[0][1]-ranges[0][0], ranges[1][1]-ranges[1][0]
		if len(ranges) != 2 || ranges[0][0] != 0 || ranges[1][1] != int64(len(text)) || tail < head*3/2 {
			t.Errorf("not a third of head and two thirds of tail: %v", ranges)
		}
		gap := fmt.Sprint(ranges[1][0] - ranges[0][1])
		if plain := strings.ReplaceAll(r.body, ",", ""); !strings.Contains(plain, gap) || !strings.Contains(r.body, r.meta["output_id"].(string)) {
			t.Errorf("the marker names neither the gap of %s bytes nor the copy", gap)
		}
		if !reflect.DeepEqual(r.meta["reasons"], []any{"preview"}) {
			t.Errorf("reasons %v", r.meta["reasons"])
		}
	})

	t.Run("one byte over the budget", func(t *testing.T) {
		r := runCommand(t, s, p, args{"command": "head -c 24577 /dev/zero | tr '\\0' x"})
		if r.checkKept(t, s); r.meta["truncated"] != true {
			t.Errorf("metadata %v", r.meta)
		}
	})

	t.Run("no character is split", func(t *testing.T) {
		r := runCommand(t, s, p, args{"command": "python3 -c \"print('a' * 24575 + '\U0001F600' * 9000)\""})
		r.checkKept(t, s)
	})

	t.Run("an error among much output, and the exit code", func(t *testing.T) {
		// The pauses keep the error in the middle, however late a busy machine reads.
		r := runCommand(t, s, p, args{"command": "seq 1 20000; sleep 0.5; echo FATAL X >&2; sleep 0.5; seq 1 20000; exit 3"})
		r.checkKept(t, s)
		if !strings.Contains(r.body, "FATAL X\n") || r.number(t, "exit_code") != 3 || r.meta["is_error"] != false {
			t.Errorf("the error is not seen: %v", r.meta)
		}
	})

	t.Run("a JSON result is cut between its elements", func(t *testing.T) {
		r := runCommand(t, s, p, args{"command": `python3 -c "import json; print(json.dumps([{'id': i, 'text': 'item, %d' % i} for i in range(2000)]))"`})
		text := r.checkKept(t, s)
		ranges := r.shown(t)
		head, tail := text[:ranges[0][1]], text[ranges[len(ranges)-1][0]:]
		if end := strings.TrimRight(head, ", \n"); !strings.HasSuffix(end, "}") {
			t.Errorf("the head ends in the middle of an element: %.60q", head[len(head)-60:])
		}
		if begin := strings.TrimLeft(tail, ", \n"); !strings.HasPrefix(begin, `{"id"`) {
			t.Errorf("the tail begins in the middle of an element: %.60q", tail)
		}
	})
}

func TestMoreThanCanBeKept(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	const printed = 20 << 20
	for _, test := range []struct {
		name, command string
		bytes         int64
	}{
		{"on one stream", "seq 1 100000000 | head -c 20971520; echo END OF IT", printed + 10},
		{"on both streams", "seq 1 100000000 | head -c 20971520; seq 1 1000000 | head -c 3145728 >&2", printed + 3<<20},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := runCommand(t, s, p, args{"command": test.command})
			text := r.checkKept(t, s)
			if len(text) > 8<<20 {
				t.Errorf("the copy has %d bytes", len(text))
			}
			if r.meta["complete"] != false || r.meta["truncated"] != true || !strings.Contains(fmt.Sprint(r.meta["reasons"]), "capture") {
				t.Errorf("metadata %v", r.meta)
			}
			if captured := r.number(t, "captured_bytes"); captured != test.bytes {
				t.Errorf("captured_bytes %d, printed %d", captured, test.bytes)
			}
			kept := test.bytes - r.number(t, "omitted_bytes")
			if markers := int64(len(text)) - kept; markers <= 0 || markers > 1000 {
				t.Errorf("kept %d bytes of the output in a copy of %d", kept, len(text))
			}
			if !strings.HasPrefix(text, "1\n2\n3\n") || !strings.Contains(text[len(text)-4000:], "\n") {
				t.Error("the head is lost")
			}
			if page := s.page(r.session, r.meta["output_id"].(string), 0); page.Complete {
				t.Error("a page calls the copy complete")
			}
		})
	}
}

func TestOutputThatIsNoPlainText(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)

	t.Run("bytes that are not UTF-8 are replaced, counted and kept", func(t *testing.T) {
		r := runCommand(t, s, p, args{"command": `printf '\263\311\271\246\n'`})
		if r.number(t, "replaced_bytes") != 2 || // two of the four make a character by chance
			r.meta["retention"] != "kept" {
			t.Errorf("metadata %v", r.meta)
		}
		if raw := s.rawOf(r.session, r.meta["output_id"].(string)); raw != "\263\311\271\246\n" {
			t.Errorf("raw %q", raw)
		}
		if output := s.output(r.session); output.ReplacedBytes != 2 {
			t.Errorf("the list says %d", output.ReplacedBytes)
		}
	})

	t.Run("a NUL does no harm", func(t *testing.T) {
		r := runCommand(t, s, p, args{"command": `printf 'a\0b'`})
		if turn := s.say(r.session, "and then"); turn.State != "done" {
			t.Errorf("the next turn is %s: %s", turn.State, turn.Error)
		}
		if raw := s.rawOf(r.session, r.meta["output_id"].(string)); raw != "a\x00b" {
			t.Errorf("raw %q", raw)
		}
	})

	t.Run("binary output is named, with its size and checksum", func(t *testing.T) {
		r := runCommand(t, s, p, args{"command": `python3 -c "import sys; sys.stdout.buffer.write(bytes(range(256))*400)"`})
		var content []byte
		for range 400 {
			for b := range 256 {
				content = append(content, byte(b))
			}
		}
		sum := sha256.Sum256(content)
		if !strings.Contains(r.body+fmt.Sprint(r.meta), hex.EncodeToString(sum[:])) {
			t.Errorf("the checksum is not named: %v %.300s", r.meta, r.body)
		}
		if r.number(t, "captured_bytes") != int64(len(content)) {
			t.Errorf("metadata %v", r.meta)
		}
		id := r.meta["output_id"].(string)
		dump := s.copyOf(r.session, id)
		if int64(len(dump)) != r.number(t, "total_bytes") || !strings.Contains(dump[:40], "  00 01 02 03 04") {
			t.Errorf("the dump has %d bytes: %.60q", len(dump), dump)
		}
		if raw := s.rawOf(r.session, id); raw != string(content) {
			t.Errorf("raw has %d bytes", len(raw))
		}
	})

	t.Run("overwritten lines are collapsed for the model and kept in the copy", func(t *testing.T) {
		r := runCommand(t, s, p, args{"command": `for i in $(seq 500); do printf '\rp %d' $i; done; echo; printf '\033[?25lX\033[?25h\n'`})
		if r.body != "p 500\nX\n" && !strings.HasPrefix(r.body, "p 500\nX\n") {
			t.Errorf("body %.200q", r.body)
		}
		if r.meta["truncated"] != true || r.meta["retention"] != "kept" {
			t.Errorf("metadata %v", r.meta)
		}
		if text := s.copyOf(r.session, r.meta["output_id"].(string)); !strings.Contains(text, "\rp 499\rp 500\n") {
			t.Errorf("the copy is not what was captured: %.100q", text)
		}
	})

	t.Run("a file with lone carriage returns is never lost", func(t *testing.T) {
		r := runCommand(t, s, p, args{"command": `printf 'one\rtwo\rthree\r' > f; cat f`})
		if text := s.copyOf(r.session, r.meta["output_id"].(string)); text != "one\rtwo\rthree\r" {
			t.Errorf("copy %q", text)
		}
	})
}

func TestCommandsThatDoNotEndByThemselves(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	for _, test := range []struct {
		name string
		args args
		most time.Duration
		body string
		meta map[string]any
	}{
		{"a child that keeps the pipe open", args{"command": "sleep 60 & echo done"}, 5 * time.Second, "done\n", map[string]any{"exit_code": 0.0}},
		{"a child that goes on writing", args{"command": "(while :; do echo t; sleep 0.1; done) & echo fg"}, 6 * time.Second, "fg\n", map[string]any{"exit_code": 0.0}},
		{"a silent child that holds standard error", args{"command": "sleep 60 >/dev/null & echo x"}, 5 * time.Second, "x\n", map[string]any{"exit_code": 0.0}},
		{"a detached grandchild", args{"command": "setsid sleep 60 & echo done"}, 5 * time.Second, "done\n", map[string]any{"exit_code": 0.0}},
		{"its own time limit", args{"command": "echo early; sleep 60", "timeout_s": 1}, 6 * time.Second, "early\n", map[string]any{"timed_out": true}},
		{"output without end", args{"command": "yes", "timeout_s": 2}, 10 * time.Second, "y\n", map[string]any{"timed_out": true, "complete": false}},
		{"a signal", args{"command": "echo dying; kill -9 $$"}, 5 * time.Second, "dying\n", map[string]any{}},
		{"an editor that asks", args{"command": "git rebase -i HEAD; read x; echo rest"}, 5 * time.Second, "rest\n", map[string]any{"exit_code": 0.0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := runCommand(t, s, p, test.args)
			if r.took > test.most {
				t.Errorf("it took %v", r.took)
			}
			if !strings.Contains(r.body, test.body) {
				t.Errorf("body %.200q lacks %q", r.body, test.body)
			}
			for key, want := range test.meta {
				if r.meta[key] != want {
					t.Errorf("%s is %v, want %v", key, r.meta[key], want)
				}
			}
			if r.meta["is_error"] != false {
				t.Errorf("metadata %v", r.meta)
			}
			if test.name == "a signal" && !strings.Contains(strings.ToUpper(fmt.Sprint(r.meta["signal"])), "KILL") {
				t.Errorf("signal %v", r.meta["signal"])
			}
		})
	}
}

func TestStreamsAreReadAtOnce(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	r := runCommand(t, s, p, args{"command": `python3 -c "import sys;sys.stderr.write('e'*300000);print('ok')"`})
	if r.took > 10*time.Second || !strings.Contains(r.body, "ok\n") {
		t.Errorf("took %v, body ends %q", r.took, r.body[max(0, len(r.body)-50):])
	}
}
