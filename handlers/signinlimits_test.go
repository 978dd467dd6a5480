package handlers

import (
	"fmt"
	"testing"
	"time"
)

func TestTriesComeBackWithTimeAndAfterSuccess(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s := newSignIns()
	for range triesPerAccount {
		if _, ok := s.take("Ann", "192.0.2.1", now); !ok {
			t.Fatal("refused too early")
		}
	}
	wait, ok := s.take("ann", "192.0.2.2", now)
	if ok || wait <= 0 || wait > signInWindow/triesPerAccount {
		t.Errorf("the sixth try: %v, wait %s", ok, wait)
	}
	if _, ok := s.take("ann", "192.0.2.2", now.Add(wait)); !ok {
		t.Error("refused after the wait")
	}
	s.succeeded("ANN", "192.0.2.2", now)
	if left := s.left("ann", "192.0.2.3", now); left != triesPerAccount {
		t.Errorf("%d tries after a success", left)
	}
}

func TestASuccessCostsItsAddressNothing(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s := newSignIns()
	for i := range 3 * triesPerAddress {
		account := fmt.Sprint("colleague", i)
		if _, ok := s.take(account, "192.0.2.1", now); !ok {
			t.Fatalf("colleague %d is locked out by those before", i+1)
		}
		s.succeeded(account, "192.0.2.1", now)
	}
	for i := range triesPerAddress {
		if _, ok := s.take(fmt.Sprint("guessed", i), "192.0.2.1", now); !ok {
			t.Fatalf("guess %d of %d is refused", i+1, triesPerAddress)
		}
	}
	if _, ok := s.take("another", "192.0.2.1", now); ok {
		t.Error("good sign-ins let the address guess more often")
	}
}

func TestSignInsThatSucceedAreBoundedToo(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s := newSignIns()
	for range signInsPerAddress {
		if _, ok := s.take("ann", "192.0.2.1", now); !ok {
			t.Fatal("refused too early")
		}
		s.succeeded("ann", "192.0.2.1", now)
	}
	if wait, ok := s.take("ann", "192.0.2.1", now); ok || wait <= 0 {
		t.Errorf("no end of hashing passwords: %v, wait %s", ok, wait)
	}
}

func TestARefusedTryCostsNothing(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s := newSignIns()
	var last time.Duration
	for i := range triesPerAddress - 1 {
		wait, ok := s.take("ann", "", now)
		if i >= triesPerAccount && (ok || (last > 0 && wait != last)) {
			t.Fatalf("try %d: %v, wait %s after %s", i, ok, wait, last)
		}
		last = wait
	}
}

func TestTheNumberOfThoseToldApartIsBounded(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	l := newLimits(2)
	for i := range maxTracked + 100 {
		l.take(fmt.Sprint(i), now)
	}
	if n := len(l.byKey); n > maxTracked+1 {
		t.Errorf("%d keys are held", n)
	}
	l.take("one more", now.Add(signInWindow))
	if n := len(l.byKey); n > 10 {
		t.Errorf("%d keys are held although all have their tries again", n)
	}
}

func TestAnIPv6NetworkIsOneAddress(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.1":            "192.0.2.1",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::1": "2001:db8:1:2::/64",
		"fe80::1%eth0":         "fe80::/64",
		"::ffff:192.0.2.1":     "::ffff:192.0.2.1",
		"not an address":       "not an address",
	} {
		if got := network(address); got != want {
			t.Errorf("network(%s) = %s, want %s", address, got, want)
		}
	}
}
