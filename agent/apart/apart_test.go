package apart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"offcut/agent/agenttest"
	"offcut/agent/sandbox"
	"offcut/models"
)

// patient is how long work may take on a machine that does much else.
const patient = 2 * time.Minute

// The jobs of the tests, which the child knows too.
var (
	upper = NewJob("upper", func(in io.Reader, out io.Writer) error {
		text, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		_, err = out.Write(bytes.ToUpper(text))
		return err
	})
	fails  = NewJob("fails", func(io.Reader, io.Writer) error { panic("a fault") })
	refuse = NewJob("refuse", func(io.Reader, io.Writer) error { return errors.New("line 3 is bad") })
	hang   = NewJob("hang", func(io.Reader, io.Writer) error {
		for {
			sink++
		}
	})
	idle  = NewJob("idle", func(io.Reader, io.Writer) error { time.Sleep(time.Hour); return nil })
	hoard = NewJob("hoard", func(io.Reader, io.Writer) error {
		for {
			hoarded = append(hoarded, bytes.Repeat([]byte{1}, 1<<20))
		}
	})
	dig   = NewJob("dig", func(_ io.Reader, out io.Writer) error { _, err := fmt.Fprint(out, depth(1)); return err })
	flood = NewJob("flood", func(_ io.Reader, out io.Writer) error {
		for {
			if _, err := out.Write(make([]byte, 1<<16)); err != nil {
				return err
			}
		}
	})
	reach = NewJob("reach", func(in io.Reader, out io.Writer) error {
		address, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		if names, err := os.ReadDir("/etc"); err == nil {
			_, _ = fmt.Fprintf(out, "%d files of the machine. ", len(names))
		}
		if conn, err := net.DialTimeout("tcp", string(address), time.Second); err == nil {
			_ = conn.Close()
			_, _ = fmt.Fprint(out, "A port of the machine. ")
		}
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", os.Getppid())); os.Getppid() != 0 && err == nil {
			_, _ = fmt.Fprint(out, "Its parent. ")
		}
		return nil
	})
	look = NewJob("look", func(_ io.Reader, out io.Writer) error {
		_, err := fmt.Fprint(out, strings.Join(os.Environ(), " "))
		return err
	})
)

func depth(n int) int {
	if n < 0 {
		return 0
	}
	return depth(n+1) + 1
}

// What the jobs do is not for nothing, or it would be left out.
var (
	sink    int
	hoarded [][]byte
)

func TestMain(m *testing.M) {
	Reexec()
	os.Exit(m.Run())
}

func TestWorkApartEndsWithinItsLimits(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "secret")
	limits := Limits{Time: 20 * time.Second, Wait: patient, Memory: 256 << 20, Output: 1 << 20}
	short, brief := limits, limits
	short.Time = 500 * time.Millisecond
	brief.Wait = 500 * time.Millisecond
	for name, test := range map[string]struct {
		job    Job
		limits Limits
		gives  string
		fails  error
	}{
		"what came of it":         {upper, limits, "ABC", nil},
		"the job's own error":     {refuse, limits, "", Refused("line 3 is bad")},
		"a loop without end":      {hang, short, "", ErrTime},
		"no end, without a loop":  {idle, brief, "", ErrTime},
		"memory without end":      {hoard, limits, "", ErrMemory},
		"recursion without end":   {dig, limits, "", ErrMemory},
		"output without end":      {flood, limits, "", ErrOutput},
		"nothing of the server's": {look, limits, "GOMAXPROCS=1 GOTRACEBACK=none", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.job.Run(t.Context(), strings.NewReader("abc"), test.limits)
			if string(got) != test.gives || !errors.Is(err, test.fails) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestWorkApartReachesNothingOfTheMachines(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	limits := Limits{Time: 10 * time.Second, Wait: patient, Memory: 256 << 20, Output: 1 << 10}
	got, err := reach.Run(t.Context(), strings.NewReader(listener.Addr().String()), limits)
	if err != nil || len(got) > 0 && agenttest.MachineSeals() {
		t.Errorf("it reaches %q, %v", got, err)
	}
}

func TestWorkApartIsDoneWhereTheMachineGivesNoNamespaces(t *testing.T) {
	defer func() { sealer = sandbox.Sealer{} }()
	sealer.Note("of a test", syscall.EPERM)
	limits := Limits{Time: 10 * time.Second, Wait: patient, Memory: 256 << 20, Output: 1 << 10}
	if got, err := upper.Run(t.Context(), strings.NewReader("abc"), limits); err != nil || string(got) != "ABC" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAFaultIsTheServersToLog(t *testing.T) {
	_, err := fails.Run(t.Context(), strings.NewReader(""), Limits{Time: time.Minute, Wait: patient, Memory: 256 << 20, Output: 1})
	if err == nil || errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "panic: a fault") {
		t.Error(err)
	}
}

func TestWorkApartStopsWithWhoAsked(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, stop)
	_, err := hang.Run(ctx, strings.NewReader(""), Limits{Time: time.Minute, Wait: patient, Memory: 256 << 20, Output: 1})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// gate is what a job reads: it tells that it is read, and lets go when it is
// told to.
type gate struct{ begun, release chan struct{} }

func newGate() gate { return gate{make(chan struct{}, 1), make(chan struct{})} }

func (g gate) Read([]byte) (int, error) {
	g.begun <- struct{}{}
	<-g.release
	return 0, io.EOF
}

func TestWorkWaitsForRoomInTheMachinesMemory(t *testing.T) {
	limits := Limits{Time: 10 * time.Second, Wait: patient, Memory: 256 << 20, Output: 10}
	before := room
	defer func() { room = before }()
	room = newShare(2 * limits.Memory)
	first, second, third := newGate(), newGate(), newGate()
	var group sync.WaitGroup
	run := func(g gate) {
		group.Go(func() {
			if _, err := upper.Run(t.Context(), g, limits); err != nil {
				t.Error(err)
			}
		})
	}
	run(first)
	run(second)
	<-first.begun
	<-second.begun
	room.patience = 100 * time.Millisecond
	var busy *models.Error
	if _, err := upper.Run(t.Context(), third, limits); !errors.As(err, &busy) || !errors.Is(err, models.ErrLimited) {
		t.Errorf("a third: %v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := upper.Run(stopped, third, limits); !errors.Is(err, context.Canceled) {
		t.Errorf("one that is stopped: %v", err)
	}
	room.patience = patience
	run(third)
	select {
	case <-third.begun:
		t.Error("a third is done beside the others")
	case <-time.After(100 * time.Millisecond):
	}
	close(first.release)
	<-third.begun
	close(second.release)
	close(third.release)
	group.Wait()
	alone := newGate()
	close(alone.release)
	if _, err := upper.Run(t.Context(), alone, Limits{Time: limits.Time, Wait: patient, Memory: 1 << 40, Output: 10}); err != nil {
		t.Errorf("what takes more than all room waits for ever: %v", err)
	}
	if memory := Memory(); memory < 256<<20 || memory > 1<<44 {
		t.Errorf("the machine has %d bytes", memory)
	}
}
