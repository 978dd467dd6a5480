package script

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"offcut/agent/agenttest"
	"offcut/agent/sandbox"
)

func TestProgramsAreShutInWhereTheMachineCan(t *testing.T) {
	child, confined, err := begin(program{Code: "await tools.wait({})", Tools: []string{"wait"}, Calls: 1, Memory: DefaultMemory})
	if err != nil {
		t.Fatal(err)
	}
	defer child.close()
	if can := agenttest.MachineSeals(); confined != can {
		t.Fatalf("shut in: %v; the machine can do that: %v", confined, can)
	}
	var call report
	if err := readFrame(child.reports, maxFrame, &call); err != nil || call.Kind != reportCall {
		t.Fatalf("%+v, %v", call, err)
	}
	proc := fmt.Sprintf("/proc/%d/", child.cmd.Process.Pid)
	status, err := os.ReadFile(proc + "status")
	if err != nil || !strings.Contains(string(status), "NoNewPrivs:\t1\n") || !strings.Contains(string(status), "CapEff:\t0000000000000000\n") {
		t.Errorf("its rights: %s, %v", status, err)
	}
	if environ, err := os.ReadFile(proc + "environ"); err == nil && bytes.Contains(environ, []byte("PATH=")) {
		t.Errorf("its environment: %q", environ)
	}
	if !confined {
		return
	}
	for _, kind := range []string{"user", "mnt", "pid", "ipc", "uts", "net"} {
		own, err := os.Readlink("/proc/self/ns/" + kind)
		its, errIts := os.Readlink(proc + "ns/" + kind)
		if err != nil || errIts != nil || own == its {
			t.Errorf("its namespace %s is %q, the server's is %q; %v, %v", kind, its, own, err, errIts)
		}
	}
	if files, err := os.ReadDir(proc + "root"); err != nil || len(files) != 1 || files[0].Name() != "proc" {
		t.Errorf("it has the files %v, %v", files, err)
	}
}

func TestAProgramRunsWhereTheMachineGivesNoNamespaces(t *testing.T) {
	sealer.Note("of a test", syscall.EPERM)
	run := func() End {
		var out bytes.Buffer
		end, err := Run(t.Context(), Program{Code: "return 'ran'", Print: &out})
		if err != nil || end.Error != "" || out.String() != "ran" {
			t.Errorf("%q, %+v, %v", out.String(), end, err)
		}
		return end
	}
	if end := run(); end.Confined || end.Kind != "none" {
		t.Errorf("%+v", end)
	}
	sealer = sandbox.Sealer{}
	if end := run(); end.Confined != agenttest.MachineSeals() {
		t.Errorf("where it is asked again: %+v", end)
	}
}

// openFiles is how many this process has.
func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func TestOneMomentWithoutFilesOpensNoLaterProgram(t *testing.T) {
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	few := before
	few.Cur = uint64(openFiles(t) + 4) // the pipes have room, and what starts a process has none
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	_, err := Run(t.Context(), Program{Code: "return 1", Print: io.Discard})
	if restored := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); restored != nil {
		t.Fatal(restored)
	}
	if !errors.Is(err, unix.EMFILE) {
		t.Errorf("without open files a program begins: %v", err)
	}
	end, err := Run(t.Context(), Program{Code: "return 1", Print: io.Discard})
	if err != nil || end.Confined != agenttest.MachineSeals() {
		t.Errorf("the next program: %+v, %v", end, err)
	}
}

func TestAFrameIsBounded(t *testing.T) {
	var pipe bytes.Buffer
	if err := writeFrame(&pipe, report{Kind: reportPrint, Text: "more than ten bytes"}); err != nil {
		t.Fatal(err)
	}
	var r report
	if err := readFrame(bytes.NewReader(pipe.Bytes()), 10, &r); err == nil {
		t.Error("a frame over the bound is read")
	}
	if err := readFrame(bytes.NewReader(pipe.Bytes()[:pipe.Len()-1]), 1000, &r); err == nil {
		t.Error("half a frame is read")
	}
	if err := readFrame(&pipe, 1000, &r); err != nil || r.Text != "more than ten bytes" {
		t.Errorf("%+v, %v", r, err)
	}
}
