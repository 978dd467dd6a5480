package models_test

import (
	"testing"

	"offcut/models"

	"github.com/google/go-cmp/cmp"
)

func TestWhatAnAnswerRestsOn(t *testing.T) {
	for name, test := range map[string]struct {
		seen, taken []models.Range
		incomplete  bool
		running     bool
		want        models.Ground
		unseen      int64
		first       int64
		whole       bool
	}{
		"a preview": {
			seen:   []models.Range{{0, 10}, {90, 100}},
			want:   models.Ground{Seen: []models.Range{{0, 10}, {90, 100}}, SeenBytes: 20},
			unseen: 80, first: 10,
		},
		"all pages": {
			seen:  []models.Range{{50, 100}, {0, 30}, {20, 60}},
			want:  models.Ground{Seen: []models.Range{{0, 100}}, SeenBytes: 100},
			whole: true,
		},
		"a page in the middle": {
			seen:   []models.Range{{40, 50}},
			want:   models.Ground{Seen: []models.Range{{40, 50}}, SeenBytes: 10},
			unseen: 90,
		},
		"what was taken away and seen again": {
			seen: []models.Range{{0, 50}}, taken: []models.Range{{40, 60}, {55, 70}},
			want:   models.Ground{Seen: []models.Range{{0, 50}}, SeenBytes: 50, Taken: []models.Range{{50, 70}}, TakenBytes: 20},
			unseen: 50, first: 50,
		},
		"all of what is kept, and that is not all": {
			seen: []models.Range{{0, 100}}, incomplete: true,
			want: models.Ground{Seen: []models.Range{{0, 100}}, SeenBytes: 100},
		},
		"all of what there was of a command that runs": {
			seen: []models.Range{{0, 100}}, incomplete: true, running: true,
			want:  models.Ground{Seen: []models.Range{{0, 100}}, SeenBytes: 100},
			whole: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := models.Ground{TotalBytes: 100, Complete: !test.incomplete, Running: test.running}
			g.See(test.seen...)
			g.Take(test.taken...)
			g = g.Settled()
			test.want.TotalBytes, test.want.Complete, test.want.Running = 100, !test.incomplete, test.running
			if diff := cmp.Diff(test.want, g); diff != "" {
				t.Error(diff)
			}
			if g.Unseen() != test.unseen || g.FirstUnseen() != test.first || g.Whole() != test.whole {
				t.Errorf("%d bytes unseen from %d on, whole: %t", g.Unseen(), g.FirstUnseen(), g.Whole())
			}
		})
	}
}

func TestOfManyRangesTheLongestAreNoted(t *testing.T) {
	g := models.Ground{TotalBytes: 100_000}
	var bytes int64
	for i := range int64(100) {
		g.See(models.Range{Start: 1000 * i, End: 1000*i + 1 + i})
		bytes += 1 + i
	}
	g = g.Settled()
	if len(g.Seen) != models.MaxGroundRanges || g.SeenBytes != bytes || g.Seen[0].Start != 36_000 {
		t.Errorf("%d ranges with %d bytes are noted, from %d on", len(g.Seen), g.SeenBytes, g.Seen[0].Start)
	}
}
