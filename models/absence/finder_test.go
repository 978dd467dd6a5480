package absence

import (
	"fmt"
	"strings"
	"testing"

	"offcut/models"
)

// grounds are as many as an answer has, with as many searches each, all of them
// different.
func grounds(pattern func(n int) models.Sought) []models.Ground {
	var all []models.Ground
	for g := range models.MaxGrounds {
		ground := models.Ground{OutputID: fmt.Sprintf("out_%d", g), TotalBytes: 100, Complete: true}
		for s := range models.MaxSought {
			ground.Sought = append(ground.Sought, pattern(g*models.MaxSought+s))
		}
		all = append(all, ground)
	}
	return all
}

func TestTheWorkForAnAnswerIsBounded(t *testing.T) {
	answer := strings.Repeat("No zebra was found. ", 3000)
	for name, test := range map[string]struct {
		pattern func(n int) models.Sought
		most    int // that are compiled
	}{
		"steps": {func(n int) models.Sought { return models.Sought{Pattern: fmt.Sprintf(".{400}%d", n), Regexp: true} }, maxCost / 400},
		"repetitions": {func(n int) models.Sought {
			return models.Sought{Pattern: fmt.Sprintf("(.{30}){30}%d", n), Regexp: true}
		}, 0},
		"long ones": {func(n int) models.Sought {
			return models.Sought{Pattern: fmt.Sprintf("%s%d", strings.Repeat(".{1000}", 140), n), Regexp: true}
		}, 0},
		"longer ones": {func(n int) models.Sought {
			return models.Sought{Pattern: fmt.Sprintf("%s%d", strings.Repeat(".", models.MaxPatternBytes), n), Regexp: true}
		}, 0},
		"what is none": {func(n int) models.Sought { return models.Sought{Pattern: fmt.Sprintf("(%d", n), Regexp: true} }, 0},
		"plain ones":   {func(n int) models.Sought { return models.Sought{Pattern: fmt.Sprintf("zebra %d", n)} }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFinder()
			mark := f.markIn(answer, true, grounds(test.pattern))
			if mark == nil || mark.More != maxClaims-1 || len(mark.Doubted) != models.MaxGrounds {
				t.Errorf("the mark is %+v", mark)
			}
			compiled := 0
			for _, s := range f.searches {
				if s.expr != nil {
					compiled++
				}
			}
			if compiled > test.most || len(f.searches) > maxSearches {
				t.Errorf("%d searches were made ready, and %d expressions compiled", len(f.searches), compiled)
			}
		})
	}
}

// Where a search has spoken, none after it is made ready.
func TestASearchIsMadeReadyOnceAndWhenItIsNeeded(t *testing.T) {
	zebra, lion := models.Sought{Pattern: "(?i)ZEBRA", Regexp: true}, models.Sought{Pattern: "li.n", Regexp: true}
	f := newFinder()
	all := []models.Ground{{TotalBytes: 100, Complete: true, Sought: []models.Sought{zebra, lion}}, {TotalBytes: 100, Complete: true, Sought: []models.Sought{zebra}}}
	if mark := f.markIn("There is no zebra. No zebra was found.", true, all); mark != nil {
		t.Errorf("it is marked: %+v", mark)
	}
	if _, made := f.searches[lion]; made || len(f.searches) != 1 {
		t.Errorf("made ready were %+v", f.searches)
	}
	left := f.left
	if mark := f.markIn("There is no zebra.", true, all); mark != nil || f.left != left {
		t.Errorf("the second time it costs %d", left-f.left)
	}
}

func TestPlainTextFindsItselfAlone(t *testing.T) {
	for search, speaks := range map[string]bool{"zebra": true, "z.bra": false, "error": false, "errors": false, "": false, "zeb": true} {
		claims := In("There is no zebra in the log.")
		if claims[0].SoughtBy([]models.Sought{{Pattern: search}}) != speaks {
			t.Errorf("a search for %q speaks: %v", search, !speaks)
		}
	}
}
