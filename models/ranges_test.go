package models_test

import (
	"slices"
	"testing"

	"offcut/models"
)

func TestMergeRanges(t *testing.T) {
	type ranges = []models.Range
	for name, test := range map[string]struct{ in, want ranges }{
		"nothing":              {nil, nil},
		"empty and backward":   {ranges{{5, 5}, {7, 3}}, nil},
		"overlapping":          {ranges{{0, 10}, {5, 20}}, ranges{{0, 20}}},
		"touching":             {ranges{{10, 20}, {0, 10}}, ranges{{0, 20}}},
		"one inside another":   {ranges{{0, 100}, {10, 20}, {90, 95}}, ranges{{0, 100}}},
		"apart, in any order":  {ranges{{30, 40}, {0, 10}}, ranges{{0, 10}, {30, 40}}},
		"the same again":       {ranges{{0, 10}, {0, 10}}, ranges{{0, 10}}},
		"a bridge between two": {ranges{{0, 10}, {20, 30}, {10, 20}}, ranges{{0, 30}}},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(test.in)
			if got := models.MergeRanges(test.in); !slices.Equal(got, test.want) {
				t.Errorf("MergeRanges(%v) = %v, want %v", test.in, got, test.want)
			}
			if !slices.Equal(test.in, before) {
				t.Errorf("the argument was changed to %v", test.in)
			}
		})
	}
}
