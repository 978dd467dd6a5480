package store

import (
	"strings"
	"testing"

	"offcut/models"
)

// What is said counts as what is kept does, so that neither a file that is
// imported again and again nor a fork of a fork fills the disk.
func TestMessagesCountTowardsTheQuota(t *testing.T) {
	const large = 20_000
	s := open(t, t.TempDir(), Options{QuotaBytes: 3 * large})
	ctx := t.Context()
	addUsers(t, s)
	addSession(t, s, "ann", "s", start)
	turn := run(t, s, "s", strings.Repeat("é", large/2), start)
	if used := got(s.StorageUsed(ctx, "ann"))(t); used != large+messageRoom {
		t.Errorf("a message of %d bytes counts %d", large, used)
	}
	answer := say(t, s, turn, "")
	answer.Content, answer.Reasoning = "short", "because"
	must(t, s.SaveMessage(ctx, answer))
	before := int64(large + 2*messageRoom + len("short") + len("because"))
	if used := got(s.StorageUsed(ctx, "ann"))(t); used != before {
		t.Errorf("%d bytes are used, want %d", used, before)
	}
	finish(t, s, turn, models.StateDone, start)

	fork := got(s.ForkSession(ctx, "ann", "s", "", start))(t)
	_, err := s.ForkSession(ctx, "ann", fork.ID, "", start)
	wantKind(t, err, models.ErrTooLarge, "storage_quota")
	err = s.ImportSession(ctx, models.Session{ID: "i", OwnerID: "ann", CreatedAt: start}, [][]models.Message{
		{{Role: models.RolePerson, Content: strings.Repeat("x", large), State: models.StateDone, CreatedAt: start}},
	}, nil)
	wantKind(t, err, models.ErrTooLarge, "storage_quota")
	err = s.ImportSession(ctx, models.Session{ID: "i", OwnerID: "ann", CreatedAt: start}, [][]models.Message{
		{{Role: models.RolePerson, Content: "x", State: models.StateDone, CreatedAt: start}},
	}, map[int][]models.Ground{0: {{OutputID: "out_x", Title: strings.Repeat("x", large)}}})
	wantKind(t, err, models.ErrTooLarge, "storage_quota")
	_, _, _, err = s.Enqueue(ctx, models.NewTurn{SessionID: "s", OwnerID: "ann", Content: strings.Repeat("x", large), Now: start})
	wantKind(t, err, models.ErrTooLarge, "storage_quota")

	if kept := got(s.Storage(ctx, "ann"))(t); kept.Sessions != 2 || kept.UsedBytes != 2*before {
		t.Errorf("%d sessions with %d bytes are left, want 2 with %d", kept.Sessions, kept.UsedBytes, 2*before)
	}
	list, _, err := s.UserStats(ctx, models.Page{})
	must(t, err)
	if list[0].StoredBytes != 2*before {
		t.Errorf("administrators are told of %d bytes", list[0].StoredBytes)
	}
	must(t, s.DeleteSession(ctx, "s"))
	send(t, s, fork.ID, strings.Repeat("x", large), start) // there is room again
}
