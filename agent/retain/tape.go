package retain

import "unicode/utf8"

// A tape holds the first three quarters and the last quarter of the limit of
// one stream, in blocks of one size, so that a byte is found by its position
// and what is overwritten costs nothing but its reading.
const (
	blockBytes = 64 << 10
	headBytes  = MaxStreamBytes / 4 * 3
	tailBytes  = MaxStreamBytes - headBytes
	headBlocks = headBytes / blockBytes
	// One block more than the tail fills: the one that is being filled.
	tailBlocks = tailBytes/blockBytes + 1
)

type tape struct {
	total int64 // bytes that came
	head  [headBlocks][]byte
	tail  [tailBlocks][]byte

	window []byte // for reads that cross a block

	// What was measured of the beginning, which does not change any more.
	measured, measuredCost int64
	cutLimit, cutAt        int64
}

// slot is where the block with the given index lies.
func (t *tape) slot(index int64) *[]byte {
	if index < headBlocks {
		return &t.head[index]
	}
	return &t.tail[(index-headBlocks)%tailBlocks]
}

// space is where the next bytes go: never empty, at most a block, and never a
// part of what is still held. What was put there counts after advance.
func (t *tape) space() []byte {
	slot := t.slot(t.total / blockBytes)
	if *slot == nil {
		*slot = make([]byte, blockBytes)
	}
	return (*slot)[t.total%blockBytes:]
}

func (t *tape) advance(n int) { t.total += int64(n) }

// lost is the range of the bytes that are held no longer; empty where all are.
func (t *tape) lost() (from, to int64) {
	return headBytes, max(headBytes, t.total-tailBytes)
}

// chunks yields the held bytes from one position to another in pieces. The
// range must not touch what was lost.
func (t *tape) chunks(from, to int64, yield func([]byte) bool) bool {
	for from < to {
		block := *t.slot(from / blockBytes)
		at := from % blockBytes
		n := min(blockBytes-at, to-from)
		if !yield(block[at : at+n]) {
			return false
		}
		from += n
	}
	return true
}

// view is the bytes of a range of at most a block, valid until the next view.
func (t *tape) view(from, to int64) []byte {
	at := from % blockBytes
	if at+to-from <= blockBytes {
		if from == to {
			return nil
		}
		return (*t.slot(from / blockBytes))[at : at+to-from]
	}
	into := t.window[:0]
	t.chunks(from, to, func(b []byte) bool {
		into = append(into, b...)
		return true
	})
	t.window = into
	return into
}

// unfinished is how many bytes at the end of the stream begin a character that
// more bytes could finish.
func (t *tape) unfinished() int64 {
	return int64(unfinished(t.view(max(0, t.total-utf8.UTFMax+1), t.total)))
}

// held is the range of bytes around a position that are still there.
func (t *tape) held(at int64) (from, to int64) {
	lostFrom, lostTo := t.lost()
	switch {
	case lostFrom == lostTo:
		return 0, t.total
	case at <= lostFrom:
		return 0, lostFrom
	}
	return lostTo, t.total
}

// inside reports whether a position falls into a valid character.
func (t *tape) inside(at int64) bool {
	least, most := t.held(at)
	for i := int64(1); i < utf8.UTFMax && at-i >= least && at < most; i++ {
		b := t.view(at-i, min(at-i+utf8.UTFMax, most))
		if !utf8.RuneStart(b[0]) {
			continue
		}
		c, size := utf8.DecodeRune(b)
		return (c != utf8.RuneError || size > 1) && int64(size) > i
	}
	return false
}

// floor is the nearest character boundary at or before a position.
func (t *tape) floor(at int64) int64 {
	for t.inside(at) {
		at--
	}
	return at
}

// ceil is the nearest character boundary at or after a position.
func (t *tape) ceil(at int64) int64 {
	for t.inside(at) {
		at++
	}
	return at
}

// cost is the length in text of the whole stream, which must all be held.
func (t *tape) cost() int64 {
	at, spent := t.measured, t.measuredCost
	for at < t.total {
		if to := at + blockBytes; to < t.total-utf8.UTFMax {
			to = t.floor(to)
			spent += textCost(t.view(at, to))
			at = to
			t.measured, t.measuredCost = at, spent
			continue
		}
		to := t.floor(min(at+blockBytes, t.total))
		spent += textCost(t.view(at, to))
		at = to
	}
	return spent
}

// headCut is where the longest beginning ends whose text has at most limit
// bytes; limit is less than what is held of the beginning, or than the stream.
func (t *tape) headCut(limit int64) int64 {
	if t.cutAt > 0 && t.cutLimit == limit {
		return t.cutAt
	}
	end := min(t.total, headBytes)
	var at, spent int64
	for at < end {
		to := t.floor(min(at+blockBytes, end))
		block := t.view(at, to)
		cost := textCost(block)
		if spent+cost > limit {
			at += prefixWithin(block, limit-spent)
			break
		}
		at, spent = to, spent+cost
	}
	if at < end-utf8.UTFMax {
		t.cutLimit, t.cutAt = limit, at
	}
	return at
}

// tailCut is where the longest ending begins whose text has at most limit
// bytes, not before least, which is a character boundary.
func (t *tape) tailCut(limit, least int64) int64 {
	from, _ := t.held(t.total)
	least = max(least, from)
	at, spent := t.total, int64(0)
	for at > least {
		from := t.ceil(max(at-blockBytes, least))
		block := t.view(from, at)
		cost := textCost(block)
		if spent+cost > limit {
			return from + suffixWithin(block, limit-spent)
		}
		if from == at {
			break
		}
		at, spent = from, spent+cost
	}
	return at
}

// textCost is the length in text of bytes that begin and end at character
// boundaries: in it each byte that is no UTF-8 takes three.
func textCost(b []byte) int64 {
	if utf8.Valid(b) {
		return int64(len(b))
	}
	var spent int64
	for len(b) > 0 {
		size, cost := step(b)
		b, spent = b[size:], spent+cost
	}
	return spent
}

// prefixWithin is the length of the longest beginning of b whose text has at
// most limit bytes.
func prefixWithin(b []byte, limit int64) int64 {
	var at, spent int64
	for at < int64(len(b)) {
		size, cost := step(b[at:])
		if spent+cost > limit {
			break
		}
		at, spent = at+size, spent+cost
	}
	return at
}

// suffixWithin is where the longest ending of b begins whose text has at most
// limit bytes.
func suffixWithin(b []byte, limit int64) int64 {
	over := textCost(b) - limit
	var at int64
	for over > 0 && at < int64(len(b)) {
		size, cost := step(b[at:])
		at, over = at+size, over-cost
	}
	return at
}

// step is the length of the first character or stray byte of b, and of its
// text.
func step(b []byte) (size, cost int64) {
	c, n := utf8.DecodeRune(b)
	if c == utf8.RuneError && n == 1 {
		return 1, int64(len(replacement))
	}
	return int64(n), int64(n)
}
