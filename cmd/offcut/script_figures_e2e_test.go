package main_test

import (
	"strings"
	"testing"
)

// The calls of a script count under their own tools, with the bytes that each
// layer let through to the script.
func TestTheCallsOfAScriptAreInTheFigures(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	r := runScript(t, s, p, `
await tools.run_command({command: "seq 20000"});
await tools.run_command({command: "seq 20000"});
await tools.run_command({command: "seq 20000 > numbers"});
let bytes = 0, line = 1;
for (let more = true; more;) {
  const page = await tools.read_file({path: "numbers", line});
  bytes += page.text.length; line = page.next_line; more = page.has_more;
}
try { await tools.read_file({path: "none"}) } catch {}
return bytes`)
	if r.body != "108894" {
		t.Fatalf("%v %q", r.meta, r.body)
	}
	id := r.nested()[0]["output_id"].(string)
	p.on("and its end", calls(call("read_tool_output", args{"output_id": id, "offset": 50000})), says("Read."))
	s.say(r.session, "and its end")

	var figures apiFigures
	s.must("GET", "/admin/truncation?by=tool", nil, &figures)
	found := 0
	for _, f := range figures.Items {
		if f.Tool == nil {
			continue
		}
		for i, l := range f.Layers {
			if l.Out > l.In || i > 0 && i < 6 && l.In != f.Layers[i-1].Out {
				t.Errorf("the layers of %s do not add up: %+v", *f.Tool, f.Layers)
			}
		}
		switch *f.Tool {
		case "run_command":
			if f.Calls != 3 || f.Truncated != 2 || f.Reruns != 1 || f.Consulted != 1 || f.Recovered != 4096 || f.Hidden < 2*(108894-24576) {
				t.Errorf("of commands: %+v", f)
			}
		case "read_file":
			if f.Calls < 5 || f.Hidden != 0 || f.Layers[0].In < 108894 {
				t.Errorf("of read_file: %+v", f)
			}
		case "run_script":
			if f.Calls != 1 || f.Truncated != 0 || f.Layers[0].In != int64(len("108894")) {
				t.Errorf("of run_script: %+v", f)
			}
		default:
			continue
		}
		found++
	}
	if found != 3 {
		t.Errorf("figures of %d tools", found)
	}
	_, _, metrics := s.raw(adminToken, "GET", "/metrics", nil)
	for _, line := range []string{`offcut_tool_calls_total{tool="run_command"} 3`, `offcut_tool_truncated_total{tool="run_command"} 2`} {
		if !strings.Contains(string(metrics), line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
}
