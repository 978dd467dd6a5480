package tools

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/retain"
	"offcut/agent/script"
	"offcut/models"
)

func TestTheServerHoldsNoArgumentsOfCallsThatHaveEnded(t *testing.T) {
	b := newBench(t)
	var held uint64
	measure := agenttest.ToolFunc("measure", func(context.Context, agent.Call) (agent.ToolResult, error) {
		runtime.GC()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		held = memory.HeapAlloc
		return agenttest.Text("measured"), nil
	})
	b.box = agent.NewToolbox(append(slices.Collect(maps.Values(b.tools)), measure)...)
	b.script(`await tools.measure({})`)
	before := held
	result := b.script(`const s = "x".repeat(2e6); for (let i = 0; i < 10; i++) try { await tools.load_skill({name: s + i}) } catch {}; await tools.measure({}); return "ok"`)
	if result.Content != "ok" || len(result.Metadata.Calls) != 11 {
		t.Fatalf("%q after %d calls", result.Content, len(result.Metadata.Calls))
	}
	if held > before+10<<20 {
		t.Errorf("after calls with 20 MB of arguments the server holds %d MiB more than before", (held-before)>>20)
	}
}

func TestOfAHugeResultAScriptGetsABoundedTextAndTheCopy(t *testing.T) {
	b := newBench(t)
	huge := strings.Repeat("<é>", 4e6)
	of := func(failed bool) agent.Tool {
		name := map[bool]string{false: "huge", true: "wrong"}[failed]
		return retain.NewKeeper(b.store, retain.Config{}).Wrap(agenttest.ToolFunc(name, func(context.Context, agent.Call) (agent.ToolResult, error) {
			result := agenttest.Text(huge)
			result.IsError = failed
			return result, nil
		}))
	}
	b.box = agent.NewToolbox(of(false), of(true))
	result := b.script(`const r = await tools.huge({}); return [r.text.slice(0, 6), r.text.length, r.truncated, r.output_id, r.total_bytes]`)
	nested := result.Metadata.Nested
	if len(nested) != 1 {
		t.Fatalf("%q, %s", result.Content, result.Metadata.Line())
	}
	if want := fmt.Sprintf(`["<é><é>",%d,true,%q,%d]`, maxScriptText/4*3, nested[0].OutputID, *nested[0].TotalBytes); result.Content != want {
		t.Errorf("%s, not %s", result.Content, want)
	}
	begun := time.Now()
	result = b.script(`try { await tools.wrong({}) } catch (e) { return e.message }`)
	if nested = result.Metadata.Nested; len(nested) != 1 {
		t.Fatalf("%.200q, %s", result.Content, result.Metadata.Line())
	}
	if says := fmt.Sprintf("of %d bytes) read_tool_output gives the rest by output_id %s.", len(huge), nested[0].OutputID); !strings.HasSuffix(b.whole(result.Metadata.OutputID), says) {
		t.Errorf("it does not end with %q", says)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("the script waited for %s", took)
	}
}

// A script must not take a part for all that there was.
func TestAScriptSeesThatAToolDidNotHaveAll(t *testing.T) {
	b := newBench(t)
	for name, test := range map[string]struct {
		content, want string
		complete      *bool
		reasons       []models.Reason
	}{
		"a short part":              {"ab", `[2,false,["capture"]]`, models.Ptr(false), []models.Reason{models.ReasonCapture}},
		"a part that is kept":       {strings.Repeat("ab", 20_000), `[40000,false,["retention"]]`, models.Ptr(false), []models.Reason{models.ReasonRetention}},
		"all, of which more is":     {strings.Repeat("ab", 20_000), `[40000,null,["preview"]]`, nil, []models.Reason{models.ReasonPreview}},
		"all, of which a copy is":   {strings.Repeat("ab", 20_000), `[40000,null,null]`, nil, nil},
		"more than a copy can hold": {strings.Repeat("ab", 4<<20+1), `[8388610,null,null]`, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b.box = agent.NewToolbox(retain.NewKeeper(b.store, retain.Config{}).Wrap(agenttest.ToolFunc("partial", func(context.Context, agent.Call) (agent.ToolResult, error) {
				result := agenttest.Text(test.content)
				result.Metadata.Complete, result.Metadata.Reasons = test.complete, test.reasons
				return result, nil
			})))
			if got := b.script(`const r = await tools.partial({}); return [r.text.length, r.complete ?? null, r.reasons ?? null]`); got.Content != test.want {
				t.Errorf("the script has %s", got.Content)
			}
		})
	}
}

func TestScriptsWaitForAPlaceAndSayWhereThereIsNone(t *testing.T) {
	b := newBench(t, func(o *Options) {
		o.ScriptPlaces = agent.PlaceLimits{What: "scripts", PerUser: 1, All: 2, Patience: 200 * time.Millisecond}
	})
	begun, release := make(chan struct{}), make(chan struct{})
	b.box = agent.NewToolbox(agenttest.ToolFunc("wait", func(context.Context, agent.Call) (agent.ToolResult, error) {
		close(begun)
		<-release
		return agenttest.Text(""), nil
	}))
	var group sync.WaitGroup
	group.Go(func() {
		if first := b.script("await tools.wait({}); return 'first'"); first.Content != "first" {
			t.Errorf("%q", first.Content)
		}
	})
	<-begun
	if second := b.script("return 'second'"); !second.IsError || !strings.HasPrefix(second.Content, "The script was not run: ") {
		t.Errorf("%q", second.Content)
	}
	close(release)
	group.Wait()
	if third := b.script("return 'third'"); third.Content != "third" {
		t.Errorf("%q", third.Content)
	}
	for memory, want := range map[int64]int{1 << 30: 8, 64 << 30: 128} {
		if l := scripting(memory, script.DefaultMemory); l.All != want || l.PerUser != want/2 {
			t.Errorf("on a machine of %d GiB: %+v", memory>>30, l)
		}
	}
}

// busyQuerier has no place at first.
type busyQuerier struct{ refusals atomic.Int32 }

func (q *busyQuerier) Query(context.Context, string, string, string, string) ([]byte, error) {
	if q.refusals.Add(-1) >= 0 {
		return nil, models.Errorf(models.ErrLimited, "busy", "another one of your queries is running")
	}
	return []byte("1\n"), nil
}

func TestTheQueriesOfAScriptWaitForEachOther(t *testing.T) {
	q := &busyQuerier{}
	b := newBench(t, func(o *Options) { o.Querier = q })
	q.refusals.Store(1)
	b.refused("query_tool_output", arguments{"output_id": "out_x", "filter": "."}, "another one of your queries")
	q.refusals.Store(5)
	if result := b.script(`return (await tools.query_tool_output({output_id: "out_x", filter: "."})).text`); result.Content != "1" {
		t.Errorf("%q", result.Content)
	}
}
