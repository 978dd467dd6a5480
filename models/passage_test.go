package models

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestRangesAreSubtractedAndIntersectedByteForByte(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	some := func() (ranges []Range, in [64]bool) {
		for range random.IntN(6) {
			start := random.Int64N(64)
			r := Range{start, start + random.Int64N(65-start)}
			ranges = append(ranges, r)
			for i := r.Start; i < r.End; i++ {
				in[i] = true
			}
		}
		return ranges, in
	}
	for range 2000 {
		a, inA := some()
		b, inB := some()
		var less, both []Range
		for i := range inA {
			one := Range{int64(i), int64(i) + 1}
			if inA[i] && !inB[i] {
				less = append(less, one)
			}
			if inA[i] && inB[i] {
				both = append(both, one)
			}
		}
		if got, want := Subtract(a, b), MergeRanges(less); !slices.Equal(got, want) {
			t.Fatalf("%v without %v is %v, want %v", a, b, got, want)
		}
		if got, want := Intersect(a, b), MergeRanges(both); !slices.Equal(got, want) || Length(got) != int64(len(both)) {
			t.Fatalf("%v and %v have %v in common, want %v", a, b, got, want)
		}
	}
}

func TestCallsThatAskForTheSameShareADigest(t *testing.T) {
	call := func(name, arguments string) int64 { return ToolCall{Name: name, Arguments: arguments}.Digest() }
	same := call("run_command", `{"command":"ls","timeout_s":5}`)
	for _, arguments := range []string{`{"command":"ls"}`, ` { "background": true, "command" : "ls" }`} {
		if call("run_command", arguments) != same {
			t.Errorf("%s asks for something else", arguments)
		}
	}
	for _, filtered := range []string{"ls | grep x", "ls 2>&1 | sort | tail -5", "ls | grep -E 'a|b'", "ls | sed -n '1,20p'"} {
		if call("run_command", `{"command":"`+filtered+`"}`) != same {
			t.Errorf("%s asks for something else", filtered)
		}
	}
	for _, other := range []string{"ls | xargs rm", "ls || grep x", "ls | tee x", "echo 'ls | grep x'", "ls | grep x > y", "ls; ls | head"} {
		if call("run_command", `{"command":"`+other+`"}`) == same {
			t.Errorf("%s asks for the same", other)
		}
	}
	if call("run_command", `{"command":"ls -l"}`) == same || call("other", `{"command":"ls"}`) == same || call("run_command", `{"command":"l`) == same {
		t.Error("different calls share a digest")
	}
}
