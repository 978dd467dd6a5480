package retain

// The hex dump of a binary output: lines of one width for 16 bytes each, so
// that the line of any byte is found without reading those before. Twelve
// digits of offset go up to 256 TiB. Only the last line of a stretch may be
// shorter, by one character for each byte that it lacks.
const (
	dumpRow       = 16
	dumpLineBytes = 12 + 2 + 3*dumpRow + 1 + 1 + 1 + dumpRow + 1 + 1
)

// dumpLen is the length of the dump of n bytes.
func dumpLen(n int64) int64 {
	length := n / dumpRow * dumpLineBytes
	if rest := n % dumpRow; rest > 0 {
		length += dumpLineBytes - (dumpRow - rest)
	}
	return length
}

// undumpLen is how many bytes a dump of the given length shows.
func undumpLen(length int64) int64 {
	n := length / dumpLineBytes * dumpRow
	if rest := length % dumpLineBytes; rest > 0 {
		n += dumpRow - (dumpLineBytes - rest)
	}
	return n
}

// appendDump adds the dump of b, whose first byte has the given offset.
func appendDump(dst, b []byte, offset int64) []byte {
	for len(b) > 0 {
		row := b[:min(dumpRow, len(b))]
		dst = appendRow(dst, row, offset)
		b, offset = b[len(row):], offset+int64(len(row))
	}
	return dst
}

func appendRow(dst, row []byte, offset int64) []byte {
	const digits = "0123456789abcdef"
	for shift := 44; shift >= 0; shift -= 4 {
		dst = append(dst, digits[offset>>shift&15])
	}
	dst = append(dst, ' ', ' ')
	for i := range dumpRow {
		if i == dumpRow/2 {
			dst = append(dst, ' ')
		}
		if i < len(row) {
			dst = append(dst, digits[row[i]>>4], digits[row[i]&15], ' ')
		} else {
			dst = append(dst, "   "...)
		}
	}
	dst = append(dst, ' ', '|')
	for _, b := range row {
		if b < 0x20 || b > 0x7e {
			b = '.'
		}
		dst = append(dst, b)
	}
	return append(dst, '|', '\n')
}
