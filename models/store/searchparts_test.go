package store

import (
	"slices"
	"testing"
	"time"

	"offcut/models"

	"gorm.io/gorm"
)

// day is the start of a day of the tests.
func day(n int) time.Time { return start.AddDate(0, 0, n) }

func TestASearchLooksInAPartAndATime(t *testing.T) {
	everyWay(t, func(t *testing.T, s *Store, settle func()) {
		must(t, s.CreateSession(t.Context(), models.Session{ID: "titled", OwnerID: "ann", Title: "the needle of a title", CreatedAt: day(1)}))
		for id, n := range map[string]int{"said": 2, "returned": 3, "both": 4} {
			must(t, s.CreateSession(t.Context(), models.Session{ID: id, OwnerID: "ann", CreatedAt: day(n)}))
			question, result := "hay", "straw"
			if id != "returned" {
				question = "where is the needle?"
			}
			if id != "said" {
				result = "one needle"
			}
			turn := run(t, s, id, question, day(n))
			say(t, s, turn, "let me see", "c_"+id)
			reply(t, s, turn, "c_"+id, result)
			finish(t, s, turn, models.StateDone, day(n))
			must(t, s.write(t.Context(), "date a session", func(tx *gorm.DB) error {
				return tx.Exec("UPDATE messages SET created_at = ? WHERE session_id = ?", micros(day(n)), id).Error
			}))
		}
		settle()

		for name, tt := range map[string]struct {
			query models.SessionQuery
			want  []string
		}{
			"everywhere":                  {models.SessionQuery{Text: "needle"}, []string{"both", "returned", "said", "titled"}},
			"in titles":                   {models.SessionQuery{Text: "needle", In: models.SearchTitles}, []string{"titled"}},
			"in messages":                 {models.SessionQuery{Text: "needle", In: models.SearchMessages}, []string{"both", "said"}},
			"in outputs":                  {models.SessionQuery{Text: "needle", In: models.SearchOutputs}, []string{"both", "returned"}},
			"a short word in outputs":     {models.SessionQuery{Text: "ne", In: models.SearchOutputs}, []string{"both", "returned"}},
			"since a day":                 {models.SessionQuery{Text: "needle", From: day(3)}, []string{"both", "returned"}},
			"until a day":                 {models.SessionQuery{Text: "needle", To: day(3)}, []string{"said", "titled"}},
			"in messages of some days":    {models.SessionQuery{Text: "needle", In: models.SearchMessages, From: day(2), To: day(4)}, []string{"said"}},
			"in titles of other days":     {models.SessionQuery{Text: "needle", In: models.SearchTitles, From: day(2)}, nil},
			"no words, some days":         {models.SessionQuery{From: day(2), To: day(4)}, []string{"returned", "said"}},
			"no words, outputs, not kept": {models.SessionQuery{In: models.SearchOutputs}, nil},
		} {
			tt.query.OwnerID = "ann"
			list, _, err := s.Sessions(t.Context(), tt.query)
			must(t, err)
			var ids []string
			for _, one := range list {
				ids = append(ids, one.ID)
			}
			if slices.Sort(ids); !slices.Equal(ids, tt.want) {
				t.Errorf("%s: found %q, want %q", name, ids, tt.want)
			}
		}
		inMessages := models.SessionQuery{OwnerID: "ann", Text: "needle", In: models.SearchMessages}
		places := placesOf(t, s, inMessages, []string{"said", "both", "returned"}, 3)
		if len(places) != 2 || places["both"].Total != 1 || places["both"].Best[0].Role != models.RolePerson {
			t.Errorf("the places are %+v", places)
		}
		late := models.SessionQuery{OwnerID: "ann", Text: "needle", From: day(5)}
		if places := placesOf(t, s, late, []string{"both"}, 3); len(places) != 0 {
			t.Errorf("places outside the time: %+v", places)
		}
	})
}

func TestVersionsThatAreNotShownAreFoundOnce(t *testing.T) {
	everyWay(t, func(t *testing.T, s *Store, settle func()) {
		addSession(t, s, "ann", "s", start)
		one := answered(t, s, send(t, s, "s", "the zebra question", start), "a zebra of the first answer")
		two := answered(t, s, retry(t, s, one), "no animal")
		edited := answered(t, s, edit(t, s, two, "another question"), "nothing")
		settle()
		query := models.SessionQuery{OwnerID: "ann", Text: "zebra"}
		if ids := foundBy(t, s, "ann", "zebra"); ids != "s" {
			t.Errorf("an earlier version is not found: %q", ids)
		}
		places := placesOf(t, s, query, []string{"s"}, 5)["s"]
		if places.Total != 2 || places.Best[0].Shown || places.Best[0].TurnID != one.ID {
			t.Errorf("the places are %+v", places)
		}
		// Where the same question is shown, it is the place.
		chooseVersion(t, s, two)
		places = placesOf(t, s, query, []string{"s"}, 5)["s"]
		if places.Total != 2 || !places.Best[0].Shown || places.Best[0].TurnID != two.ID || places.Best[1].Content != "a zebra of the first answer" {
			t.Errorf("with the question shown, the places are %+v", places)
		}
		chooseVersion(t, s, edited)
	})
}
