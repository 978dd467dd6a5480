package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"offcut/models"

	"github.com/google/go-cmp/cmp"
)

// uses runs a turn of ann's to its end, with these figures.
func uses(t testing.TB, s *Store, session, model string, at time.Time, used models.Usage) models.Turn {
	t.Helper()
	turn := run(t, s, session, "hello", at)
	turn.Model = model
	turn.Usage = models.Usage{InputTokens: used.InputTokens} // as it is after the first of two replies
	must(t, s.SaveTurn(t.Context(), turn))
	turn.Usage = used
	turn.State, turn.EndedAt = models.StateDone, models.Ptr(at.Add(time.Second))
	must(t, s.FinishTurn(t.Context(), turn))
	return turn
}

func listed(sums []models.UsageSum) []string {
	var lines []string
	for _, u := range sums {
		lines = append(lines, fmt.Sprintf("%s %s %s: %d turns, %d in, %d out, %g", u.Period, u.UserName, u.Model, u.Turns, u.InputTokens, u.OutputTokens, u.Cost))
	}
	return lines
}

func want(t testing.TB, what string, got, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestUsageIsSummedByDayMonthUserAndModelAndOutlivesItsSessions(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	addSession(t, s, "ann", "gone", start)
	day := 24 * time.Hour
	uses(t, s, "s", "small", start, models.Usage{InputTokens: 10, OutputTokens: 1, Cost: 0.5})
	last := uses(t, s, "gone", "small", start.Add(time.Hour), models.Usage{InputTokens: 20, OutputTokens: 2, Cost: 0.25})
	uses(t, s, "s", "large", start.Add(day), models.Usage{InputTokens: 100, OutputTokens: 10})
	uses(t, s, "s", "small", start.Add(40*day), models.Usage{InputTokens: 7})
	must(t, s.FinishTurn(ctx, last)) // a second try to store the end
	fork := got(s.ForkSession(ctx, "ann", "s", "", later(9)))(t)
	must(t, s.DeleteSession(ctx, "gone"))

	days := []string{
		"2026-04-10 ann small: 1 turns, 7 in, 0 out, 0",
		"2026-03-02 ann large: 1 turns, 100 in, 10 out, 0",
		"2026-03-01 ann small: 2 turns, 30 in, 3 out, 0.75",
	}
	months := []string{
		"2026-04 ann small: 1 turns, 7 in, 0 out, 0",
		"2026-03 ann large: 1 turns, 100 in, 10 out, 0",
		"2026-03 ann small: 2 turns, 30 in, 3 out, 0.75",
	}
	read := func(q models.UsageQuery) func(models.Page) ([]models.UsageSum, string, error) {
		return func(p models.Page) ([]models.UsageSum, string, error) {
			q.Page = p
			return s.Usage(ctx, q)
		}
	}
	for limit := 1; limit < 4; limit++ {
		for what, tt := range map[string]struct {
			query models.UsageQuery
			want  []string
		}{
			"by day":     {models.UsageQuery{ByDay: true}, days},
			"by month":   {models.UsageQuery{}, months},
			"of a month": {models.UsageQuery{Month: "2026-03"}, months[1:]},
			"of ann":     {models.UsageQuery{UserID: "ann", Month: "2026-04", ByDay: true}, days[:1]},
			"of bob":     {models.UsageQuery{UserID: "bob"}, nil},
		} {
			var sums []models.UsageSum
			page := models.Page{Limit: limit}
			for {
				more, next, err := read(tt.query)(page)
				must(t, err)
				sums = append(sums, more...)
				if page.Cursor = next; next == "" {
					break
				}
			}
			want(t, fmt.Sprintf("%s, %d a page", what, limit), listed(sums), tt.want)
		}
	}
	total := got(s.UsageTotal(ctx, models.UsageQuery{Month: "2026-03"}))(t)
	if total.Turns != 3 || total.InputTokens != 130 || total.Cost != 0.75 {
		t.Errorf("in all: %+v", total)
	}
	want(t, "the months", got(s.UsageMonths(ctx))(t), []string{"2026-04", "2026-03"})
	if of := got(s.SessionUsage(ctx, "s"))(t); len(of) != 2 || of[0].InputTokens+of[1].InputTokens != 117 {
		t.Errorf("of the session: %+v", of)
	}
	if of := got(s.SessionUsage(ctx, fork.ID))(t); len(of) != 0 {
		t.Errorf("a fork has used %+v", of)
	}
	_, _, err := s.Usage(ctx, models.UsageQuery{Page: models.Page{Cursor: "x"}})
	wantKind(t, err, models.ErrMalformed, "invalid_cursor")
}

func TestATurnThatACrashCutOffCountsWhatItUsed(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	turn := run(t, s, "s", "hello", start)
	turn.Model, turn.Usage = "small", models.Usage{InputTokens: 5, OutputTokens: 2}
	must(t, s.SaveTurn(t.Context(), turn))
	must(t, s.InterruptRunning(t.Context(), later(5), "interrupted"))
	sums, _, err := s.Usage(t.Context(), models.UsageQuery{})
	must(t, err)
	want(t, "after the crash", listed(sums), []string{"2026-03 ann small: 1 turns, 5 in, 2 out, 0"})
}

// What nothing was saved of yet counts for the model that was asked.
func TestATurnThatACrashCutOffAtOnceCountsForItsModel(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	turn := run(t, s, "s", "hello", start)
	got(s.SaveRequest(t.Context(), models.SentRequest{SessionID: "s", TurnID: turn.ID, Model: "small", At: start}, 0, nil))(t)
	must(t, s.InterruptRunning(t.Context(), later(5), "interrupted"))
	sums, _, err := s.Usage(t.Context(), models.UsageQuery{})
	must(t, err)
	want(t, "after the crash", listed(sums), []string{"2026-03 ann small: 1 turns, 0 in, 0 out, 0"})
}

// Two admins take the admin's rights from each other at the same moment, in
// whatever way: one of them stays.
func TestTheLastAdminStaysWhoeverIsFaster(t *testing.T) {
	ctx := t.Context()
	for name, lose := range map[string]func(s *Store, id string) error{
		"disabled": func(s *Store, id string) error { return s.SetDisabled(ctx, id, true) },
		"demoted":  func(s *Store, id string) error { return s.SetRole(ctx, id, models.RoleUser) },
	} {
		t.Run(name, func(t *testing.T) {
			s := openNew(t)
			must(t, s.SetRole(ctx, "ann", models.RoleAdmin))
			must(t, s.SetRole(ctx, "bob", models.RoleAdmin))
			var wg sync.WaitGroup
			errs := make([]error, 3)
			for i, id := range []string{"ann", "bob", "root"} {
				wg.Go(func() { errs[i] = lose(s, id) })
			}
			wg.Wait()
			refused := 0
			for _, err := range errs {
				if err != nil {
					wantKind(t, err, models.ErrConflict, "last_admin")
					refused++
				}
			}
			left := 0
			for _, u := range all(t, 9, s.Users) {
				if u.Admin() && !u.Disabled {
					left++
				}
			}
			if refused != 1 || left != 1 {
				t.Errorf("%d refused, %d admins are left", refused, left)
			}
		})
	}
}

func TestAnAdminWhoIsDisabledCanBeDemoted(t *testing.T) {
	s := openNew(t)
	must(t, s.SetRole(t.Context(), "ann", models.RoleAdmin))
	must(t, s.SetDisabled(t.Context(), "ann", true))
	must(t, s.SetRole(t.Context(), "ann", models.RoleUser))
	wantKind(t, s.SetRole(t.Context(), "root", models.RoleUser), models.ErrConflict, "last_admin")
}

func TestAResetSignsOutAndEndsNothingElseUnlessSaid(t *testing.T) {
	ctx := t.Context()
	for _, said := range []bool{false, true} {
		s := openNew(t)
		must(t, s.SetPassword(ctx, "ann", "hash"))
		must(t, s.CreateToken(ctx, models.APIToken{ID: "t", UserID: "ann", Hash: "token"}))
		must(t, s.CreateSignInLink(ctx, models.SignInLink{Hash: "old", UserID: "ann", ExpiresAt: later(9)}))
		must(t, s.WebSessions().Bind(ctx, "browser", got(s.User(ctx, "ann"))(t)))
		must(t, s.WebSessions().Commit("browser", []byte("x"), time.Now().Add(time.Hour)))
		deed := models.AuditEntry{Action: models.AuditUserReset, Target: "ann"}
		must(t, s.ResetUser(ctx, models.SignInLink{Hash: "new", UserID: "ann", ExpiresAt: later(9)}, said, said, deed))

		if _, found, err := s.WebSessions().Find("browser"); err != nil || found {
			t.Errorf("a browser is still signed in (%v)", err)
		}
		if _, err := s.UseSignInLink(ctx, "old", start); !errors.Is(err, models.ErrUnauthorized) {
			t.Errorf("the old link: %v", err)
		}
		got(s.UseSignInLink(ctx, "new", start))(t)
		_, err := s.UserByTokenHash(ctx, "token")
		if hash := got(s.User(ctx, "ann"))(t).PasswordHash; (hash == "") != said || (err != nil) != said {
			t.Errorf("said %v: the password is %q, the token %v", said, hash, err)
		}
		if log, _, err := s.Audit(ctx, models.AuditQuery{}); err != nil || log[0].Action != models.AuditUserReset {
			t.Errorf("the audit log: %v, %v", log, err)
		}
	}
	s := openNew(t)
	wantKind(t, s.ResetUser(ctx, models.SignInLink{Hash: "x", UserID: "nobody"}, false, false), models.ErrNotFound, "user_not_found")
}

func TestTokensAreListedRevokedAndBounded(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	for i := range models.MaxTokensPerUser {
		must(t, s.CreateToken(ctx, models.APIToken{ID: fmt.Sprint(i), UserID: "ann", Name: fmt.Sprint("no. ", i), Hash: fmt.Sprint(i), CreatedAt: later(i)}))
	}
	wantKind(t, s.CreateToken(ctx, models.APIToken{ID: "x", UserID: "ann", Hash: "x"}), models.ErrConflict, "too_many_tokens")
	wantKind(t, s.DeleteToken(ctx, "bob", "5"), models.ErrNotFound, "token_not_found")
	must(t, s.DeleteToken(ctx, "ann", "5"))
	tokens := got(s.Tokens(ctx, "ann"))(t)
	if len(tokens) != models.MaxTokensPerUser-1 || tokens[0].ID != "99" || tokens[0].Name != "no. 99" {
		t.Errorf("%d tokens, the first is %+v", len(tokens), tokens[0])
	}
	if tokens := got(s.Tokens(ctx, "bob"))(t); len(tokens) != 0 {
		t.Errorf("bob has %+v", tokens)
	}
}

func TestSettingsAreKept(t *testing.T) {
	s := openNew(t)
	chosen := models.Settings{Language: "en", Theme: models.ThemeDark, PreviewLines: 10, Thoughts: true, Notify: true, Unmarked: true}
	must(t, s.SetSettings(t.Context(), "ann", chosen))
	if got := got(s.User(t.Context(), "ann"))(t).Settings; got != chosen {
		t.Errorf("read %+v", got)
	}
	if got := got(s.User(t.Context(), "bob"))(t).Settings; got != (models.Settings{}) {
		t.Errorf("bob has %+v", got)
	}
	must(t, s.SetTheme(t.Context(), "ann", models.ThemeLight)) // and nothing that another tab has stored
	chosen.Theme = models.ThemeLight
	if is := got(s.User(t.Context(), "ann"))(t).Settings; is != chosen {
		t.Errorf("after another theme the settings are %+v, want %+v", is, chosen)
	}
	wantKind(t, s.SetTheme(t.Context(), "nobody", models.ThemeDark), models.ErrNotFound, "user_not_found")
	wantKind(t, s.SetSettings(t.Context(), "nobody", chosen), models.ErrNotFound, "user_not_found")
}

func TestUsersWithTheirFigures(t *testing.T) {
	s := open(t, t.TempDir(), Options{WorkspaceBytes: func(owner string) int64 { return map[string]int64{"ann": 1000}[owner] }})
	addUsers(t, s)
	addSession(t, s, "ann", "s", start)
	keep(t, s, "s", "o", make([]byte, 10))
	must(t, s.CreateToken(t.Context(), models.APIToken{ID: "t", UserID: "ann", Hash: "h"}))
	list := all(t, 2, s.UserStats)
	if len(list) != 3 || list[0].Name != "ann" || list[0].Sessions != 1 || list[0].StoredBytes != 1010 || list[0].Tokens != 1 || list[1].Sessions != 0 {
		t.Errorf("listed %+v", list)
	}
}

// Pages that are joined are the list, whatever they end in.
func TestUsageComesPageByPage(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	for day := range 70 {
		for _, user := range []string{"bob", "ann", "gone"} {
			must(t, s.writer.Exec("INSERT INTO usage (day, user_id, model, turns) VALUES (?, ?, 'large', 1), (?, ?, 'small', 2)",
				start.AddDate(0, 0, -day).Format(time.DateOnly), user, start.AddDate(0, 0, -day).Format(time.DateOnly), user).Error)
		}
	}
	for name, q := range map[string]models.UsageQuery{"by day": {ByDay: true}, "by month": {}, "one user's": {ByDay: true, UserID: "bob"}, "one month": {Month: "2026-02", ByDay: true}} {
		t.Run(name, func(t *testing.T) {
			list := func(limit int) []string {
				return listed(all(t, limit, func(ctx context.Context, p models.Page) ([]models.UsageSum, string, error) {
					q.Page = p
					return s.Usage(ctx, q)
				}))
			}
			whole := list(models.MaxPageLimit)
			for _, limit := range []int{1, 4, 7} {
				want(t, fmt.Sprintf("pages of %d", limit), list(limit), whole)
			}
			turns := 0
			for _, sum := range all(t, 200, func(ctx context.Context, p models.Page) ([]models.UsageSum, string, error) {
				q.Page = p
				return s.Usage(ctx, q)
			}) {
				turns += int(sum.Turns)
			}
			if total := got(s.UsageTotal(ctx, q))(t); int(total.Turns) != turns || turns == 0 {
				t.Errorf("the lines have %d turns, the total is %d", turns, total.Turns)
			}
		})
	}
	want(t, "the months", got(s.UsageMonths(ctx))(t), []string{"2026-03", "2026-02", "2026-01", "2025-12"})
}
