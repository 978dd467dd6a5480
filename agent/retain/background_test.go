package retain

import (
	"context"
	"strings"
	"testing"

	"offcut/models"
)

// background is a recording of a command that goes on after its call.
func background(t *testing.T, store Store) *Recording {
	t.Helper()
	r := NewKeeper(store, Config{}).Record(t.Context(), testCall("run_command"), "test")
	if err := r.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func prints(t *testing.T, r *Recording, text string) {
	t.Helper()
	if _, err := r.Stdout().Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

func TestTheCopyOfABackgroundCommandStaysHoweverLittleItPrinted(t *testing.T) {
	for _, printed := range []string{"", "a word\n"} {
		store := newMemory()
		r := background(t, store)
		soon := r.Soon("reads as %s", nil, models.ResultMetadata{})
		if m := soon.Metadata; soon.Content != "reads as "+r.OutputID() || m.OutputID != r.OutputID() || *m.Complete || *m.TotalBytes != 0 || m.Retention != models.RetentionKept {
			t.Errorf("the result is %q, %s", soon.Content, m.Line())
		}
		if o := store.outputs[r.OutputID()].row; !o.Running || !o.Background || o.BackgroundState() != models.BackgroundRunning {
			t.Errorf("the row while it runs is %+v", o)
		}
		prints(t, r, printed)
		how := models.CommandEnd{State: models.StateDone, ExitCode: models.Ptr(3)}
		if err := r.End(t.Context(), Exited, how); err != nil {
			t.Fatal(err)
		}
		o := store.outputs[r.OutputID()].row
		if o.Running || !o.Complete || o.TotalBytes != int64(len(printed)) || *o.End.ExitCode != 3 || o.BackgroundState() != models.BackgroundEnded {
			t.Errorf("the row at the end is %+v", o)
		}
		if text := pages(t, store, o.ID, MaxPageBytes); text != printed {
			t.Errorf("the copy is %q", text)
		}
	}
}

// Of a copy that grows only the head stays where it is: nothing else of it is
// said to have been shown.
func TestWhatAMovedCommandShowedStandsWhereItSays(t *testing.T) {
	store := newMemory()
	r := background(t, store)
	flood := strings.Repeat("0123456789abcdef\n", 9<<20/17)
	prints(t, r, flood)
	if err := r.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	result := r.SoFar("(reads as %s)", nil, models.ResultMetadata{})
	m := result.Metadata
	if !m.Truncated || *m.Complete || len(m.Shown) == 0 || *m.CapturedBytes != int64(len(flood)) || !strings.HasSuffix(result.Content, "(reads as "+r.OutputID()+")") {
		t.Fatalf("the result is %s, %q", m.Line(), result.Content[max(0, len(result.Content)-200):])
	}
	prints(t, r, strings.Repeat("later\n", 2<<20))
	if err := r.End(t.Context(), Stopped, models.CommandEnd{State: models.StateStopped}); err != nil {
		t.Fatal(err)
	}
	o := store.outputs[r.OutputID()].row
	if o.Complete || o.OmittedBytes == 0 || o.TotalBytes > MaxOutputBytes || o.BackgroundState() != models.BackgroundStopped {
		t.Errorf("the row at the end is %+v", o)
	}
	text := pages(t, store, o.ID, MaxPageBytes)
	for _, shown := range m.Shown {
		if !strings.Contains(result.Content, text[shown.Start:shown.End]) {
			t.Errorf("bytes %d to %d of the copy are not in the body", shown.Start, shown.End)
		}
	}
}

// full is a store with no room for more than it has.
type full struct{ *memory }

func (f full) WriteOutput(ctx context.Context, o models.RetainedOutput, w models.OutputWrite) error {
	f.mu.Lock()
	freed := len(f.outputs[o.ID].streams[models.StreamSpill])
	f.mu.Unlock()
	if len(w.Text)+len(w.Raw)+len(w.Spill) > freed {
		return models.ErrTooLarge
	}
	return f.memory.WriteOutput(ctx, o, w)
}

func TestABackgroundCommandGoesOnWhereItsOutputIsNoLongerKept(t *testing.T) {
	store := newMemory()
	r := background(t, store)
	prints(t, r, "kept\n")
	if err := r.save(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.saver.store, r.keeper.store = full{store}, full{store}
	prints(t, r, "and not kept\n")
	if err := r.End(t.Context(), Exited, models.CommandEnd{State: models.StateDone, ExitCode: models.Ptr(0)}); err == nil {
		t.Error("nothing is said of what was not kept")
	}
	o := store.outputs[r.OutputID()].row
	if o.Running || o.Complete || o.OmittedBytes != int64(len("and not kept\n")) || o.End == nil || *o.End.ExitCode != 0 {
		t.Errorf("the row at the end is %+v", o)
	}
	if text := pages(t, store, o.ID, MaxPageBytes); text != "kept\n" {
		t.Errorf("the copy is %q", text)
	}
}

func TestACrashInterruptsABackgroundCommand(t *testing.T) {
	store := newMemory()
	r := background(t, store)
	prints(t, r, "before\n")
	if err := r.save(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := NewKeeper(store, Config{}).Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o := store.outputs[r.OutputID()].row; o.Running || o.Complete || o.BackgroundState() != models.BackgroundInterrupted || o.TotalBytes != 7 {
		t.Errorf("the row after the crash is %+v", o)
	}
}
