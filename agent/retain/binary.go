package retain

import "bytes"

// isBinary reports whether a sample is of a binary output: it has a NUL, or
// more than a tenth of it are control characters other than those that text
// and terminals use. Of a sample that is not whole only a NUL decides.
func isBinary(sample []byte, whole bool) bool {
	if bytes.IndexByte(sample, 0) >= 0 {
		return true
	}
	if !whole {
		return false
	}
	controls := 0
	for _, b := range sample {
		if isControl(b) {
			controls++
		}
	}
	return controls*10 > len(sample)
}

func isControl(b byte) bool {
	switch b {
	case '\t', '\n', '\r', '\b', '\f', '\x1b':
		return false
	}
	return b < 0x20 || b == 0x7f
}
