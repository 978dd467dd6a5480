package absence

import (
	"slices"

	"offcut/models"
)

// Mark is a claim that may be mistaken: what it says is absent may well be in what
// was not read.
type Mark struct {
	Claim Claim
	More  int // claims of the same text that may be, too
	// Doubted are the outputs in which it could be.
	Doubted []models.Ground
}

// MarkIn marks an answer that says that something is not there, and does not say
// that it may be mistaken, while it may well be in what of its grounds the model did
// not have before it; nil where it does not. worked: the answer's turn ran tools.
func MarkIn(answer string, worked bool, grounds []models.Ground) *Mark {
	return newFinder().markIn(answer, worked, grounds)
}

func (f *finder) markIn(answer string, worked bool, grounds []models.Ground) *Mark {
	about := aboutOf(worked, grounds)
	if len(about) == 0 || NamesGap(answer) {
		return nil
	}
	var mark *Mark
	for _, claim := range In(answer) {
		doubted := f.doubted(about, claim)
		switch {
		case len(doubted) == 0:
		case mark != nil:
			mark.More++
		default:
			mark = &Mark{Claim: claim, Doubted: doubted}
		}
	}
	return mark
}

// aboutOf are the outputs that an answer is about of which the model has not seen
// all: one that came with results of its own is about those, and else about what
// was there before.
func aboutOf(worked bool, grounds []models.Ground) []models.Ground {
	var about []models.Ground
	for _, g := range grounds {
		if !g.Whole() && g.Earlier != worked {
			about = append(about, g)
		}
	}
	return about
}

// doubted are the outputs in which what a claim misses could be: those that
// were not searched for it, and such as nobody can search, since bytes of them
// were not kept. What a filter or a script made of one says nothing of what else is
// in it.
func (f *finder) doubted(about []models.Ground, claim Claim) []models.Ground {
	return slices.DeleteFunc(slices.Clone(about), func(g models.Ground) bool {
		return !g.Lacking() && f.speaks(claim, g.Sought)
	})
}
