package store

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"offcut/models"

	"gorm.io/gorm"
)

func TestFilesAreForTheirOwnerAloneWhateverTheUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := filepath.Join(t.TempDir(), "a b?c%41#d", "data")
	s := open(t, dir, Options{})
	addUsers(t, s)

	want := map[string]os.FileMode{"": 0o700, FileName: 0o600, FileName + "-wal": 0o600, FileName + "-shm": 0o600}
	for name, mode := range want {
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		if info.Mode().Perm() != mode {
			t.Errorf("%q has mode %o, want %o", name, info.Mode().Perm(), mode)
		}
	}
}

func TestOpeningTightensModesThatAreTooWide(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, FileName), nil, 0o644))
	must(t, os.Chmod(dir, 0o755))
	open(t, dir, Options{})
	for name, mode := range map[string]os.FileMode{"": 0o700, FileName: 0o600} {
		if info := got(os.Stat(filepath.Join(dir, name)))(t); info.Mode().Perm() != mode {
			t.Errorf("%q has mode %o, want %o", name, info.Mode().Perm(), mode)
		}
	}
}

func TestPragmasOfBothPools(t *testing.T) {
	s := openNew(t)
	for _, test := range []struct {
		db           *gorm.DB
		pragma, want string
	}{
		{s.writer, "auto_vacuum", "2"},
		{s.writer, "journal_mode", "wal"},
		{s.writer, "secure_delete", "1"},
		{s.writer, "foreign_keys", "1"},
		{s.writer, "synchronous", "1"},
		{s.writer, "busy_timeout", "5000"},
		{s.writer, "journal_size_limit", maxWAL},
		{s.writer, "wal_autocheckpoint", checkpointPages},
		{s.readers, "query_only", "1"},
		{s.readers, "busy_timeout", "5000"},
	} {
		var value string
		must(t, test.db.Raw("PRAGMA "+test.pragma).Scan(&value).Error)
		if value != test.want {
			t.Errorf("%s is %s, want %s", test.pragma, value, test.want)
		}
	}
	if s.readers.Exec("DELETE FROM users").Error == nil {
		t.Error("a reader could write")
	}
}

func TestOpenAgainKeepsAllAndMigratesOnce(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	addUsers(t, s)
	must(t, s.Close())

	again := open(t, dir, Options{})
	got(again.UserByName(t.Context(), "ANN"))(t)
	var applied int64
	must(t, again.readers.Table("migrations").Count(&applied).Error)
	if names := got(migrationFiles.ReadDir("migrations"))(t); int(applied) != len(names) {
		t.Errorf("%d migrations are noted, there are %d", applied, len(names))
	}
	must(t, again.Ping(t.Context()))
}

func TestANewerDatabaseIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	must(t, s.writer.Exec("INSERT INTO migrations (version, name, applied_at) VALUES (999, 'of tomorrow', 0)").Error)
	must(t, s.Close())

	_, err := Open(t.Context(), dir, Options{})
	if err == nil || !strings.Contains(err.Error(), "newer version of Offcut") {
		t.Errorf("error is %v", err)
	}
}

// migrated applies the scripts to the store's database, beside its own.
func migrated(t *testing.T, s *Store, scripts map[string]string) error {
	t.Helper()
	folder := fstest.MapFS{}
	for _, name := range got(fs.Glob(migrationFiles, "migrations/*.sql"))(t) {
		folder[path.Base(name)] = &fstest.MapFile{Data: got(migrationFiles.ReadFile(name))(t)}
	}
	for name, script := range scripts {
		folder[name] = &fstest.MapFile{Data: []byte(script)}
	}
	return migrateFrom(folder, s.writer)
}

func TestAMigrationThatFailsLeavesNothingBehind(t *testing.T) {
	s := openNew(t)
	err := migrated(t, s, map[string]string{"9999_twice.sql": "CREATE TABLE half (x); CREATE TABLE users (x)"})
	if err == nil || !strings.Contains(err.Error(), "9999_twice.sql") {
		t.Fatalf("the second table was made twice: %v", err)
	}
	if s.writer.Migrator().HasTable("half") {
		t.Error("the first half of the migration stayed")
	}
}

// Work on two branches ends in any order.
func TestAMigrationThatComesLateIsAppliedToo(t *testing.T) {
	s := openNew(t)
	late := map[string]string{"0001_late.sql": "CREATE TABLE late (x)"}
	for range 2 {
		must(t, migrated(t, s, late))
	}
	if !s.writer.Migrator().HasTable("late") {
		t.Error("it was passed over")
	}
}

// A transaction that reads and then writes fails with "database is locked"
// where it takes the lock only at its first write.
func TestManyReadThenWriteAtOnceWithoutLockErrors(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	const workers, each = 16, 25
	errs := make(chan error, workers*each*2)
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := range each {
				_, _, _, err := s.Enqueue(context.Background(), models.NewTurn{
					SessionID: "s", OwnerID: "ann", Content: "hello", ClientID: fmt.Sprint(worker*each + i), Now: later(i),
				})
				errs <- err
				_, _, err = s.Sessions(context.Background(), models.SessionQuery{OwnerID: "ann"})
				errs <- err
			}
		})
	}
	group.Wait()
	close(errs)
	for err := range errs {
		must(t, err)
	}
	seqs := map[int64]bool{}
	for _, m := range all(t, 200, func(ctx context.Context, p models.Page) ([]models.Message, string, error) {
		return s.Messages(ctx, models.MessageQuery{SessionID: "s", Page: p})
	}) {
		seqs[m.Seq] = true
	}
	if len(seqs) != workers*each {
		t.Errorf("%d messages with a seq of their own, want %d", len(seqs), workers*each)
	}
}

func TestTroubleWithTheDatabaseIsUnavailableAndNamesNoPath(t *testing.T) {
	dir := t.TempDir()
	for name, test := range map[string]struct {
		pragma, code string
	}{
		"read-only": {"PRAGMA query_only = on", "storage_read_only"},
		"full disk": {"PRAGMA max_page_count = 1", "storage_full"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, filepath.Join(dir, name), Options{})
			addUsers(t, s)
			addSession(t, s, "ann", "s", start)
			o := models.RetainedOutput{ID: "o", SessionID: "s", CreatedAt: start}
			must(t, s.CreateOutput(t.Context(), o))
			must(t, s.writer.Exec(test.pragma).Error)

			err := s.WriteOutput(t.Context(), o, models.OutputWrite{Text: make([]byte, 1<<20)})
			wantKind(t, err, models.ErrUnavailable, test.code)
			if strings.Contains(err.Error(), dir) {
				t.Errorf("the error names a path: %v", err)
			}
			if read := got(s.ReadOutput(t.Context(), "s", "o", models.StreamText, 0, 10))(t); len(read) != 0 {
				t.Errorf("%d bytes of the failed write stayed", len(read))
			}
		})
	}
}

func TestALockThatLastsIsUnavailable(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	other := got(connect(writerDSN(filepath.Join(dir, FileName)), 1))(t)
	defer func() { must(t, disconnect(other)) }()
	must(t, s.writer.Exec("PRAGMA busy_timeout = 20").Error)
	tx := other.Begin()
	defer tx.Rollback()

	err := s.CreateUser(t.Context(), models.User{ID: "u", Name: "u", Role: models.RoleUser, CreatedAt: start})
	wantKind(t, err, models.ErrUnavailable, "storage_busy")
}

func TestAClosedStoreIsUnavailable(t *testing.T) {
	s := openNew(t)
	must(t, s.Close())
	wantKind(t, s.Ping(t.Context()), models.ErrUnavailable, "storage_closed")
}

func TestADeadlineInterruptsAQuery(t *testing.T) {
	s := openNew(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	err := s.read(ctx, "count", func(db *gorm.DB) error {
		var n int64
		return db.Raw("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1000000000) SELECT count(*) FROM c").Scan(&n).Error
	})
	if err == nil || time.Since(began) > 5*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}
