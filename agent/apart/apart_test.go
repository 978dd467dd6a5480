package apart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

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
	limits := Limits{Time: 20 * time.Second, Memory: 256 << 20, Output: 1 << 20}
	short := limits
	short.Time = 500 * time.Millisecond
	for name, test := range map[string]struct {
		job    Job
		limits Limits
		gives  string
		fails  error
	}{
		"what came of it":         {upper, limits, "ABC", nil},
		"the job's own error":     {refuse, limits, "", Refused("line 3 is bad")},
		"a loop without end":      {hang, short, "", ErrTime},
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

func TestAFaultIsTheServersToLog(t *testing.T) {
	_, err := fails.Run(t.Context(), strings.NewReader(""), Limits{Time: time.Minute, Memory: 256 << 20, Output: 1})
	if err == nil || errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "panic: a fault") {
		t.Error(err)
	}
}

func TestWorkApartStopsWithWhoAsked(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, stop)
	_, err := hang.Run(ctx, strings.NewReader(""), Limits{Time: time.Minute, Memory: 256 << 20, Output: 1})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
