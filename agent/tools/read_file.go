package tools

import (
	"context"
	_ "embed"
	"io/fs"
	"os"
	"unicode/utf8"

	"offcut/agent"
	"offcut/models"
)

//go:embed read_file.md
var readFileDescription string

const (
	// maxFilePage bounds one page of a file, in bytes of UTF-8: 32 KiB.
	maxFilePage = 32 << 10
	// minFilePage is a page even where the round leaves less.
	minFilePage = 2 << 10
	// defaultLines is how many lines a page has where the model says nothing.
	defaultLines = 2000
)

type readFileArgs struct {
	Path       string `json:"path" jsonschema:"the file, relative to the workspace"`
	Line       int64  `json:"line,omitempty" jsonschema:"the line to begin with, counted from 1"`
	Limit      int64  `json:"limit,omitempty" jsonschema:"the most lines to return"`
	ByteOffset int64  `json:"byte_offset,omitempty" jsonschema:"where in that line to begin, in bytes; for a line longer than a page"`
}

type readFile struct {
	folders folders
	indexes *lineIndexes
}

func newReadFile(f folders) agent.Tool {
	t := readFile{folders: f, indexes: &lineIndexes{}}
	return newTyped(agent.ToolSpec{Name: "read_file", Description: readFileDescription}, t.run,
		atLeast("line", 1), standard("line", 1),
		atLeast("limit", 1), standard("limit", defaultLines),
		atLeast("byte_offset", 0), standard("byte_offset", 0))
}

func (t readFile) run(_ context.Context, call agent.Call, args readFileArgs) (agent.ToolResult, error) {
	file, info, place, err := t.folders.open(call, args.Path)
	if err != nil {
		return agent.ToolResult{}, err
	}
	defer func() { _ = file.Close() }()
	if info.IsDir() {
		return agent.ToolResult{}, refusef("%s is a folder. list_files shows what is in it.", place.shown)
	}
	start, err := readBlock(file, make([]byte, sniffBytes), 0)
	if err != nil {
		return agent.ToolResult{}, told(place.shown, err)
	}
	e := sniff(start)
	if e.binary {
		result := agent.ErrorResult(call.ID, "%s is a binary file of %d bytes, not text. Look at it with a command, such as file, strings or xxd.", clean(place.shown), info.Size())
		result.Metadata.Binary, result.Metadata.FileBytes = true, models.Ptr(info.Size())
		return result, nil
	}

	page := filePage{file: file, size: info.Size(), encoding: e, index: t.indexes.of(info), most: pageBudget(call), shown: place.shown}
	if err := page.read(args.Line, args.ByteOffset, args.Limit); err != nil {
		return agent.ToolResult{}, err
	}
	return page.result(info), nil
}

func pageBudget(call agent.Call) int {
	if call.Budget == 0 {
		return maxFilePage
	}
	return max(minFilePage, min(maxFilePage, call.Budget))
}

// fullReason says what cuts a body that has as many bytes as it may: the share
// of the context window, where that is less than the tool's own bound.
func fullReason(budget int) models.Reason {
	if budget < maxFilePage {
		return models.ReasonWindow
	}
	return models.ReasonPreview
}

// filePage is one bounded read of a text file.
type filePage struct {
	file     *os.File
	size     int64
	encoding encoding
	index    *lineIndex
	most     int // bytes of text
	shown    string

	text     string
	raw      []byte // that the text was made of
	replaced int64
	// Where the text after the page begins.
	nextLine, nextOffset int64
	more                 bool
	full                 bool // more of the lines that were asked for had no room
}

func (p *filePage) result(info fs.FileInfo) agent.ToolResult {
	meta := models.ResultMetadata{
		Truncated:      p.more,
		NextLine:       &p.nextLine,
		NextByteOffset: &p.nextOffset,
		FileHasMore:    &p.more,
		FileBytes:      models.Ptr(info.Size()),
		Encoding:       p.encoding.name,
		Newline:        p.encoding.newline(),
		ReplacedBytes:  p.replaced,
	}
	switch {
	case p.more && p.full:
		meta.Reasons = []models.Reason{fullReason(p.most)}
	case p.more:
		meta.Reasons = []models.Reason{models.ReasonPreview}
	}
	if p.replaced > 0 && meta.Encoding == "" {
		meta.Encoding = "not UTF-8"
	}
	result := agent.ToolResult{Content: p.text, Metadata: meta}
	if p.replaced > 0 {
		result.Original = &agent.Original{MediaType: "text/plain", Bytes: p.raw}
	}
	return result
}

func (p *filePage) read(line, offset, limit int64) error {
	start, err := lineStart(p.file, p.size, p.encoding, p.index, line)
	if past, ok := err.(pastEnd); ok { //nolint:errorlint // it is never wrapped
		return refusef("Line %d is past the end: %s has %s.", line, p.shown, counted(past.lines, "line", "lines"))
	} else if err != nil {
		return told(p.shown, err)
	}
	if err := p.checkOffset(line, start, offset); err != nil {
		return err
	}
	at := start + offset
	// A unit of UTF-16 can be a single byte of text.
	raw, err := readBlock(p.file, make([]byte, p.most*p.encoding.unit), at)
	if err != nil {
		return told(p.shown, err)
	}
	used := p.cut(raw, limit, at+int64(len(raw)) >= p.size)
	ended := p.encoding.count(raw[:used])
	p.nextLine, p.nextOffset = line+ended, int64(used)+offset
	if ended > 0 {
		p.nextOffset = int64(used - p.afterLastEnd(raw[:used]))
	}
	p.raw, p.more = raw[:used], at+int64(used) < p.size
	return nil
}

// cut decides where the page ends: after limit lines, or after the last whole
// line that fits, or inside a line that alone is longer than a page. Nothing
// comes after raw where it is the last of the file.
func (p *filePage) cut(raw []byte, limit int64, last bool) (used int) {
	end := 0
	for n := int64(0); n < limit && end < len(raw); n++ {
		next := p.encoding.next(raw, end)
		if next < 0 {
			end = len(raw)
			break
		}
		end = next
	}
	window := raw[:end]
	if end == len(raw) && !last {
		window = raw[:end-p.encoding.begun(raw)]
	}
	p.text, used, p.replaced = p.encoding.decode(window, p.most)
	if used == end && (end < len(raw) || last) {
		return used // all that was asked for, or all that there is
	}
	p.full = true
	if whole := p.afterLastEnd(raw[:used]); whole > 0 {
		p.text, used, p.replaced = p.encoding.decode(raw[:whole], p.most)
	}
	return used
}

// afterLastEnd is where the last line that has not ended begins; 0: none has.
func (p *filePage) afterLastEnd(raw []byte) int {
	last := 0
	for next := p.encoding.next(raw, 0); next >= 0; next = p.encoding.next(raw, next) {
		last = next
	}
	return last
}

// checkOffset refuses an offset that is outside its line or inside a character.
func (p *filePage) checkOffset(line, start, offset int64) error {
	if offset == 0 {
		return nil
	}
	ok, length, err := lineGoesTo(p.file, p.encoding, p.index, start, offset)
	if err != nil {
		return told(p.shown, err)
	}
	if !ok {
		return refusef("byte_offset %d is past the end of line %d, which has %s.", offset, line, counted(length, "byte", "bytes"))
	}
	from := max(0, offset-utf8.UTFMax) / 2 * 2 // a unit of UTF-16 begins there
	around, err := readBlock(p.file, make([]byte, 3*utf8.UTFMax), start+from)
	if err != nil {
		return told(p.shown, err)
	}
	if before, after := p.encoding.around(around, min(int(offset-from), len(around))); before != 0 {
		return refusef("byte_offset %d is inside a character; the nearest boundaries are %d and %d.", offset, offset-int64(before), offset+int64(after))
	}
	return nil
}
