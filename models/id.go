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
