package models

import "time"

// RetentionPolicy says which sessions go by themselves. The zero value: none.
type RetentionPolicy struct {
	// MaxAge is how long a session may go unused; 0: for ever. Pinned ones stay.
	MaxAge time.Duration
	// MaxBytesPerUser bounds what the sessions of one user hold in kept outputs
	// and workspaces, in bytes; 0: only the quota does. Those used longest ago
	// go first, and pinned ones only when no other is left.
	MaxBytesPerUser int64
}

// On reports whether there is anything to do.
func (p RetentionPolicy) On() bool { return p.MaxAge > 0 || p.MaxBytesPerUser > 0 }

// RetentionSweep is what one run of the policy did.
type RetentionSweep struct {
	At      time.Time
	Removed int   // sessions
	Freed   int64 // bytes
	Failed  int   // sessions that should have gone and are still there
}
