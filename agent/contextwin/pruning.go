package contextwin

import (
	"cmp"
	"time"
)

// Mode says when old results are shortened.
type Mode string

// The modes. The zero value is ModeOff.
const (
	// ModeOff shortens only where a request would not fit the window.
	ModeOff Mode = "off"
	// ModeCacheTTL also does when the provider's prompt cache has expired, so
	// that the shortening costs no cached prefix.
	ModeCacheTTL Mode = "cache-ttl"
)

// Pruning says when and how far old tool results are shortened in what is
// sent. A zero field takes the value of DefaultPruning.
type Pruning struct {
	Mode Mode
	// TTL is how long a provider keeps a prompt cached.
	TTL time.Duration
	// SoftTrimRatio and HardClearRatio are shares of the context window, from
	// 0 to 1: a request over the first has its old large results cut to head
	// and tail, one over the second has them cleared.
	SoftTrimRatio, HardClearRatio float64
	// KeepLastAssistants is how many of the last replies keep their results.
	KeepLastAssistants int
}

// DefaultPruning shortens only what would not fit; with ModeCacheTTL its
// figures are those of Anthropic's prompt cache.
func DefaultPruning() Pruning {
	return Pruning{Mode: ModeOff, TTL: 5 * time.Minute, SoftTrimRatio: 0.3, HardClearRatio: 0.5, KeepLastAssistants: 3}
}

func (p Pruning) orDefaults() Pruning {
	d := DefaultPruning()
	return Pruning{
		Mode:               cmp.Or(p.Mode, d.Mode),
		TTL:                cmp.Or(p.TTL, d.TTL),
		SoftTrimRatio:      cmp.Or(p.SoftTrimRatio, d.SoftTrimRatio),
		HardClearRatio:     cmp.Or(p.HardClearRatio, d.HardClearRatio),
		KeepLastAssistants: cmp.Or(p.KeepLastAssistants, d.KeepLastAssistants),
	}
}
