package markdown

import "strconv"

// look is how a terminal shows a character. Colours are 0 where none is set,
// else 1 plus one of the sixteen of a terminal: eight and their bright ones.
type look struct {
	fore, back                                uint8
	bold, dim, italic, under, inverse, strike bool
}

// with applies the parameters of a "select graphic rendition" sequence.
func (l look) with(codes []int) look {
	for i := 0; i < len(codes); i++ {
		switch code := codes[i]; {
		case code == 0:
			l = look{}
		case code == 38 || code == 48:
			colour, used := extended(codes[i+1:])
			i += used
			if code == 38 {
				l.fore = colour
			} else {
				l.back = colour
			}
		case code >= 30 && code <= 37:
			l.fore = uint8(code - 30 + 1)
		case code >= 90 && code <= 97:
			l.fore = uint8(code - 90 + 9)
		case code == 39:
			l.fore = 0
		case code >= 40 && code <= 47:
			l.back = uint8(code - 40 + 1)
		case code >= 100 && code <= 107:
			l.back = uint8(code - 100 + 9)
		case code == 49:
			l.back = 0
		default:
			l = l.withStyle(code)
		}
	}
	return l
}

func (l look) withStyle(code int) look {
	switch code {
	case 1:
		l.bold = true
	case 2:
		l.dim = true
	case 3:
		l.italic = true
	case 4:
		l.under = true
	case 7:
		l.inverse = true
	case 9:
		l.strike = true
	case 22:
		l.bold, l.dim = false, false
	case 23:
		l.italic = false
	case 24:
		l.under = false
	case 27:
		l.inverse = false
	case 29:
		l.strike = false
	}
	return l
}

// extended reads a colour of 256 (5;n) or of all (2;r;g;b) as the nearest of
// the sixteen: their tones are tuned to be read on the page, others are not.
func extended(codes []int) (colour uint8, used int) {
	switch {
	case len(codes) >= 2 && codes[0] == 5:
		return indexed(codes[1]), 2
	case len(codes) >= 4 && codes[0] == 2:
		return nearest(codes[1], codes[2], codes[3]), 4
	}
	return 0, len(codes)
}

func indexed(n int) uint8 {
	switch {
	case n < 0 || n > 255:
		return 0
	case n < 16:
		return uint8(n + 1)
	case n >= 232:
		grey := 8 + 10*(n-232)
		return nearest(grey, grey, grey)
	}
	n -= 16
	return nearest(n/36*51, n/6%6*51, n%6*51)
}

// nearest is one of the eight by which of red, green and blue stand out; a grey
// is black, bright black or white by its lightness.
func nearest(r, g, b int) uint8 {
	high, low := max(r, g, b), min(r, g, b)
	if high-low < 32 {
		switch {
		case high > 176:
			return 8
		case high > 48:
			return 9
		}
		return 1
	}
	middle := (high + low) / 2
	var colour uint8
	for i, part := range [3]int{r, g, b} {
		if part > middle {
			colour |= 1 << i
		}
	}
	return colour + 1
}

// class is the classes of the look, such as "term-fg1 term-fg31"; the names
// follow the codes.
func (l look) class() string {
	fore, back := l.fore, l.back
	class := ""
	add := func(on bool, name string) {
		if on {
			if class != "" {
				class += " "
			}
			class += name
		}
	}
	add(l.bold, "term-fg1")
	add(l.dim, "term-fg2")
	add(l.italic, "term-fg3")
	add(l.under, "term-fg4")
	add(l.inverse, "term-fg7")
	add(l.strike, "term-fg9")
	add(fore > 0, "term-fg"+colourCode(fore, 30, 90))
	add(back > 0, "term-bg"+colourCode(back, 40, 100))
	return class
}

func colourCode(colour uint8, normal, bright int) string {
	if colour > 8 {
		return strconv.Itoa(int(colour) - 9 + bright)
	}
	return strconv.Itoa(int(colour) - 1 + normal)
}
