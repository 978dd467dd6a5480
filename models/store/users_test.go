package store

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"offcut/models"
)

func TestUsers(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()

	t.Run("a name is taken in whatever case", func(t *testing.T) {
		wantKind(t, s.CreateUser(ctx, models.User{ID: "x", Name: "ANN", Role: models.RoleUser}), models.ErrConflict, "name_taken")
	})
	t.Run("an unknown user is not found", func(t *testing.T) {
		_, err := s.User(ctx, "nobody")
		wantKind(t, err, models.ErrNotFound, "user_not_found")
		wantKind(t, s.SetPassword(ctx, "nobody", "h"), models.ErrNotFound, "user_not_found")
		wantKind(t, s.SetDisabled(ctx, "nobody", true), models.ErrNotFound, "user_not_found")
		wantKind(t, s.RecordSignIn(ctx, "nobody", start), models.ErrNotFound, "user_not_found")
	})
	t.Run("what is set is read", func(t *testing.T) {
		must(t, s.SetPassword(ctx, "ann", "$argon2id$…"))
		must(t, s.SetDisabled(ctx, "ann", true))
		must(t, s.RecordSignIn(ctx, "ann", later(9)))
		ann := got(s.UserByName(ctx, "Ann"))(t)
		if ann.PasswordHash != "$argon2id$…" || !ann.Disabled || !ann.LastSignInAt.Equal(later(9)) || !ann.CreatedAt.Equal(start) {
			t.Errorf("read %+v", ann)
		}
		must(t, s.SetDisabled(ctx, "ann", false))
	})
	t.Run("pages by name", func(t *testing.T) {
		var names []string
		for _, u := range all(t, 2, s.Users) {
			names = append(names, u.Name)
		}
		if want := []string{"ann", "bob", "root"}; !slices.Equal(names, want) {
			t.Errorf("listed %v, want %v", names, want)
		}
	})
	t.Run("the last enabled admin stays", func(t *testing.T) {
		wantKind(t, s.SetDisabled(ctx, "root", true), models.ErrConflict, "last_admin")
		must(t, s.CreateUser(ctx, models.User{ID: "eve", Name: "eve", Role: models.RoleAdmin, CreatedAt: start}))
		must(t, s.SetDisabled(ctx, "root", true))
		wantKind(t, s.SetDisabled(ctx, "eve", true), models.ErrConflict, "last_admin")
	})
}

func TestTokens(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	must(t, s.CreateToken(ctx, models.APIToken{ID: "tok", UserID: "ann", Name: "laptop", Hash: "h1", CreatedAt: start}))

	if user := got(s.UserByTokenHash(ctx, "h1"))(t); user.ID != "ann" {
		t.Errorf("the token is %s's", user.ID)
	}
	var row tokenRow
	must(t, s.readers.Take(&row).Error)
	if row.LastUsed == nil || time.Since(fromMicros(*row.LastUsed)) > time.Minute {
		t.Errorf("last use is %v", row.LastUsed)
	}
	_, err := s.UserByTokenHash(ctx, "h2")
	wantKind(t, err, models.ErrUnauthorized, "invalid_token")
	wantKind(t, s.CreateToken(ctx, models.APIToken{ID: "t2", UserID: "ann", Hash: "h1"}), models.ErrConflict, "token_taken")
	wantKind(t, s.CreateToken(ctx, models.APIToken{ID: "t3", UserID: "nobody", Hash: "h3"}), models.ErrNotFound, "user_not_found")

	must(t, s.SetDisabled(ctx, "ann", true))
	_, err = s.UserByTokenHash(ctx, "h1")
	wantKind(t, err, models.ErrUnauthorized, "invalid_token")
}

func TestSignInLinks(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	for hash, user := range map[string]string{"once": "ann", "old": "ann", "locked": "bob"} {
		must(t, s.CreateSignInLink(ctx, models.SignInLink{Hash: hash, UserID: user, ExpiresAt: later(10)}))
	}
	must(t, s.SetDisabled(ctx, "bob", true))

	if user := got(s.UseSignInLink(ctx, "once", later(5)))(t); user.ID != "ann" {
		t.Errorf("signed in %s", user.ID)
	}
	for name, try := range map[string]struct {
		hash string
		at   time.Time
	}{
		"a second time":      {"once", later(5)},
		"after its end":      {"old", later(10)},
		"of a disabled user": {"locked", later(5)},
		"never made":         {"other", later(5)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.UseSignInLink(ctx, try.hash, try.at)
			wantKind(t, err, models.ErrUnauthorized, "invalid_link")
		})
	}
	wantKind(t, s.CreateSignInLink(ctx, models.SignInLink{Hash: "x", UserID: "nobody"}), models.ErrNotFound, "user_not_found")
}

func TestWhatIsAuditedAlreadyDoesNotWaitForTheWriter(t *testing.T) {
	s := openNew(t)
	view := models.AuditEntry{At: start, ActorID: "root", Action: models.AuditSessionView, Target: "s1"}
	must(t, s.AddAuditOnce(t.Context(), view))
	writing := s.writer.Begin()
	must(t, writing.Error)
	defer writing.Rollback()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	must(t, s.AddAuditOnce(ctx, view))
}

func TestAudit(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	view := models.Deedf("session_read", "read a session of %s, %d bytes", models.Arg("owner", "ann"), models.Arg("bytes", 1_000_000)).
		Of(models.AuditEntry{At: start, ActorID: "root", ActorName: "root", Action: models.AuditSessionView, Target: "s1", Address: "::1"})
	for _, target := range []string{"s1", "s1", "s2"} {
		view.Target = target
		must(t, s.AddAuditOnce(ctx, view))
	}
	view.Target = "s1"
	must(t, s.AddAudit(ctx, view))

	var targets []string
	for _, e := range all(t, 2, auditOf(s, models.AuditQuery{})) {
		targets = append(targets, e.Target)
		e.ID, e.Target = 0, "s1"
		if !reflect.DeepEqual(e, view) {
			t.Errorf("read %+v, wrote %+v", e, view)
		}
	}
	if want := []string{"s1", "s2", "s1"}; !slices.Equal(targets, want) {
		t.Errorf("newest first: %v, want %v", targets, want)
	}
}

func TestWebSessions(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	web := s.WebSessions()
	soon, past := time.Now().Add(time.Hour), time.Now().Add(-time.Second)
	found := func(token string) string {
		data, ok, err := web.Find(token)
		must(t, err)
		if !ok {
			return "none"
		}
		return string(data)
	}

	ann, bob := got(s.User(ctx, "ann"))(t), got(s.User(ctx, "bob"))(t)

	must(t, web.Bind(ctx, "a1", ann))
	if found("a1") != "none" {
		t.Error("a bound token without data was found")
	}
	must(t, web.Commit("a1", []byte("one"), soon))
	must(t, web.Commit("a1", []byte("two"), soon))
	must(t, web.Bind(ctx, "a2", ann))
	must(t, web.Commit("a2", []byte("x"), soon))
	must(t, web.Bind(ctx, "b1", bob))
	must(t, web.Commit("b1", nil, soon))
	must(t, web.Bind(ctx, "gone", bob))
	must(t, web.Commit("gone", []byte("x"), past))
	must(t, web.Commit("other", []byte("x"), soon)) // nobody signed in with it
	wantKind(t, web.Bind(ctx, "c", models.User{ID: "nobody"}), models.ErrNotFound, "user_not_found")

	for token, want := range map[string]string{"a1": "two", "a2": "x", "b1": "", "gone": "none", "other": "none"} {
		if data := found(token); data != want {
			t.Errorf("%s has %q, want %q", token, data, want)
		}
	}
	var stored int64
	must(t, s.readers.Model(&webSessionRow{}).Where("token_hash = ?", "a1").Count(&stored).Error)
	if stored != 0 {
		t.Error("the token itself is stored")
	}

	must(t, web.DeleteForUser(ctx, "ann"))
	if found("a1") != "none" || found("a2") != "none" || found("b1") != "" {
		t.Error("signing ann out everywhere did not end exactly her sign-ins")
	}
	// A request that began before ends after it.
	must(t, web.Commit("a1", []byte("three"), soon))
	if found("a1") != "none" {
		t.Error("a request that ended brought a sign-in back")
	}
	must(t, web.Delete("b1"))
	must(t, web.Delete("b1"))
	must(t, s.Compact(ctx))
	must(t, s.readers.Model(&webSessionRow{}).Count(&stored).Error)
	if stored != 0 {
		t.Errorf("%d rows stay, expired ones among them", stored)
	}
}

// Who found out the old password has it checked while its owner changes it.
func TestASignInThatTheAccountOvertookIsRefused(t *testing.T) {
	ctx := t.Context()
	for name, change := range map[string]func(*Store) error{
		"another password": func(s *Store) error { return s.SetPassword(ctx, "ann", "another hash") },
		"disabled":         func(s *Store) error { return s.SetDisabled(ctx, "ann", true) },
	} {
		t.Run(name, func(t *testing.T) {
			s := openNew(t)
			before := got(s.User(ctx, "ann"))(t)
			must(t, change(s))
			wantKind(t, s.WebSessions().Bind(ctx, "token", before), models.ErrUnauthorized, "signed_out")
		})
	}
}

func TestNoLinkOutlivesWhatEndsSignIns(t *testing.T) {
	ctx := t.Context()
	for name, end := range map[string]func(*Store) error{
		"another password": func(s *Store) error { return s.SetPassword(ctx, "ann", "hash") },
		"disabled, and enabled": func(s *Store) error {
			return errors.Join(s.SetDisabled(ctx, "ann", true), s.SetDisabled(ctx, "ann", false))
		},
		"signed out everywhere": func(s *Store) error { return s.WebSessions().DeleteForUser(ctx, "ann") },
	} {
		t.Run(name, func(t *testing.T) {
			s := openNew(t)
			must(t, s.CreateSignInLink(ctx, models.SignInLink{Hash: "link", UserID: "ann", ExpiresAt: later(9)}))
			must(t, end(s))
			if _, err := s.UseSignInLink(ctx, "link", start); !errors.Is(err, models.ErrUnauthorized) {
				t.Errorf("the link: %v", err)
			}
		})
	}
}

// auditOf is the list of the log that q asks for.
func auditOf(s *Store, q models.AuditQuery) func(context.Context, models.Page) ([]models.AuditEntry, string, error) {
	return func(ctx context.Context, p models.Page) ([]models.AuditEntry, string, error) {
		q.Page = p
		return s.Audit(ctx, q)
	}
}

func TestTheAuditLogIsNarrowed(t *testing.T) {
	s := openNew(t)
	for i, e := range []models.AuditEntry{
		{ActorName: "root", Action: models.AuditSessionView, Target: "s1"},
		{ActorName: "root", Action: models.AuditSessionDelete, Target: "s1"},
		{ActorName: "ann", Action: models.AuditSignIn, Target: "ann"},
		{ActorName: "ann", Action: "sessions.other", Target: "s2"},
	} {
		e.At = start.AddDate(0, 0, i)
		must(t, s.AddAudit(t.Context(), e))
	}
	for name, c := range map[string]struct {
		q    models.AuditQuery
		want []string
	}{
		"all":           {models.AuditQuery{}, []string{"sessions.other", "user.sign_in", "session.delete", "session.view"}},
		"an actor":      {models.AuditQuery{Actor: "ann"}, []string{"sessions.other", "user.sign_in"}},
		"an action":     {models.AuditQuery{Action: "session.view"}, []string{"session.view"}},
		"a kind":        {models.AuditQuery{Action: "session"}, []string{"session.delete", "session.view"}},
		"a target":      {models.AuditQuery{Target: "s1"}, []string{"session.delete", "session.view"}},
		"from a day":    {models.AuditQuery{From: start.AddDate(0, 0, 2)}, []string{"sessions.other", "user.sign_in"}},
		"to a day":      {models.AuditQuery{To: start.AddDate(0, 0, 1)}, []string{"session.view"}},
		"no such actor": {models.AuditQuery{Actor: "an"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var actions []string
			for _, e := range all(t, 1, auditOf(s, c.q)) {
				actions = append(actions, e.Action)
			}
			if !slices.Equal(actions, c.want) {
				t.Errorf("found %v, want %v", actions, c.want)
			}
		})
	}
	if names := got(s.AuditActions(t.Context()))(t); !slices.Equal(names, []string{"session.delete", "session.view", "sessions.other", "user.sign_in"}) {
		t.Errorf("actions of the log: %v", names)
	}
}

func TestANameThatLooksLikeAnothersIsTaken(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	must(t, s.CreateUser(ctx, models.User{ID: "latin", Name: "poca", Role: models.RoleUser}))
	cyrillic := models.User{ID: "cyrillic", Name: "роса", Role: models.RoleUser}
	wantKind(t, s.CreateUser(ctx, cyrillic), models.ErrConflict, "name_looks_alike")
	must(t, s.CreateUser(ctx, models.User{ID: "other", Name: "роща", Role: models.RoleUser}))
}
