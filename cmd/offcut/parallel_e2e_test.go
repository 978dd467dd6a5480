package main_test

import (
	"fmt"
	"strings"
	"testing"
)

// Models change one file in many places in one reply, and run at once what
// they wrote.
func TestChangesOfOneReplyAreAllInTheFile(t *testing.T) {
	const edits = 8
	p := newProvider(t)
	s := start(t, p)
	var before, after strings.Builder
	var together []toolCall
	for i := range edits {
		fmt.Fprintf(&before, "old %d\n", i)
		fmt.Fprintf(&after, "new %d\n", i)
		together = append(together, call("edit_file", args{"path": "f", "old_string": fmt.Sprintf("old %d", i), "new_string": fmt.Sprintf("new %d", i)}))
	}
	together = append(together,
		call("write_file", args{"path": "run.sh", "content": "printf 'what was written'"}),
		call("run_command", args{"command": "sh run.sh"}),
		call("run_command", args{"command": "cat f"}))
	p.on("change the file", calls(call("write_file", args{"path": "f", "content": before.String()})), calls(together...), says("Changed."))
	s.ask("change the file")
	results := p.lastSent(t, "change the file").results()
	if len(results) != 1+edits+3 {
		t.Fatalf("%d results", len(results))
	}
	if _, body := results[1+edits+1].result(t); body != "what was written" {
		t.Errorf("the script printed %q", body)
	}
	if _, body := results[1+edits+2].result(t); body != after.String() {
		t.Errorf("the file is %q", body)
	}
}
