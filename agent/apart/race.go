//go:build race

package apart

// A child with the race detector takes several times the memory of one without,
// and ends in the detector's way where it is refused more.
const (
	memoryFactor   = 8
	detectorStatus = 66 // the sanitizers' own
)
