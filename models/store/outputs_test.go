package store

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"offcut/models"

	"github.com/alexedwards/scs/v2"
)

var _ scs.CtxStore = (*WebSessionStore)(nil)

func TestAnOutputIsReadAsItWasWritten(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	o := models.RetainedOutput{
		ID: "o", SessionID: "s", TurnID: "t", CallID: "c", Tool: "run_command", Title: "make all", Running: true, CreatedAt: start,
	}
	must(t, s.CreateOutput(t.Context(), o))
	if read := got(s.Output(t.Context(), "s", "o"))(t); !reflect.DeepEqual(read, o) {
		t.Errorf("created %+v\nread    %+v", o, read)
	}
	o.Title, o.Running, o.Complete, o.Binary, o.SHA256 = "make", false, true, true, "5e"
	o.TotalBytes, o.CapturedBytes, o.OmittedBytes, o.ReplacedBytes, o.RawBytes = 1, 2, 3, 4, 5
	o.Gaps = []models.Gap{{At: 1, MarkerBytes: 2, Omitted: 3, Stream: "stdout"}, {At: 9}}
	o.EndedAt = models.Ptr(later(9))
	must(t, s.WriteOutput(t.Context(), o, models.OutputWrite{}))
	for range 2 { // from the database, and from the cache
		if read := got(s.Output(t.Context(), "s", "o"))(t); !reflect.DeepEqual(read, o) {
			t.Errorf("wrote %+v\nread  %+v", o, read)
		}
	}
	wantKind(t, s.CreateOutput(t.Context(), models.RetainedOutput{ID: "x", SessionID: "never"}), models.ErrNotFound, "session_not_found")
}

// randomText is n bytes with every value among them.
func randomText(n int) []byte {
	source := rand.NewChaCha8([32]byte{1})
	text := make([]byte, n)
	_, _ = source.Read(text)
	return text
}

func TestWhatIsWrittenInAnySizesIsReadAtAnyOffset(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	o := models.RetainedOutput{ID: "o", SessionID: "s", Running: true, CreatedAt: start}
	must(t, s.CreateOutput(ctx, o))
	source := rand.New(rand.NewPCG(1, 2))
	text := randomText(5*PieceBytes + 77)
	for left := text; len(left) > 0; {
		size := min(len(left), []int{1, 100, PieceBytes - 101, PieceBytes, PieceBytes + 1, 2 * PieceBytes}[source.IntN(6)])
		must(t, s.WriteOutput(ctx, o, models.OutputWrite{Text: left[:size], Raw: left[:size/2]}))
		left = left[size:]
	}

	for _, running := range []bool{true, false} {
		if !running {
			o.Running = false
			must(t, s.WriteOutput(ctx, o, models.OutputWrite{}))
		}
		for _, at := range []int{0, 1, PieceBytes - 1, PieceBytes, PieceBytes + 1, 3*PieceBytes - 2000, len(text) - 1, len(text), len(text) + 1, 1 << 40} {
			for _, n := range []int{0, 1, 4096, PieceBytes, 2*PieceBytes + 1, 1 << 20} {
				want := text[min(at, len(text)):min(at+n, len(text))]
				read := got(s.ReadOutput(ctx, "s", "o", models.StreamText, int64(at), n))(t)
				if !bytes.Equal(read, want) {
					t.Errorf("running %v: %d bytes at %d are not those written", running, n, at)
				}
			}
		}
	}
	_, err := s.ReadOutput(ctx, "s", "o", models.StreamText, -1, 9)
	if err == nil {
		t.Error("a negative offset was read")
	}
	_, err = s.ReadOutput(ctx, "s", "o", "stderr", 0, 9)
	if err == nil {
		t.Error("a stream that is not stored was read")
	}
}

func TestTheSpillIsReplacedAndDropped(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	o := models.RetainedOutput{ID: "o", SessionID: "s", Running: true, CreatedAt: start}
	must(t, s.CreateOutput(ctx, o))
	big := randomText(3 * PieceBytes)
	for _, test := range []struct {
		write models.OutputWrite
		want  []byte
	}{
		{models.OutputWrite{Spill: big, SetSpill: true}, big},
		{models.OutputWrite{Spill: []byte("ignored")}, big},
		{models.OutputWrite{Spill: big[:100], SetSpill: true}, big[:100]},
		{models.OutputWrite{SetSpill: true}, nil},
	} {
		must(t, s.WriteOutput(ctx, o, test.write))
		if read := got(s.ReadOutput(ctx, "s", "o", models.StreamSpill, 0, 1<<20))(t); !bytes.Equal(read, test.want) {
			t.Errorf("the spill has %d bytes, want %d", len(read), len(test.want))
		}
		if used := got(s.StorageUsed(ctx, "ann"))(t); used != int64(len(test.want)) {
			t.Errorf("%d bytes are counted, want %d", used, len(test.want))
		}
	}
}

func TestOutputsAreListedOldestFirstWithWhatTheModelWasShown(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	addSession(t, s, "ann", "other", start)
	turn := run(t, s, "s", "go", start)
	foreign := run(t, s, "other", "go", start)
	for _, id := range []string{"z", "y", "x", "w"} {
		keep(t, s, "s", id, []byte("text"))
	}
	must(t, s.DeleteOutput(ctx, "s", "y", start))
	read := func(output string, turn models.Turn, from, to int64) models.OutputRead {
		return models.OutputRead{OutputID: output, TurnID: turn.ID, CallID: "c", Kind: models.ReadPage, Range: models.Range{Start: from, End: to}, At: later(2)}
	}
	shown := []models.OutputRead{read("z", turn, 10, 20), read("z", turn, 0, 10), read("x", turn, 5, 6), read("w", foreign, 0, 4), read("gone", turn, 0, 4)}
	shows(t, s, turn, shown[:1]...)
	shows(t, s, turn, shown[1:]...)

	var list []string
	coverage := map[string][]models.Range{}
	for _, o := range all(t, 2, func(ctx context.Context, p models.Page) ([]models.RetainedOutput, string, error) {
		return s.Outputs(ctx, "s", p)
	}) {
		list = append(list, o.ID)
		coverage[o.ID] = o.Coverage
	}
	if want := []string{"z", "x", "w"}; !slices.Equal(list, want) {
		t.Errorf("listed %v, want %v", list, want)
	}
	want := map[string][]models.Range{"z": {{Start: 0, End: 20}}, "x": {{Start: 5, End: 6}}, "w": nil}
	if !reflect.DeepEqual(coverage, want) {
		t.Errorf("coverage is %v, want %v", coverage, want)
	}
	if one := got(s.Coverage(ctx, "s", "z"))(t); !slices.Equal(one, want["z"]) {
		t.Errorf("coverage of one is %v", one)
	}
	if o := got(s.OutputByCall(ctx, "s", "call_x"))(t); o.ID != "x" || !slices.Equal(o.Coverage, want["x"]) {
		t.Errorf("the output of the call is %+v", o)
	}
}

func TestADeletedOutputSaysWhenItWasDeleted(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	o := keep(t, s, "s", "o", randomText(2*PieceBytes))
	got(s.ReadOutput(ctx, "s", "o", models.StreamText, 0, 10))(t) // into the cache
	must(t, s.DeleteOutput(ctx, "s", "o", later(60)))

	for name, err := range map[string]error{
		"reading its row":   func() error { _, err := s.Output(ctx, "s", "o"); return err }(),
		"reading its bytes": func() error { _, err := s.ReadOutput(ctx, "s", "o", models.StreamText, 0, 10); return err }(),
		"by its call":       func() error { _, err := s.OutputByCall(ctx, "s", "call_o"); return err }(),
		"its reads":         func() error { _, err := s.Reads(ctx, "s", "o", 9); return err }(),
		"its coverage":      func() error { _, err := s.Coverage(ctx, "s", "o"); return err }(),
		"writing on":        s.WriteOutput(ctx, o, models.OutputWrite{Text: []byte("x")}),
		"deleting again":    s.DeleteOutput(ctx, "s", "o", later(61)),
	} {
		t.Run(name, func(t *testing.T) {
			wantKind(t, err, models.ErrNotFound, "output_deleted")
			var told *models.Error
			errors.As(err, &told)
			if !strings.Contains(told.Message, "1 March 2026 at 09:31 UTC") || told.Details["deleted_at"] != later(60) {
				t.Errorf("it says %q, %v", told.Message, told.Details)
			}
		})
	}
	if used := got(s.StorageUsed(ctx, "ann"))(t); used != 0 {
		t.Errorf("%d bytes are still counted", used)
	}
}

func TestBytesAppendedToAnEndedOutputAreRead(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	o := keep(t, s, "s", "o", []byte("one"))
	got(s.ReadOutput(t.Context(), "s", "o", models.StreamText, 0, 10))(t)
	for range cachedOutputs { // the row leaves the cache, its piece stays
		id := models.NewID(models.PrefixOutput)
		keep(t, s, "s", id, nil)
		got(s.Output(t.Context(), "s", id))(t)
	}
	must(t, s.WriteOutput(t.Context(), o, models.OutputWrite{Text: []byte(" two")}))
	if read := got(s.ReadOutput(t.Context(), "s", "o", models.StreamText, 0, 10))(t); string(read) != "one two" {
		t.Errorf("read %q", read)
	}
}

func TestADroppedOutputLeavesNoTrace(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	keep(t, s, "s", "o", randomText(PieceBytes+1))
	must(t, s.DropOutput(t.Context(), "s", "o"))
	_, err := s.Output(t.Context(), "s", "o")
	wantKind(t, err, models.ErrNotFound, "output_not_found")
	must(t, s.Compact(t.Context()))
	var pieces int64
	must(t, s.readers.Table("pieces").Count(&pieces).Error)
	if pieces != 0 {
		t.Errorf("%d pieces stayed", pieces)
	}
}

func TestRunningOutputsAreFoundAfterAKill(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	addUsers(t, s)
	addSession(t, s, "ann", "s", start)
	keepRunning(t, s, run(t, s, "s", "go", start), "c", "head")
	keep(t, s, "s", "ended", []byte("x"))
	copied := copyFiles(t, dir) // as a kill leaves them: nothing was closed

	again := open(t, copied, Options{})
	outputs := got(again.RunningOutputs(t.Context()))(t)
	if len(outputs) != 1 || outputs[0].ID != "out_c" || outputs[0].TotalBytes != 4 {
		t.Fatalf("running are %+v", outputs)
	}
	for stream, want := range map[models.OutputStream]string{models.StreamText: "head", models.StreamSpill: "tail"} {
		if read := got(again.ReadOutput(t.Context(), "s", "out_c", stream, 0, 100))(t); string(read) != want {
			t.Errorf("%s is %q, want %q", stream, read, want)
		}
	}
}

func TestQuota(t *testing.T) {
	workspaces := int64(0)
	s := open(t, t.TempDir(), Options{QuotaBytes: 1000, WorkspaceBytes: func(owner string) int64 {
		if owner != "ann" {
			return 0
		}
		return workspaces
	}})
	ctx := t.Context()
	addUsers(t, s)
	addSession(t, s, "ann", "s", start)
	addSession(t, s, "bob", "bobs", start)
	o := keep(t, s, "s", "o", make([]byte, 900))

	wantKind(t, s.WriteOutput(ctx, o, models.OutputWrite{Text: make([]byte, 101)}), models.ErrTooLarge, "storage_quota")
	if read := got(s.ReadOutput(ctx, "s", "o", models.StreamText, 0, 2000))(t); len(read) != 900 {
		t.Errorf("%d bytes are stored", len(read))
	}
	must(t, s.WriteOutput(ctx, o, models.OutputWrite{Text: make([]byte, 50), Spill: make([]byte, 50), SetSpill: true}))
	wantKind(t, s.CreateOutput(ctx, models.RetainedOutput{ID: "o2", SessionID: "s"}), models.ErrTooLarge, "storage_quota")
	must(t, s.WriteOutput(ctx, o, models.OutputWrite{Text: make([]byte, 20), SetSpill: true})) // it shrinks
	workspaces = 30
	wantKind(t, s.WriteOutput(ctx, o, models.OutputWrite{Text: make([]byte, 1)}), models.ErrTooLarge, "storage_quota")
	must(t, s.WriteOutput(ctx, o, models.OutputWrite{}))
	if used := got(s.StorageUsed(ctx, "ann"))(t); used != 1000 {
		t.Errorf("%d bytes are used", used)
	}
	keep(t, s, "bobs", "b", make([]byte, 1000))
	must(t, s.DeleteSession(ctx, "s"))
	if used := got(s.StorageUsed(ctx, "ann"))(t); used != 30 {
		t.Errorf("%d bytes are used after the deletion", used)
	}
}

// A page is never of an output that is already deleted, however readers and
// the deletion meet.
func TestTheCacheForgetsWhileOthersRead(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	text := randomText(3 * PieceBytes)
	for range 10 {
		keep(t, s, "s", "o", text)
		var group sync.WaitGroup
		for worker := range 4 {
			group.Go(func() {
				for at := worker; at < len(text); at += 50_000 {
					read, err := s.ReadOutput(context.Background(), "s", "o", models.StreamText, int64(at), 4096)
					if err == nil && !bytes.Equal(read, text[at:min(at+4096, len(text))]) && len(read) > 0 {
						t.Error("a page is of other bytes")
					}
				}
			})
		}
		must(t, s.DropOutput(t.Context(), "s", "o"))
		_, err := s.ReadOutput(t.Context(), "s", "o", models.StreamText, 0, 10)
		wantKind(t, err, models.ErrNotFound, "output_not_found")
		group.Wait()
		_, err = s.ReadOutput(t.Context(), "s", "o", models.StreamText, 0, 10)
		wantKind(t, err, models.ErrNotFound, "output_not_found")
	}
}
