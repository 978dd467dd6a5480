package tools

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"offcut/models"
)

func utf16Bytes(text string, big, mark bool) string {
	e := encoding{unit: 2, big: big}
	if mark {
		e.bom = 2
	}
	return string(e.encode(text))
}

func TestReadFile(t *testing.T) {
	long := strings.Repeat("x", 3000)
	for _, tt := range []struct {
		name, content string
		args          arguments
		want          string
		line, offset  int64 // where it goes on
		more          bool
		encoding, end string
	}{
		{"all of it", "a\nb\n", nil, "a\nb\n", 3, 0, false, "", ""},
		{"no final newline", "a\nb", nil, "a\nb", 2, 1, false, "", ""},
		{"a line of it", "a\nb\nc\n", arguments{"line": 2, "limit": 1}, "b\n", 3, 0, true, "", ""},
		{"the last line", "a\nb", arguments{"line": 2}, "b", 2, 1, false, "", ""},
		{"empty", "", nil, "", 1, 0, false, "", ""},
		{"only a newline", "\n", nil, "\n", 2, 0, false, "", ""},
		{"CRLF", "a\r\nb\r\n", arguments{"line": 2}, "b\r\n", 3, 0, false, "", "CRLF"},
		{"lone CR", "a\rb\rc", arguments{"line": 2, "limit": 1}, "b\r", 3, 0, true, "", "CR"},
		{"UTF-8 with its mark", "\xEF\xBB\xBFä\nb\n", nil, "ä\nb\n", 3, 0, false, "UTF-8 with BOM", ""},
		{"a mark alone", "\xEF\xBB\xBF", nil, "", 1, 0, false, "UTF-8 with BOM", ""},
		{"UTF-16LE", utf16Bytes("a\r\n漢字😀\nc\n", false, true), arguments{"line": 2}, "漢字😀\nc\n", 4, 0, false, "UTF-16LE", "CRLF"},
		{"UTF-16BE", utf16Bytes("a\nb\n", true, true), arguments{"line": 2}, "b\n", 3, 0, false, "UTF-16BE", ""},
		{"UTF-16 without a mark", utf16Bytes("hello\nworld\n", false, false), arguments{"line": 2}, "world\n", 3, 0, false, "UTF-16LE", ""},
		{"Latin-1", "caf\xe9\n", nil, "caf\uFFFD\n", 2, 0, false, "not UTF-8", ""},
		{"inside a line", long + "\nb\n", arguments{"byte_offset": 2998}, "xx\nb\n", 3, 0, false, "", ""},
		{"at the end of a line", "ab\nc\n", arguments{"byte_offset": 2}, "\nc\n", 3, 0, false, "", ""},
		{"at the end of the file", "ab", arguments{"byte_offset": 2}, "", 1, 2, false, "", ""},
		{"null for what is left out", "a\n", arguments{"line": nil}, "a\n", 2, 0, false, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.write("f", tt.content)
			args := arguments{"path": "f"}
			for k, v := range tt.args {
				args[k] = v
			}
			got := b.ok("read_file", args)
			meta := got.Metadata
			if got.Content != tt.want {
				t.Errorf("read %q, want %q", got.Content, tt.want)
			}
			if *meta.NextLine != tt.line || *meta.NextByteOffset != tt.offset || *meta.FileHasMore != tt.more || meta.Truncated != tt.more {
				t.Errorf("goes on at %d+%d, more %v, truncated %v", *meta.NextLine, *meta.NextByteOffset, *meta.FileHasMore, meta.Truncated)
			}
			if meta.Encoding != tt.encoding || meta.Newline != tt.end || *meta.FileBytes != int64(len(tt.content)) {
				t.Errorf("says %q, %q, %d bytes", meta.Encoding, meta.Newline, *meta.FileBytes)
			}
		})
	}
}

func TestBytesOfAFileThatAreNoTextAreKept(t *testing.T) {
	b := newBench(t)
	b.write("f", "first\ncaf\xe9\nlast\n")
	meta := b.ok("read_file", arguments{"path": "f", "line": 2, "limit": 1}).Metadata
	if meta.ReplacedBytes != 1 || meta.Retention != models.RetentionKept {
		t.Errorf("the metadata are %s", meta.Line())
	}
	if _, raw := b.original(meta.OutputID); raw != "caf\xe9\n" {
		t.Errorf("%q is kept", raw)
	}
}

func TestReadFileRefuses(t *testing.T) {
	b := newBench(t)
	b.write("two", "a\nä\n")
	b.write("unfinished", "a\nb")
	b.write("empty", "")
	b.write("binary", "\x7fELF\x00\x01\x02")
	b.write("nul", "a\x00b")
	b.write("wide", utf16Bytes("a😀\n", false, true))
	b.write("folder/x", "")
	if err := unix.Mkfifo(b.path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args  arguments
		words []string
	}{
		{arguments{"path": "none"}, []string{"no none"}},
		{arguments{"path": "folder"}, []string{"is a folder"}},
		{arguments{"path": "two/x"}, []string{"goes through a file"}},
		{arguments{"path": "pipe"}, []string{"named pipe"}},
		{arguments{"path": "binary"}, []string{"binary", "7 bytes"}},
		{arguments{"path": "nul"}, []string{"binary", "3 bytes"}},
		{arguments{"path": "two", "line": 3}, []string{"past the end", "2 lines"}},
		{arguments{"path": "unfinished", "line": 3}, []string{"past the end", "2 lines"}},
		{arguments{"path": "empty", "line": 2}, []string{"past the end", "0 lines"}},
		{arguments{"path": "two", "line": 2, "byte_offset": 1}, []string{"inside a character", "0 and 2"}},
		{arguments{"path": "wide", "byte_offset": 4}, []string{"inside a character", "2 and 6"}},
		{arguments{"path": "wide", "byte_offset": 1}, []string{"inside a character", "0 and 2"}},
		{arguments{"path": "two", "line": 1, "byte_offset": 2}, []string{"past the end of line 1", "2 bytes"}},
		{arguments{"path": "two", "line": 0}, []string{"line", "minimum", `"line":0`}},
		{arguments{"path": "a\x00b"}, []string{"NUL"}},
		{arguments{"path": strings.Repeat("n", 300)}, []string{"too long"}},
	} {
		b.refused("read_file", tt.args, tt.words...)
	}
}

// Whatever a file holds, its pages joined are the file, and each page keeps to
// its bounds.
func TestPagesJoinedAreTheFile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "bc ", "\n", "\r\n", "ä", "漢", "😀", strings.Repeat("word ", 300), strings.Repeat("é", 20000), strings.Repeat("short\n", 900)}
	for round := range 12 {
		var text strings.Builder
		for range 60 {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		for kind, content := range map[string]string{"UTF-8": text.String(), "UTF-16": utf16Bytes(text.String(), round%2 == 0, true)} {
			b := newBench(t)
			b.write("f", content)
			var joined strings.Builder
			args := arguments{"path": "f", "limit": 1 + random.IntN(3000)}
			for pages := 0; ; pages++ {
				got := b.ok("read_file", args)
				joined.WriteString(got.Content)
				if len(got.Content) > maxFilePage || !utf8.ValidString(got.Content) {
					t.Fatalf("%s: a page of %d bytes", kind, len(got.Content))
				}
				if !*got.Metadata.FileHasMore {
					break
				}
				if got.Content == "" || pages > 3000 {
					t.Fatalf("%s: the pages do not get on at %v", kind, args)
				}
				args["line"], args["byte_offset"] = *got.Metadata.NextLine, *got.Metadata.NextByteOffset
			}
			if joined.String() != text.String() {
				t.Errorf("%s: %d bytes were read of %d", kind, joined.Len(), text.Len())
			}
		}
	}
}

func TestReadFileLineBeyondItsPage(t *testing.T) {
	b := newBench(t)
	b.write("f", strings.Repeat("y", 40000)+"\nnext\n")
	first := b.ok("read_file", arguments{"path": "f"})
	if len(first.Content) != maxFilePage || !first.Metadata.Truncated || *first.Metadata.NextLine != 1 || *first.Metadata.NextByteOffset != maxFilePage {
		t.Errorf("first page: %d bytes, %+v", len(first.Content), first.Metadata)
	}
	second := b.ok("read_file", arguments{"path": "f", "line": 1, "byte_offset": maxFilePage})
	if second.Content != strings.Repeat("y", 40000-maxFilePage)+"\nnext\n" || second.Metadata.Truncated {
		t.Errorf("second page: %d bytes, %+v", len(second.Content), second.Metadata)
	}
	b.budget = 4096
	if small := b.ok("read_file", arguments{"path": "f"}); len(small.Content) != 4096 || !small.Metadata.Truncated {
		t.Errorf("with a budget of 4,096: %d bytes", len(small.Content))
	}
}

func TestReadFileLateLine(t *testing.T) {
	b := newBench(t)
	var text strings.Builder
	for n := 1; n <= 300_000; n++ {
		fmt.Fprintf(&text, "line %d of many, with something after it\r\n", n)
	}
	b.write("big", text.String())
	for _, n := range []int64{299_999, 1, 150_000, 300_000, 2, 299_998} {
		got := b.ok("read_file", arguments{"path": "big", "line": n, "limit": 1})
		if want := fmt.Sprintf("line %d of many, with something after it\r\n", n); got.Content != want || got.Metadata.Newline != "CRLF" {
			t.Errorf("line %d is %q, %q", n, got.Content, got.Metadata.Newline)
		}
	}
	b.refused("read_file", arguments{"path": "big", "line": 300_001}, "300000 lines")

	// A change of the file is noticed, whatever was remembered of it.
	b.write("big", "\n\n\n"+text.String())
	if got := b.ok("read_file", arguments{"path": "big", "line": 299_999, "limit": 1}); !strings.HasPrefix(got.Content, "line 299996 ") {
		t.Errorf("after a change: %q", got.Content)
	}
}

// What is scanned for the next page of a large file does not grow with it.
func TestNextPageIsNear(t *testing.T) {
	text := strings.NewReader(strings.Repeat("0123456789abcde\n", 64<<16)) // 64 MiB
	const line = 4_000_000
	index := &lineIndex{}
	start, err := lineStart(text, text.Size(), encoding{unit: 1}, index, line)
	if err != nil || start != (line-1)*16 {
		t.Fatalf("line %d begins at %d, %v", line, start, err)
	}
	if near := index.nearest(line+500, 0); start+500*16-near.offset > markEvery+blockBytes || near.ended != near.offset/16 {
		t.Errorf("the scan begins at %+v", near)
	}
	long := strings.NewReader(strings.Repeat("x", 3<<20))
	index = &lineIndex{}
	for _, offset := range []int64{1 << 20, 2 << 20} {
		if ok, _, err := lineGoesTo(long, encoding{unit: 1}, index, 0, offset); !ok || err != nil || index.clearTo != offset {
			t.Errorf("at %d: %v, %v, looked up to %d", offset, ok, err, index.clearTo)
		}
	}
}

func FuzzEncodings(f *testing.F) {
	f.Add([]byte("a\xe4\xb8"), 2)
	f.Add([]byte("\xff\xfea\x00\x3d\xd8"), 5)
	f.Fuzz(func(t *testing.T, raw []byte, most int) {
		for _, e := range []encoding{{unit: 1}, {unit: 2}, {unit: 2, big: true}} {
			most := max(4, most)
			text, used, replaced := e.decode(raw, most)
			if !utf8.ValidString(text) || len(text) > most || used > len(raw) || replaced > int64(len(raw)) {
				t.Fatalf("%q is %q, %d used, %d replaced", raw, text, used, replaced)
			}
			if used == 0 && len(raw) > 0 {
				t.Fatalf("%q does not get on", raw)
			}
			if e.unit == 2 && replaced == 0 && used == len(raw) && string(e.encode(text)) != string(raw) {
				t.Fatalf("%q does not come back from %q", raw, text)
			}
			if n := e.begun(raw); n > len(raw) {
				t.Fatalf("%q ends with %d bytes", raw, n)
			}
		}
		_ = sniff(raw)
	})
}
