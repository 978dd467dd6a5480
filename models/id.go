package models

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
)

var idEncoding = base32.NewEncoding("abcdefghijkmnpqrstuvwxyz23456789").WithPadding(base32.NoPadding)

// Prefixes of ids, so that a person who reads a log knows what an id names.
const (
	PrefixUser    = "usr"
	PrefixSession = "ses"
	PrefixMessage = "msg"
	PrefixTurn    = "trn"
	PrefixCall    = "call"
	PrefixOutput  = "out"
	PrefixToken   = "tok"
)

// NewID returns an unguessable id: the prefix, an underscore, and 128 random
// bits in lower-case letters and digits.
func NewID(prefix string) string {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails: the runtime ends the program instead
	return prefix + "_" + strings.ToLower(idEncoding.EncodeToString(raw[:]))
}

// PlainID reports whether an id that somebody else chose stands as it is in an
// address, in a page's selectors and in a result's output_id: it is of ASCII
// letters, digits, _ and -.
func PlainID(id string) bool {
	for _, r := range []byte(id) {
		letter := 'a' <= r|0x20 && r|0x20 <= 'z'
		digit := '0' <= r && r <= '9'
		if !letter && !digit && r != '_' && r != '-' {
			return false
		}
	}
	return id != ""
}
