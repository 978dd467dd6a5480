//go:build !race

package apart

const (
	testMemory = 256 << 20
	ownWay     = "no other way"
)
