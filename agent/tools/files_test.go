package tools

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"offcut/models"
)

// lot is a storage of one workspace with so much room.
type lot struct {
	folder string
	room   int64
}

func (l lot) Folder(string) (string, error) { return l.folder, nil }
func (l lot) Recount(string)                {}
func (l lot) Room(context.Context, string) (int64, error) {
	left := l.room
	entries, _ := os.ReadDir(l.folder)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			left -= info.Size()
		}
	}
	return left, nil
}

// A folder that is swapped for a link, and a file for another, while both are
// opened again and again: what is read is never what lies outside.
func TestWhatIsSwappedMeanwhileIsNotRead(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(outside, "f"), []byte("SECRET"), 0o600),
		os.Mkdir(filepath.Join(dir, "real"), 0o700),
		os.WriteFile(filepath.Join(dir, "real", "f"), []byte("plain"), 0o600),
		os.WriteFile(filepath.Join(dir, ".env"), []byte("SECRET"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	files := NewFiles(lot{folder: dir, room: 1 << 20})
	stop := make(chan struct{})
	swapped := make(chan struct{})
	go func() {
		defer close(swapped)
		d, f := filepath.Join(dir, "d"), filepath.Join(dir, "link")
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, to := range []string{"real", outside} {
				_ = os.Remove(d)
				_ = os.Symlink(to, d)
			}
			for _, to := range []string{"real/f", ".env"} {
				_ = os.Remove(f)
				_ = os.Symlink(to, f)
			}
		}
	}()
	read := 0
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		for _, name := range []string{"d/f", "link"} {
			file, _, err := files.Open(t.Context(), "s1", name)
			if err != nil {
				continue
			}
			data, _ := io.ReadAll(file)
			_ = file.Close()
			if read++; string(data) != "plain" {
				t.Fatalf("%s holds %q", name, data)
			}
			if err := files.Put(t.Context(), "ann", "s1", "d/new", strings.NewReader("new"), 3); err == nil {
				_ = os.Remove(filepath.Join(dir, "real", "new"))
			}
		}
	}
	close(stop)
	<-swapped
	if read == 0 {
		t.Error("nothing was read")
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 1 {
		t.Errorf("the folder outside holds %v", entries)
	}
}

// Room that goes away while an upload comes is noticed before it takes its place.
func TestUploadsAtOnceStayWithinTheRoom(t *testing.T) {
	dir := t.TempDir()
	files := NewFiles(lot{folder: dir, room: 100})
	first, second := io.Pipe()
	done := make(chan error)
	go func() {
		_, err := files.Add(context.Background(), "ann", "s1", "", "slow", first, -1)
		done <- err
	}()
	_, _ = second.Write([]byte(strings.Repeat("s", 60)))
	if _, err := files.Add(t.Context(), "ann", "s1", "", "quick", strings.NewReader(strings.Repeat("q", 40)), 40); err != nil {
		t.Fatal(err)
	}
	_, _ = second.Write([]byte(strings.Repeat("s", 10)))
	_ = second.Close()
	if err := <-done; !errors.Is(err, models.ErrTooLarge) {
		t.Errorf("the slow upload: %v", err)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 1 || entries[0].Name() != "quick" {
		t.Errorf("the workspace holds %v", entries)
	}
}

// slow is a storage in which counting what ann has takes until it is told to end.
type slow struct {
	lot
	counting, end chan struct{}
}

func (s slow) Room(ctx context.Context, owner string) (int64, error) {
	if owner == "ann" {
		s.counting <- struct{}{}
		<-s.end
	}
	return s.lot.Room(ctx, owner)
}

// An owner with many files keeps nobody else from storing one.
func TestAnUploadWaitsForNoOtherOwner(t *testing.T) {
	storage := slow{lot{folder: t.TempDir(), room: 1 << 20}, make(chan struct{}), make(chan struct{})}
	files := NewFiles(storage)
	put := func(owner string) error {
		_, err := files.Add(t.Context(), owner, "s", "", owner+".txt", strings.NewReader("x"), 1)
		return err
	}
	stored := make(chan error, 1)
	go func() { stored <- put("ann") }()
	<-storage.counting // before it comes
	storage.end <- struct{}{}
	<-storage.counting // as it takes its place
	if err := put("bob"); err != nil {
		t.Error(err)
	}
	storage.end <- struct{}{}
	if err := <-stored; err != nil {
		t.Error(err)
	}
}
