package password_test

import (
	"context"
	"strings"
	"testing"

	"offcut/handlers/password"
)

func TestAHashMatchesItsPasswordAlone(t *testing.T) {
	hash, err := password.Hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("the hash %q does not name its parameters", hash)
	}
	again, err := password.Hash(t.Context(), "correct horse")
	if err != nil || again == hash {
		t.Errorf("the same password hashed twice gives one hash (%v)", err)
	}
	for _, tt := range []struct {
		name, hash, password string
		want                 bool
	}{
		{"the password", hash, "correct horse", true},
		{"another one", hash, "correct horsE", false},
		{"none", hash, "", false},
		{"a user without a password", "", "correct horse", false},
		{"a user without a password, none given", "", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := password.Verify(t.Context(), tt.hash, tt.password)
			if err != nil || got != tt.want {
				t.Errorf("Verify = %v, %v, want %v", got, err, tt.want)
			}
		})
	}
}

func TestADamagedHashIsRefusedBeforeItCostsAnything(t *testing.T) {
	for name, hash := range map[string]string{
		"no PHC string":     "secret",
		"another algorithm": "$argon2i$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5",
		"another version":   "$argon2id$v=16$m=19456,t=2,p=1$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5",
		"a terabyte":        "$argon2id$v=19$m=1073741824,t=2,p=1$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5",
		"no pass":           "$argon2id$v=19$m=19456,t=0,p=1$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5",
		"no lane":           "$argon2id$v=19$m=19456,t=2,p=0$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5",
		"a short key":       "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$a2V5",
		"no base64":         "$argon2id$v=19$m=19456,t=2,p=1$!!!$a2V5a2V5a2V5a2V5a2V5",
	} {
		t.Run(name, func(t *testing.T) {
			if ok, err := password.Verify(t.Context(), hash, "x"); ok || err == nil {
				t.Errorf("Verify = %v, %v, want an error", ok, err)
			}
		})
	}
}

func TestWaitingEndsWithTheRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	// With the context already ended and a slot free, either outcome is right;
	// with every slot taken only the error is.
	release := password.TakeSlots()
	defer release()
	if _, err := password.Hash(ctx, "correct horse"); err == nil {
		t.Error("a sign-in that nobody waits for was still hashed")
	}
}
