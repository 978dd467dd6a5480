//go:build !race

package apart

const (
	memoryFactor   = 1
	detectorStatus = fatalStatus
)
