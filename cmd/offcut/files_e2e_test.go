package main_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestFilesAreReadByPages(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	for _, test := range []struct {
		name, make string
		args       args
		body       string
		meta       map[string]any
	}{
		{
			"a late line of a file with CRLF", `python3 -c "open('f','wb').write(b''.join(b'line %d\r\n' % i for i in range(1, 300001)))"`,
			args{"line": 299999},
			"line 299999\r\nline 300000\r\n",
			map[string]any{"has_more": false},
		},
		{"no newline at the end", "printf 'one\ntwo' > f", args{"line": 2}, "two", map[string]any{"has_more": false, "file_bytes": 7.0}},
		{"a limit of lines", "seq 1 100 > f", args{"line": 10, "limit": 2}, "10\n11\n", map[string]any{"has_more": true, "next_line": 12.0}},
		{"UTF-16 is named", `python3 -c "open('f','wb').write('hé\n'.encode('utf-16'))"`, args{}, "hé\n", map[string]any{"is_error": false}},
		{"an empty file", ": > f", args{}, "", map[string]any{"is_error": false, "file_bytes": 0.0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			key := "read a file: " + test.name
			test.args["path"] = "f"
			p.on(key, runs(test.make), calls(call("read_file", test.args)), says("Read."))
			s.ask(key)
			meta, body := p.lastSent(t, key).results()[1].result(t)
			if test.body != "" && body != test.body {
				t.Errorf("body %.100q, want %q", body, test.body)
			}
			for name, want := range test.meta {
				if meta[name] != want {
					t.Errorf("%s is %v, want %v: %v", name, meta[name], want, meta)
				}
			}
		})
	}
}

func TestALongLineIsReadInPieces(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.onFunc("read the long line",
		func(request) reply { return runs(`python3 -c "open('f','w').write('é' * 60000 + '\nsecond\n')"`) },
		func(request) reply { return calls(call("read_file", args{"path": "f", "limit": 1})) },
		continueReading(t))
	session := s.ask("read the long line")
	var line strings.Builder
	for _, result := range p.lastSent(t, "read the long line").results()[1:] {
		meta, body := result.result(t)
		if len(body) > 32768 {
			t.Errorf("a page of %d bytes: %v", len(body), meta)
		}
		line.WriteString(body)
	}
	if want := strings.Repeat("é", 60000) + "\n"; line.String() != want {
		t.Errorf("the pieces joined have %d bytes, the line has %d", line.Len(), len(want))
	}
	if len(s.outputs(session)) != 0 {
		t.Error("a page of a file was kept")
	}
}

// continueReading goes on in a line that is longer than a page.
func continueReading(t *testing.T) answerer {
	t.Helper()
	return func(r request) reply {
		results := r.results()
		meta, _ := results[len(results)-1].result(t)
		offset, more := meta["next_byte_offset"].(float64)
		if !more || offset == 0 || meta["next_line"] != 1.0 {
			return says("Read.")
		}
		return calls(call("read_file", args{"path": "f", "limit": 1, "line": 1, "byte_offset": offset}))
	}
}

func TestFilesAreWrittenAndEdited(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	long := strings.Repeat("a line of a large file\n", 40000)
	p.on("write and edit",
		calls(call("write_file", args{"path": "a/b.txt", "content": "one\ntwo\ntwo\n"})),
		calls(call("edit_file", args{"path": "a/b.txt", "old_string": "two", "new_string": "2"})),
		calls(call("edit_file", args{"path": "a/b.txt", "old_string": "two", "new_string": "2", "replace_all": true})),
		calls(call("write_file", args{"path": "large.txt", "content": long})),
		runs("cat a/b.txt; wc -c < large.txt; ls"),
		calls(call("list_files", args{"path": "."}), call("search_files", args{"pattern": "^2$", "path": "."})),
		says("Done."))
	s.ask("write and edit")
	results := p.lastSent(t, "write and edit").results()
	for i, wrong := range []bool{false, true, false, false, false, false, false} {
		if meta, body := results[i].result(t); meta["is_error"] != wrong {
			t.Errorf("result %d: %v %.200q", i, meta, body)
		}
	}
	if _, body := results[4].result(t); body != fmt.Sprintf("one\n2\n2\n%d\na\nlarge.txt\n", len(long)) {
		t.Errorf("on the disk: %q", body)
	}
	if _, body := results[5].result(t); !strings.Contains(body, "a/") || !strings.Contains(body, "large.txt") {
		t.Errorf("listed: %q", body)
	}
	if _, body := results[6].result(t); !strings.Contains(body, "a/b.txt") {
		t.Errorf("found: %q", body)
	}
}
