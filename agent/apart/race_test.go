//go:build race

package apart

// The race detector takes several times the memory of what it watches, and ends
// the process in its own way where that is refused.
const (
	testMemory = 2 << 30
	ownWay     = "ThreadSanitizer"
)
