package main_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // to look at the database beside the program
)

// traces counts in how many files of the data folder a text stands.
func (s *server) traces(text string) (files []string) {
	s.t.Helper()
	err := filepath.WalkDir(s.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil // a file that went away meanwhile holds nothing
		}
		if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(text)) {
			files = append(files, filepath.Base(path))
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return files
}

func (s *server) databaseSize() int64 {
	var size int64
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(filepath.Join(s.dir, "offcut.db"+suffix)); err == nil {
			size += info.Size()
		}
	}
	return size
}

// workspace is the folder of a session's files.
func (s *server) workspace(session string) string {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(s.dir, "workspaces", "*", session))
	if err != nil || len(found) != 1 {
		s.t.Fatalf("the workspace of %s: %v, %v", session, found, err)
	}
	return found[0]
}

// database opens the program's database beside it.
func (s *server) database() *sql.DB {
	s.t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(s.dir, "offcut.db")+"?_busy_timeout=5000")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestADeletedSessionLeavesNothing(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	const mark = "unmistakable-7f3c2e1"
	command := "echo " + mark + "-file > secret.txt; for i in $(seq 1 200000); do echo " + mark + " $i; done"
	p.on("print and write", runs(command), says("I saw "+mark+"."))
	session := s.ask("print and write")
	id, workspace := s.output(session).ID, s.workspace(session)
	big := s.databaseSize()
	if len(s.traces(mark)) == 0 {
		t.Fatal("nothing was stored")
	}

	s.must(http.MethodDelete, "/sessions/"+session, nil, nil)
	for _, path := range []string{"", "/messages", "/outputs", "/outputs/" + id, "/outputs/" + id + "/raw"} {
		if status, _, _ := s.raw(adminToken, http.MethodGet, "/api/v1/sessions/"+session+path, nil); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
	s.waitFor("the bytes leave the data folder", func() bool { return len(s.traces(mark)) == 0 })
	s.waitFor("the database shrinks", func() bool { return s.databaseSize() < big-3<<20 })
	for _, table := range []string{"messages", "turns", "calls", "outputs", "pieces", "output_reads"} {
		var rows int
		if err := s.database().QueryRow("SELECT count(*) FROM " + table).Scan(&rows); err != nil || rows != 0 {
			t.Errorf("%s has %d rows (%v)", table, rows, err)
		}
	}
	s.waitFor("the workspace is gone", func() bool {
		_, err := os.Stat(workspace)
		return os.IsNotExist(err)
	})
}

func TestASessionIsDeletedWhileItsCommandRuns(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	const mark = "unmistakable-b90d4417"
	p.on("run for long", runs("while :; do echo "+mark+"; sleep 0.01; done"), says("Never."))
	session := s.newSession()
	s.send(session, "run for long")
	s.waitFor("its output is kept", func() bool { return len(s.traces(mark)) > 0 && len(s.outputs(session)) == 1 })
	began := time.Now()
	s.must(http.MethodDelete, "/sessions/"+session, nil, nil)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	s.waitFor("the bytes leave the data folder", func() bool { return len(s.traces(mark)) == 0 })
	s.waitFor("the command ends", func() bool { return len(processesWith(mark)) == 0 })
}

// processesWith are the processes whose command line holds a text.
func processesWith(text string) (found []string) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(text)) {
			found = append(found, filepath.Base(filepath.Dir(path)))
		}
	}
	return found
}

func TestALockedDatabaseDoesNotEndATurn(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("while it is locked", runs("seq 1 200000; sleep 1"), says("Done all the same."))
	session := s.newSession()
	turn := s.send(session, "while it is locked")
	s.waitFor("the command runs", func() bool { return len(p.sent("while it is locked")) == 1 })
	lock, err := s.database().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(7 * time.Second) // longer than a write waits
	if _, err := lock.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if turn := s.settled(turn); turn.State != "done" {
		t.Fatalf("%+v", turn)
	}
	meta, body := p.lastSent(t, "while it is locked").results()[0].result(t)
	if !strings.HasPrefix(body, "1\n2\n3\n") || meta["retention"] != "failed" && meta["retention"] != "kept" {
		t.Errorf("%v %.100q", meta, body)
	}
}

func TestADeletedOutputLeavesItsRowAndNoBytes(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("keep it for now", runs("for i in $(seq 1 50000); do echo bytes-to-go $i; done"), says("Kept."))
	session := s.ask("keep it for now")
	id := s.output(session).ID
	s.must(http.MethodDelete, "/sessions/"+session+"/outputs/"+id, nil, nil)
	if len(s.outputs(session)) != 0 {
		t.Error("it is in the list")
	}
	status, _, data := s.raw(adminToken, http.MethodGet, "/api/v1/sessions/"+session+"/outputs/"+id, nil)
	if status != http.StatusNotFound || !strings.Contains(string(data), "deleted") {
		t.Errorf("%d %s", status, data)
	}
	s.waitFor("the bytes leave the data folder", func() bool {
		middle := s.traces("bytes-to-go 25000") // the preview in the transcript stays
		return len(middle) == 0
	})
}

func TestFilesAreForTheOwnerOnly(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("write a file", runs("echo private > f; seq 1 20000"), says("Written."))
	s.ask("write a file")
	for _, name := range []string{"offcut.db", "offcut.db-wal"} {
		info, err := os.Stat(filepath.Join(s.dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	info, err := os.Stat(s.dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the data folder: %v %v", info, err)
	}
}

func TestACopyThatCannotBeStored(t *testing.T) {
	t.Run("because the owner's storage is full", func(t *testing.T) {
		p := newProvider(t)
		file := filepath.Join(t.TempDir(), "offcut.yaml")
		if err := os.WriteFile(file, []byte("limits:\n  storagePerUserBytes: 1048576\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s := start(t, p, "OFFCUT_CONFIG="+file)
		checkFailedSave(t, s, p)
	})

	t.Run("because the database refuses", func(t *testing.T) {
		p := newProvider(t)
		s := start(t, p)
		if _, err := s.database().Exec(`CREATE TRIGGER full BEFORE INSERT ON pieces BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END`); err != nil {
			t.Fatal(err)
		}
		checkFailedSave(t, s, p)
	})

	t.Run("because the database refuses from the middle of the command on", func(t *testing.T) {
		p := newProvider(t)
		s := start(t, p)
		p.on("print twice", runs("seq 1 200000; while [ ! -e full ]; do sleep 0.1; done; seq 1 200000"), says("Done all the same."))
		session := s.newSession()
		turn := s.send(session, "print twice")
		s.waitFor("the running copy is stored", func() bool {
			outputs := s.outputs(session)
			return len(outputs) == 1 && outputs[0].TotalBytes > 0
		})
		if _, err := s.database().Exec(`CREATE TRIGGER full BEFORE INSERT ON pieces BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END`); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.workspace(session), "full"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if turn := s.settled(turn); turn.State != "done" {
			t.Fatalf("%+v", turn)
		}
		meta, body := p.lastSent(t, "print twice").results()[0].result(t)
		if meta["retention"] != "failed" || meta["output_id"] != nil || !strings.HasPrefix(body, "1\n2\n3\n") || !strings.HasSuffix(body, "200000\n") {
			t.Errorf("%v %.100q", meta, body)
		}
		if left := s.outputs(session); len(left) != 0 {
			t.Errorf("half a copy is left: %+v", left)
		}
	})
}

func TestAFileThatTheOwnersStorageHasNoRoomFor(t *testing.T) {
	p := newProvider(t)
	file := filepath.Join(t.TempDir(), "offcut.yaml")
	if err := os.WriteFile(file, []byte("limits:\n  storagePerUserBytes: 3000000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, p, "OFFCUT_CONFIG="+file)
	p.on("write much", calls(call("write_file", args{"path": "much", "content": strings.Repeat("x", 2_000_000)})), says("It is not there."))
	session := s.newSession()
	if turn := s.say(session, "write much"); turn.State != "done" {
		t.Fatalf("%+v", turn)
	}
	meta, body := p.lastSent(t, "write much").results()[0].result(t)
	said := regexp.MustCompile(`the storage of this user has room for (\d+) bytes more, and it takes 2000000`).FindStringSubmatch(body)
	if meta["is_error"] != true || said == nil {
		t.Fatalf("%v: %s", meta, body)
	}
	// The call itself is stored, with the text in it.
	if room, err := strconv.Atoi(said[1]); err != nil || room < 990_000 || room > 1_000_000 {
		t.Errorf("there is room for %s bytes", said[1])
	}
	if found, err := filepath.Glob(filepath.Join(s.dir, "workspaces", "*", "*", "*")); err != nil || len(found) > 0 {
		t.Errorf("the workspace holds %v, %v", found, err)
	}
}

func checkFailedSave(t *testing.T, s *server, p *provider) {
	t.Helper()
	p.on("print too much", runs("seq 1 400000"), says("I know only the preview."))
	session := s.newSession()
	if turn := s.say(session, "print too much"); turn.State != "done" {
		t.Fatalf("%+v", turn)
	}
	meta, body := p.lastSent(t, "print too much").results()[0].result(t)
	if meta["retention"] != "failed" || meta["retention_error"] == nil || meta["truncated"] != true || meta["is_error"] != false {
		t.Errorf("metadata %v", meta)
	}
	if !strings.HasPrefix(body, "1\n2\n3\n") || !strings.Contains(body, "400000\n") || len(body) < 20000 {
		t.Errorf("the preview has %d bytes: %.100q", len(body), body)
	}
	if !strings.Contains(strings.ToLower(body+fmt.Sprint(meta)), "recover") {
		t.Error("the model is not told that recovery is unavailable")
	}
	if strings.Contains(fmt.Sprint(meta), s.dir) {
		t.Errorf("metadata show a path: %v", meta)
	}
}

func TestAKillInMidCommandKeepsWhatWasPrinted(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("print and sleep", runs("for i in $(seq 1 3000); do echo line $i; done; sleep 60"), says("Never."))
	p.on("after the crash", says("Going on."))
	session := s.newSession()
	turn := s.send(session, "print and sleep")
	queued := s.send(session, "after the crash")
	s.waitFor("the running copy is stored", func() bool {
		outputs := s.outputs(session)
		return len(outputs) == 1 && outputs[0].Running && outputs[0].TotalBytes > 0
	})
	time.Sleep(1500 * time.Millisecond)
	s.kill()
	s.launch()

	if interrupted := s.turn(turn, ""); interrupted.State != "interrupted" || interrupted.Error == "" {
		t.Errorf("%+v", interrupted)
	}
	output := s.output(session)
	if output.Running || output.Complete {
		t.Errorf("%+v", output)
	}
	var want strings.Builder
	for i := 1; i <= 3000; i++ {
		fmt.Fprintf(&want, "line %d\n", i)
	}
	if text := s.copyOf(session, output.ID); text != want.String() {
		t.Errorf("the copy has %d bytes, printed were %d", len(text), want.Len())
	}
	if turn := s.settled(queued); turn.State != "done" {
		t.Errorf("the queued message: %+v", turn)
	}
	request := p.lastSent(t, "after the crash")
	wellFormed(t, request)
	if results := request.results(); len(results) != 1 || !strings.Contains(results[0].Content, "unknown") && !strings.Contains(results[0].Content, "interrupted") {
		t.Errorf("the model is told %v", results)
	}
}

func TestAKillInMidAnswerKeepsTheText(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("count to fifty", reply{text: strings.SplitAfter("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20", " "), hold: make(chan struct{})})
	session := s.newSession()
	turn := s.send(session, "count to fifty")
	s.waitFor("the text is stored", func() bool {
		all := s.messages(session, false)
		return strings.HasSuffix(all[len(all)-1].Content, "20")
	})
	s.kill()
	s.launch()
	all := s.messages(session, false)
	if last := all[len(all)-1]; last.State != "interrupted" || !strings.HasSuffix(last.Content, "19 20") {
		t.Errorf("%+v", last)
	}
	if turn := s.turn(turn, ""); turn.State != "interrupted" {
		t.Errorf("%+v", turn)
	}
}

// residentBytes is what the process holds in memory.
func (s *server) residentBytes() int64 {
	s.t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return kib << 10
}

func TestMemoryStaysFlatWhileACommandPrintsAGigabyte(t *testing.T) {
	const printed, most = 1 << 30, 200 << 20
	p := newProvider(t)
	s := start(t, p)
	p.on("print a gigabyte", runs(fmt.Sprintf("yes 'a line of some length that goes on for a while' | head -c %d", printed)), says("Printed."))
	idle, peak := s.residentBytes(), int64(0)
	session := s.newSession()
	turn := s.send(session, "print a gigabyte")
	ended := s.turn(turn, "")
	for ; ended.State == "queued" || ended.State == "running"; ended = s.turn(turn, "") {
		peak = max(peak, s.residentBytes())
		time.Sleep(20 * time.Millisecond)
	}
	if ended.State != "done" {
		t.Fatalf("%+v", ended)
	}
	if peak-idle > most {
		t.Errorf("from %d to %d MiB", idle>>20, peak>>20)
	}
	meta, _ := p.lastSent(t, "print a gigabyte").results()[0].result(t)
	if meta["captured_bytes"] != float64(printed) {
		t.Errorf("captured_bytes %v", meta["captured_bytes"])
	}
	t.Logf("idle %d MiB, at most %d MiB", idle>>20, peak>>20)
}

func TestOneOutputIsStoredOnce(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	before := s.databaseSize()
	p.on("five megabytes", runs("seq 1 100000000 | head -c 5000000"), says("Printed."))
	session := s.ask("five megabytes")
	s.output(session)
	s.terminate() // the log is written back
	if grown := s.databaseSize() - before; grown > 8_000_000 {
		t.Errorf("the database grew by %d bytes", grown)
	}
	s.launch()
	if _, _, data := s.raw(adminToken, http.MethodGet, "/api/v1/sessions/"+session+"/messages", nil); len(data) > 100_000 {
		t.Errorf("the transcript has %d bytes", len(data))
	}
}

func TestWhatACommandWroteCountsAtOnce(t *testing.T) {
	p := newProvider(t)
	s := start(t, p, withSettings(t, "limits:\n  storagePerUserBytes: 3000000\n"))
	p.on("fill and print", runs("head -c 2500000 /dev/zero > big.txt"), runs("seq 1 200000"), says("Done."))
	s.ask("fill and print")
	results := p.lastSent(t, "fill and print").results()
	if meta, _ := results[1].result(t); meta["retention"] != "failed" {
		t.Errorf("a copy was kept that the storage has no room for: %v", meta)
	}
}
