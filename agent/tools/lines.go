package tools

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	// blockBytes is one read while a line is looked for: large enough that the
	// calls do not count, small enough to stay in the processor's cache.
	blockBytes = 256 << 10
	// markEvery is the distance of the places that are remembered of a file,
	// which is what is scanned at most to find a line again.
	markEvery = 1 << 20
	// indexedFiles bounds how many files' places are remembered.
	indexedFiles = 64
)

var blocks = sync.Pool{New: func() any { return new([blockBytes]byte) }}

// mark is a place in a file: so many lines end before this offset.
type mark struct {
	ended  int64
	offset int64
}

// lineIndex remembers places of one file as long as it does not change, so that
// the next page of a large file does not begin at its start again.
type lineIndex struct {
	mu    sync.Mutex
	marks []mark // by offset, at least markEvery apart, each once scanned up to
	// clear is a stretch from the start of a line in which no line ends.
	clearFrom, clearTo int64
}

// nearest is the last remembered place before the start of a line.
func (x *lineIndex) nearest(line int64, start int64) mark {
	x.mu.Lock()
	defer x.mu.Unlock()
	best := mark{offset: start}
	for _, m := range x.marks {
		if m.ended >= line-1 {
			break
		}
		best = m
	}
	return best
}

func (x *lineIndex) add(m mark) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := len(x.marks); n == 0 || m.offset >= x.marks[n-1].offset+markEvery {
		x.marks = append(x.marks, m)
	}
}

// identity tells a file from others and from its own earlier contents.
type identity struct {
	device, inode   uint64
	size            int64
	modified, state time.Time // contents, and the inode itself
}

func identify(info os.FileInfo) identity {
	id := identity{size: info.Size(), modified: info.ModTime()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		id.device, id.inode = stat.Dev, stat.Ino
		id.state = time.Unix(stat.Ctim.Unix())
	}
	return id
}

// lineIndexes are those of the files read last.
type lineIndexes struct {
	mu    sync.Mutex
	files map[identity]*lineIndex
	order []identity // oldest first
}

func (x *lineIndexes) of(info os.FileInfo) *lineIndex {
	id := identify(info)
	x.mu.Lock()
	defer x.mu.Unlock()
	if found, ok := x.files[id]; ok {
		return found
	}
	if x.files == nil {
		x.files = map[identity]*lineIndex{}
	}
	if len(x.order) == indexedFiles {
		delete(x.files, x.order[0])
		x.order = x.order[1:]
	}
	made := &lineIndex{}
	x.files[id], x.order = made, append(x.order, id)
	return made
}

// pastEnd says that a file has fewer lines.
type pastEnd struct{ lines int64 }

func (p pastEnd) Error() string { return fmt.Sprintf("the file has %d lines", p.lines) }

// lineStart finds where a line begins, counted from 1, in constant memory. A
// line that the file does not have is a pastEnd; line 1 is always there.
func lineStart(file io.ReaderAt, size int64, e encoding, index *lineIndex, line int64) (int64, error) {
	at := index.nearest(line, int64(e.bom))
	if line == 1 {
		return int64(e.bom), nil
	}
	buf := blocks.Get().(*[blockBytes]byte)
	defer blocks.Put(buf)
	for at.offset < size {
		block, err := readBlock(file, buf[:], at.offset)
		if err != nil {
			return 0, err
		}
		if len(block) == 0 {
			break // it became shorter meanwhile
		}
		n := e.count(block)
		if at.ended+n >= line-1 {
			start := at.offset + int64(skipLines(block, e, line-1-at.ended))
			if start >= size {
				return 0, pastEnd{line - 1}
			}
			return start, nil
		}
		at = mark{ended: at.ended + n, offset: at.offset + int64(len(block))}
		index.add(at)
	}
	lines := at.ended
	if unfinished, err := endsUnfinished(file, size, e); err != nil {
		return 0, err
	} else if unfinished {
		lines++
	}
	return 0, pastEnd{lines}
}

// readBlock fills buf as far as the file goes.
func readBlock(file io.ReaderAt, buf []byte, offset int64) ([]byte, error) {
	n, err := file.ReadAt(buf, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read a file at %d: %w", offset, err)
	}
	return buf[:n], nil
}

// skipLines is the position in block after n line ends, which it has.
func skipLines(block []byte, e encoding, n int64) int {
	at := 0
	for range n {
		at = e.next(block, at)
	}
	return at
}

// endsUnfinished reports whether the file's last line has no line end.
func endsUnfinished(file io.ReaderAt, size int64, e encoding) (bool, error) {
	if size <= int64(e.bom) {
		return false, nil
	}
	var last [2]byte
	tail, err := readBlock(file, last[:e.unit], size-int64(e.unit))
	return e.next(tail, 0) < 0, err
}

// lineGoesTo checks that a line is at least as long as an offset in it. Where
// it is not, length is how long it is, its line end included.
func lineGoesTo(file io.ReaderAt, e encoding, index *lineIndex, start, offset int64) (ok bool, length int64, err error) {
	index.mu.Lock()
	from := start
	if index.clearFrom == start && index.clearTo > start {
		from = index.clearTo
	}
	index.mu.Unlock()
	buf := blocks.Get().(*[blockBytes]byte)
	defer blocks.Put(buf)
	for at := from; at < start+offset; {
		block, err := readBlock(file, buf[:min(blockBytes, start+offset-at)], at)
		if err != nil {
			return false, 0, err
		}
		if end := e.next(block, 0); end >= 0 {
			return false, at + int64(end) - start, nil
		}
		if len(block) == 0 {
			return false, at - start, nil
		}
		at += int64(len(block))
	}
	index.mu.Lock()
	defer index.mu.Unlock()
	index.clearFrom, index.clearTo = start, max(from, start+offset)
	return true, 0, nil
}
