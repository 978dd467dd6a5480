package handlers

import (
	"cmp"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// limitWindow is the time in which all tries of a limit come back.
const limitWindow = 15 * time.Minute

// uploadsPerUser is how many files one user may upload in limitWindow: more than
// people drop at once, and little enough that a loop does not keep the disk busy.
const uploadsPerUser = 1000

// The limits of sign-ins that fail. An account's is small because a password is
// guessed there; an address's is larger because many people can share one.
// OWASP's Authentication Cheat Sheet asks for both.
const (
	signInWindow      = limitWindow
	triesPerAccount   = 5
	triesPerAddress   = 30
	signInsPerAddress = 600    // those that succeed as well: each costs the hash of a password, and an office signs in in the morning
	tokensPerAddress  = 100    // wrong bearer tokens: a program that goes on with one that was taken away tries often
	maxTracked        = 10_000 // accounts, or addresses, that are told apart
	addressesOverall  = "every address beyond those that are told apart"
)

// signIns counts sign-ins that fail. A try is taken before the password is
// looked at, so that tries at the same moment count as well, and is given back
// where it succeeds.
type signIns struct {
	accounts  *limits
	addresses *limits
	all       *limits // by address
}

func newSignIns() *signIns {
	return &signIns{accounts: newLimits(triesPerAccount), addresses: newLimits(triesPerAddress), all: newLimits(signInsPerAddress)}
}

// take takes one try of the account (none where it is empty) and of the
// address, and reports how long to wait where there is none left.
func (s *signIns) take(account, address string, now time.Time) (wait time.Duration, ok bool) {
	key := network(address)
	if wait, ok := s.all.take(key, now); !ok {
		return wait, false
	}
	if wait, ok := s.addresses.take(key, now); !ok {
		return wait, false
	}
	if account == "" {
		return 0, true
	}
	return s.accounts.take(strings.ToLower(account), now)
}

// left is how many tries the account has.
func (s *signIns) left(account, address string, now time.Time) int {
	return min(s.accounts.left(strings.ToLower(account), now), s.addresses.left(network(address), now))
}

// succeeded gives the account all its tries back and the address the one that
// was taken: the many people behind an address do not lock each other out, and
// one good account there does not let it guess at all others.
func (s *signIns) succeeded(account, address string, now time.Time) {
	s.accounts.forget(strings.ToLower(account))
	s.addresses.giveBack(network(address), now)
}

// network is the address, or the /64 that somebody with IPv6 has to
// themselves.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Is4() || ip.Is4In6() {
		return address
	}
	prefix, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return address
	}
	return prefix.String()
}

// limits is a rate limiter for each of a bounded number of keys.
type limits struct {
	mu    sync.Mutex
	tries int
	byKey map[string]*rate.Limiter
}

func newLimits(tries int) *limits {
	return &limits{tries: tries, byKey: map[string]*rate.Limiter{}}
}

func (l *limits) take(key string, now time.Time) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(key, now).ReserveN(now, 1)
	if wait := r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
		return wait, false
	}
	return 0, true
}

// giveBack undoes one take of the key, as far as its tries are not full again.
func (l *limits) giveBack(key string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(key, now).AllowN(now, -1) // a limiter keeps no more than its burst
}

// spent reports whether the key has no try left, and how long to wait for one.
// It takes none.
func (l *limits) spent(key string, now time.Time) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter := cmp.Or(l.byKey[key], l.byKey[addressesOverall])
	if limiter == nil {
		return 0, false
	}
	missing := 1 - limiter.TokensAt(now)
	return time.Duration(missing * float64(time.Second) / float64(limiter.Limit())), missing > 0
}

func (l *limits) left(key string, now time.Time) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(max(l.of(key, now).TokensAt(now), 0))
}

func (l *limits) forget(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byKey, key)
}

func (l *limits) of(key string, now time.Time) *rate.Limiter {
	if limiter := l.byKey[key]; limiter != nil {
		return limiter
	}
	if len(l.byKey) >= maxTracked {
		l.dropFull(now)
	}
	if len(l.byKey) >= maxTracked {
		key = addressesOverall
		if limiter := l.byKey[key]; limiter != nil {
			return limiter
		}
	}
	limiter := rate.NewLimiter(rate.Every(limitWindow/time.Duration(l.tries)), l.tries)
	l.byKey[key] = limiter
	return limiter
}

// dropFull forgets the keys that have all their tries again.
func (l *limits) dropFull(now time.Time) {
	for key, limiter := range l.byKey {
		if limiter.TokensAt(now) >= float64(l.tries) {
			delete(l.byKey, key)
		}
	}
}
