package config

import (
	"cmp"
	"fmt"

	"offcut/agent/contextwin"
)

// pruning holds the two ratios against each other, as they are with the
// product's own in place of what is not set.
func (l *loader) pruning(p Pruning) error {
	own := contextwin.DefaultPruning()
	soft, hard := cmp.Or(p.SoftTrimRatio, own.SoftTrimRatio), cmp.Or(p.HardClearRatio, own.HardClearRatio)
	if soft <= hard {
		return nil
	}
	const key = "contextPruning.hardClearRatio"
	return fmt.Errorf("%s: \"%g\" is not accepted; it is at least softTrimRatio, which is %g", l.name(key), hard, soft)
}
