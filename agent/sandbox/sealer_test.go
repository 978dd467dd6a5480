package sandbox

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestOnlyWhatTheMachineForbidsIsARefusal(t *testing.T) {
	for errno, want := range map[syscall.Errno]bool{
		unix.EPERM: true, unix.ENOSPC: true, unix.EINVAL: true, unix.ENOSYS: true,
		unix.EMFILE: false, unix.ENFILE: false, unix.ENOMEM: false, unix.EAGAIN: false,
	} {
		if got := Refuses(&os.PathError{Op: "fork/exec", Path: "/proc/self/exe", Err: errno}); got != want {
			t.Errorf("%v is a refusal: %v", errno, got)
		}
	}
}

func TestAMachineThatRefusesNamespacesIsAskedAgainAfterAWhile(t *testing.T) {
	var s Sealer
	var asked []bool
	refuses, broken := true, false
	start := func() bool {
		asked = nil
		confined, err := s.Start("a test", func(namespaces bool) (open, err error) {
			asked = append(asked, namespaces)
			switch {
			case broken:
				return nil, unix.EMFILE
			case namespaces && refuses:
				return unix.EPERM, nil
			}
			return nil, nil
		})
		if broken != errors.Is(err, unix.EMFILE) {
			t.Errorf("the error is %v", err)
		}
		return confined
	}
	if start() || len(asked) != 2 {
		t.Errorf("refused at first: asked %v", asked)
	}
	if start() || len(asked) != 1 || asked[0] {
		t.Errorf("soon after that: asked %v", asked)
	}
	refuses, s.until = false, time.Now()
	if !start() || len(asked) != 1 || !asked[0] {
		t.Errorf("after a while: asked %v", asked)
	}
	broken = true
	if start() || len(asked) != 1 || s.refused() {
		t.Errorf("what failed for another reason is no refusal: asked %v", asked)
	}
}

func TestWhatCannotBeSealedDoesNotStart(t *testing.T) {
	var s Sealer
	if _, err := s.Start("a test", func(bool) (open, err error) { return unix.EACCES, nil }); !errors.Is(err, unix.EACCES) || s.refused() {
		t.Errorf("%v; noted: %v", err, s.refused())
	}
}
