package retain

// An escape takes escape sequences byte by byte, as ECMA-48 and xterm write
// them: CSI with its parameters, strings (OSC, DCS, SOS, PM, APC) up to their
// terminator, single shifts, and the selections of character sets.
type escape struct {
	state  escapeState
	params []byte
}

type escapeState uint8

const (
	ground escapeState = iota
	afterEscape
	charset  // after an intermediate byte
	csi      // control sequence
	str      // a control string
	strAfter // an escape within it
	shift    // a single shift: one character
)

// maxParams bounds what is remembered of the parameters of a sequence.
const maxParams = 32

func (e *escape) begin() { e.state, e.params = afterEscape, e.params[:0] }

// introduce goes on after an escape with the byte that says what follows.
func (e *escape) introduce(b byte) {
	e.params = e.params[:0]
	switch {
	case b == '[':
		e.state = csi
	case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
		e.state = str
	case b == 'N' || b == 'O':
		e.state = shift
	case b >= 0x20 && b < 0x30:
		e.state = charset
	default:
		e.state = ground
	}
}

// step takes one byte. It returns false where the byte is no part of the
// sequence, which is then over, and the final byte of a control sequence.
func (e *escape) step(b byte) (taken bool, final byte) {
	// A newline ends what was never terminated, so that a stray escape cannot
	// swallow the rest of an output; cancel and substitute end it by definition.
	if b == '\n' {
		e.state = ground
		return false, 0
	}
	if b == 0x18 || b == 0x1a {
		e.state = ground
		return true, 0
	}
	switch e.state {
	case csi:
		return e.control(b)
	case str:
		e.string(b)
		return true, 0
	case strAfter:
		if b == '\\' {
			e.state = ground
			return true, 0
		}
		e.begin()
		return false, 0
	case afterEscape:
		if b == 0x1b {
			return true, 0
		}
		if b < 0x20 || b > 0x7e {
			e.state = ground
			return false, 0
		}
		e.introduce(b)
		return true, 0
	case charset:
		if b >= 0x20 && b < 0x30 {
			return true, 0
		}
	}
	e.state = ground
	return b >= 0x20 && b < 0x7f, 0
}

func (e *escape) control(b byte) (taken bool, final byte) {
	switch {
	case b == 0x1b:
		e.begin()
	case b < 0x20:
		// Control characters within a sequence do not end it.
	case b < 0x40:
		if len(e.params) < maxParams {
			e.params = append(e.params, b)
		}
	case b < 0x7f:
		e.state = ground
		return true, b
	default:
		e.state = ground
		return false, 0
	}
	return true, 0
}

func (e *escape) string(b byte) {
	switch b {
	case 0x07:
		e.state = ground
	case 0x1b:
		e.state = strAfter
	}
}

// parameter is the first parameter of a control sequence, 0 where there is
// none; plain is false of private sequences and those with intermediates.
func (e *escape) parameter() (n int, plain bool) {
	first := true
	for _, b := range e.params {
		switch {
		case b >= '0' && b <= '9':
			if first {
				n = min(n*10+int(b-'0'), maxLine)
			}
		case b == ';' || b == ':':
			first = false
		default:
			return 0, false
		}
	}
	return n, true
}
