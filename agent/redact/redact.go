// Package redact takes secrets out of texts that people or models read, such as
// errors, dumps and what a tool returned, in whatever form they were written.
package redact

import "strings"

// leastSecret is the least length of a secret, in bytes: what is shorter stands
// in any text. A word that a local server is given for a key, such as "ollama",
// is taken out too: better that than a short key that is left.
const leastSecret = 4

// Redactor takes secrets out. The zero value knows none.
type Redactor struct {
	mark string
	// forms are those that can begin with a byte; nil: there are no secrets.
	forms *[256][]form
}

// New knows each secret as it is, with any of its bytes escaped as JSON
// (however often over), as an address or as HTML does, in hexadecimal, and in
// base64 wherever in a longer text it began. mark stands where one stood.
func New(mark string, secrets ...string) Redactor {
	r := Redactor{mark: mark}
	for _, secret := range secrets {
		if len(secret) < leastSecret {
			continue
		}
		if r.forms == nil {
			r.forms = new([256][]form)
		}
		for _, f := range append(base64Forms(secret), hexForm(secret), escapedForm(secret)) {
			for _, first := range f.begins() {
				r.forms[first] = append(r.forms[first], f)
			}
		}
	}
	return r
}

// Text is s without secrets. It takes a time that grows with s alone.
func (r Redactor) Text(s string) string {
	if r.forms == nil {
		return s
	}
	var out strings.Builder
	done := 0 // of s, what is in out
	for at := 0; at < len(s); {
		from, to := r.secret(s, at, done)
		if to == 0 {
			at++
			continue
		}
		out.WriteString(s[done:from])
		out.WriteString(r.mark)
		done, at = to, to
	}
	if done == 0 {
		return s
	}
	out.WriteString(s[done:])
	return out.String()
}

// secret is the longest secret that is found at a position: from where to where
// it goes; to is 0 where there is none. It begins at least or later.
//
// The longest, as a secret that another one begins with must not leave the rest
// of that behind.
func (r Redactor) secret(s string, at, least int) (from, to int) {
	for _, f := range r.forms[s[at]] {
		if begin, end := f.match(s, at, least); end > to {
			from, to = begin, end
		}
	}
	return from, to
}
