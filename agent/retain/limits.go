package retain

import "offcut/models"

// The limits that the product is about. All are in bytes.
const (
	// CommandPreviewBytes is the preview of a command or of a script: 24 KiB.
	CommandPreviewBytes = 24_576
	// ResultPreviewBytes is the preview of any other tool's result: 32 KiB.
	ResultPreviewBytes = 32_768
	// MaxOutputBytes bounds one kept copy, its marker lines included: 8 MiB.
	MaxOutputBytes = 8_388_608
	// MaxStreamBytes bounds what is captured of each of a command's two
	// streams: 8 MiB.
	MaxStreamBytes = 8_388_608
	// MinStreamShare is what a stream keeps in a copy, whatever the other one
	// printed: the smaller of its size and 2 MiB.
	MinStreamShare = 2_097_152
	// MaxPageBytes and MinPageBytes bound one page of a kept copy.
	MaxPageBytes = models.MaxPageBytes
	MinPageBytes = models.MinPageBytes
	// MaxShownRanges bounds the list of ranges in a result's metadata.
	MaxShownRanges = 32
	// BinaryBodyBytes is how much of a binary result's hex dump is its body.
	BinaryBodyBytes = 4_096
)
