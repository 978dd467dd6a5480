package models

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// TokenPrefix begins every API token, so that scanners for leaked secrets
// recognise one.
const TokenPrefix = "offcut_"

// SignInLinkAge is how long a sign-in link can be used.
const SignInLinkAge = 24 * time.Hour

// SafeSecretLength is from how many characters on a secret that somebody chose is
// not guessed, where the characters were taken by chance, as openssl rand -hex 8
// does.
const SafeSecretLength = 16

// NewSecret is a random secret of 130 bits behind prefix, and the hash that is
// stored of it.
func NewSecret(prefix string) (secret, hash string) {
	secret = prefix + rand.Text()
	return secret, HashSecret(secret)
}

// HashSecret is the form in which tokens and links are stored: SHA-256 in hex.
// They are random and long, so a plain hash suffices.
func HashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
