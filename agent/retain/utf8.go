package retain

import "unicode/utf8"

// replacement stands for one byte that is no UTF-8: U+FFFD.
const replacement = "\uFFFD"

// Replacer turns bytes into valid UTF-8, over any chunk borders: each byte
// that is no part of a valid character becomes one U+FFFD.
type Replacer struct {
	// Replaced counts the bytes that were no UTF-8.
	Replaced int64

	held [utf8.UTFMax]byte // the beginning of a character that goes on in the next chunk
	n    int
}

// Append adds the text of chunk to dst, but for an unfinished character at its
// end, which is held for the next chunk.
func (r *Replacer) Append(dst, chunk []byte) []byte {
	for r.n > 0 && len(chunk) > 0 {
		dst, chunk = r.resume(dst, chunk)
	}
	tail := unfinished(chunk)
	body := chunk[:len(chunk)-tail]
	if utf8.Valid(body) {
		dst = append(dst, body...)
	} else {
		dst = r.replace(dst, body)
	}
	r.n += copy(r.held[r.n:], chunk[len(body):])
	return dst
}

// Flush ends the text: a character that was never finished is replaced.
func (r *Replacer) Flush(dst []byte) []byte {
	held := r.held[:r.n]
	r.n = 0
	return r.replace(dst, held)
}

// resume goes on with the held bytes and returns what remains of chunk. It
// settles at least one held byte, or takes the whole chunk.
func (r *Replacer) resume(dst, chunk []byte) ([]byte, []byte) {
	var joined [utf8.UTFMax]byte
	n := copy(joined[:], r.held[:r.n])
	n += copy(joined[n:], chunk)
	if !utf8.FullRune(joined[:n]) {
		r.held, r.n = joined, n
		return dst, nil
	}
	c, size := utf8.DecodeRune(joined[:n])
	if c == utf8.RuneError && size == 1 {
		r.Replaced++
		r.n = copy(r.held[:], r.held[1:r.n])
		return append(dst, replacement...), chunk
	}
	taken := size - r.n // more than the held bytes, which were unfinished
	r.n = 0
	return append(dst, joined[:size]...), chunk[taken:]
}

func (r *Replacer) replace(dst, b []byte) []byte {
	for start := 0; start < len(b); {
		i := start
		for i < len(b) {
			if b[i] < utf8.RuneSelf {
				i++
				continue
			}
			c, size := utf8.DecodeRune(b[i:])
			if c == utf8.RuneError && size == 1 {
				break
			}
			i += size
		}
		dst = append(dst, b[start:i]...)
		if i < len(b) {
			r.Replaced++
			dst = append(dst, replacement...)
			i++
		}
		start = i
	}
	return dst
}

// unfinished is how many bytes at the end of b begin a character that more
// bytes could finish: 0 to 3.
func unfinished(b []byte) int {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if utf8.FullRune(b[len(b)-i:]) {
				return 0
			}
			return i
		}
	}
	return 0
}

// floorRune is the nearest character boundary of valid UTF-8 at or before i.
func floorRune(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	for i > 0 && !utf8.RuneStart(b[i]) {
		i--
	}
	return i
}

// ceilRune is the nearest character boundary of valid UTF-8 at or after i.
func ceilRune(b []byte, i int) int {
	for i < len(b) && !utf8.RuneStart(b[i]) {
		i++
	}
	return min(i, len(b))
}
