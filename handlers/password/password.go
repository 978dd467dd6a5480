// Package password hashes passwords with argon2id and writes the hashes in PHC
// form, so that the parameters can grow without locking anybody out.
package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// The parameters of new hashes: 19 MiB of memory, two passes, one lane. The
// OWASP Password Storage Cheat Sheet names them as one of its equally strong
// minimum settings; of those this one leaves a small server the most memory.
const (
	memoryKiB = 19 * 1024
	passes    = 2
	lanes     = 1
	saltBytes = 16
	keyBytes  = 32
)

// The most that a stored hash may ask for, so that a damaged row cannot take
// the server's memory or time.
const (
	maxMemoryKiB = 256 * 1024
	maxPasses    = 16
)

// MaxConcurrent is how many passwords are hashed at once: 38 MiB in all. Others
// wait for their turn.
const MaxConcurrent = 2

var slots = make(chan struct{}, MaxConcurrent)

// errFormat is a stored hash that is not one of ours.
var errFormat = errors.New("not an argon2id hash in PHC form")

var encoding = base64.RawStdEncoding

// Hash is the PHC string of password with a new salt. It waits while others
// are hashed, and fails only where ctx ends first.
func Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails: the runtime ends the program instead
	key, err := derive(ctx, password, salt, params{memoryKiB, passes, lanes, keyBytes})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version,
		memoryKiB, passes, lanes, encoding.EncodeToString(salt), encoding.EncodeToString(key)), nil
}

// Verify reports whether password is the one that hash was made of. An empty
// hash belongs to a user without a password: it matches nothing, and takes as
// long as any other, so that the time does not tell which names exist.
func Verify(ctx context.Context, hash, password string) (bool, error) {
	if hash == "" {
		_, err := derive(ctx, password, make([]byte, saltBytes), params{memoryKiB, passes, lanes, keyBytes})
		return false, err
	}
	p, salt, want, err := parse(hash)
	if err != nil {
		return false, err
	}
	got, err := derive(ctx, password, salt, p)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}

type params struct {
	memory uint32
	passes uint32
	lanes  uint8
	key    uint32
}

func derive(ctx context.Context, password string, salt []byte, p params) ([]byte, error) {
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return nil, fmt.Errorf("wait to hash a password: %w", ctx.Err())
	}
	return argon2.IDKey([]byte(password), salt, p.passes, p.memory, p.lanes, p.key), nil
}

func parse(hash string) (p params, salt, key []byte, err error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return p, nil, nil, errFormat
	}
	var version int
	if _, err := fmt.Sscanf(parts[2], "v=%d", &version); err != nil || version != argon2.Version {
		return p, nil, nil, errFormat
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.memory, &p.passes, &p.lanes); err != nil {
		return p, nil, nil, errFormat
	}
	if p.memory == 0 || p.memory > maxMemoryKiB || p.passes == 0 || p.passes > maxPasses || p.lanes == 0 {
		return p, nil, nil, errFormat
	}
	salt, errSalt := encoding.DecodeString(parts[4])
	key, errKey := encoding.DecodeString(parts[5])
	if errSalt != nil || errKey != nil || len(salt) < 8 || len(key) < 16 || len(key) > 128 {
		return p, nil, nil, errFormat
	}
	p.key = uint32(len(key))
	return p, salt, key, nil
}
