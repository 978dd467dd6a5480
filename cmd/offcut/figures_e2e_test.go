package main_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

type apiFigures struct {
	Items []struct {
		Day, Tool, Model                                *string
		Calls, Truncated, Consulted, Reruns, Incomplete int64
		Hidden                                          int64 `json:"hidden_bytes"`
		Recovered                                       int64 `json:"recovered_bytes"`
		FailedSaves                                     int64 `json:"failed_saves"`
		Repaired                                        int64 `json:"repaired_arguments"`
		Refused                                         int64 `json:"refused_arguments"`
		Continuations                                   int64
		CapHits                                         int64 `json:"cap_hits"`
		Retries                                         int64
		Notice                                          bool
		Layers                                          []struct {
			Layer   string
			In, Out int64
		}
	}
}

// configuredWith writes a configuration and returns its variable.
func configuredWith(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "offcut.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return "OFFCUT_CONFIG=" + path
}

// A cut result that is read later, the same command again, a save that fails, a
// tool that there is not, repaired and refused arguments, a retry, and the bound
// of continuations: all of it is in the figures, and outlives session and server.
func TestWhatIsCutIsCounted(t *testing.T) {
	p := newProvider(t)
	p.onFunc("print much",
		func(request) reply { return runs("seq 1 20000") },
		func(r request) reply {
			meta, _ := r.results()[0].result(t)
			return calls(call("read_tool_output", args{"output_id": meta["output_id"], "offset": 20000}))
		},
		func(request) reply { return runs("seq 1 20000") },
		func(request) reply { return calls(call("frobnicate_"+strings.Repeat("x", 300), args{})) },
		func(request) reply {
			return reply{calls: []toolCall{call("list_files", `{"path":"`), call("run_command", `{"command":"ls `)}, finish: "length"}
		},
		func(request) reply { return says("Done.") },
	)
	p.on("on and on", cutAt("a"))
	p.on("too much", runs("head -c 3000000 /dev/zero | tr '\\0' x"), says("Too much."))
	p.on("busy", reply{status: 503, message: "busy", headers: map[string]string{"Retry-After": "0"}}, says("Now."))
	s := start(t, p, configuredWith(t, "limits: {storagePerUserBytes: 2000000}\ntools: {run_command: {noticeShare: 0.5}}\n"))
	session := s.newSession()
	for _, question := range []string{"print much", "on and on", "too much", "busy"} {
		s.say(session, question)
	}
	results := p.lastSent(t, "too much").results()
	meta, _ := results[len(results)-1].result(t)
	if meta["retention"] != "failed" {
		t.Fatalf("the copy was to be refused: %v", meta)
	}
	if status := s.as(adminToken, "DELETE", "/sessions/"+session, nil, nil); status != http.StatusNoContent {
		t.Fatalf("deleting: %d", status)
	}
	s.terminate()
	s.launch()

	var figures apiFigures
	s.must("GET", "/admin/truncation?by=tool", nil, &figures)
	by := map[string]int{}
	for i, f := range figures.Items {
		name := "turns"
		if f.Tool != nil {
			name = *f.Tool
		}
		by[name] = i
		for j, l := range f.Layers[:6] {
			if l.Out > l.In || j > 0 && l.In != f.Layers[j-1].Out {
				t.Errorf("the layers of %s do not add up: %+v", name, f.Layers)
			}
		}
	}
	command := figures.Items[by["run_command"]]
	// The second of the same commands, and "ls" that was cut, count as calls too.
	if command.Calls != 4 || command.Truncated != 3 || command.Reruns != 1 || command.Consulted != 1 || command.FailedSaves != 1 ||
		command.Refused != 1 || !command.Notice || command.Recovered != 4096 {
		t.Errorf("of commands: %+v", command)
	}
	if printed := int64(108894); command.Hidden < 2*(printed-24576)+3000000-24576 || command.Hidden > 2*printed+3000000-24576 {
		t.Errorf("%d bytes are hidden", command.Hidden)
	}
	if list := figures.Items[by["list_files"]]; list.Calls != 1 || list.Repaired != 1 || list.Notice {
		t.Errorf("of list_files: %+v", list)
	}
	if unknown := figures.Items[by["(other)"]]; unknown.Calls != 1 || len(figures.Items) != 5 {
		t.Errorf("of a tool that there is not: %+v, and in all %d tools", unknown, len(figures.Items))
	}
	if turns := figures.Items[by["turns"]]; turns.Continuations != 4 || turns.CapHits != 1 || turns.Retries != 1 {
		t.Errorf("of turns: %+v", turns)
	}
	checkMetrics(t, s, command.Hidden)
}

func checkMetrics(t *testing.T, s *server, hidden int64) {
	t.Helper()
	for token, want := range map[string]int{"": 401, "wrong": 401, s.addUser("ann"): 403, adminToken: 200} {
		if status, _, _ := s.raw(token, "GET", "/metrics", nil); status != want {
			t.Errorf("with the token %q: %d, want %d", token, status, want)
		}
	}
	_, _, _ = s.raw(adminToken, "FROB", "/"+strings.Repeat("y", 40), nil)
	_, _, body := s.raw(adminToken, "GET", "/metrics", nil)
	for _, line := range []string{
		`offcut_tool_calls_total{tool="run_command"} 4`,
		`offcut_tool_truncated_total{tool="run_command"} 3`,
		`offcut_tool_recovered_bytes_total{tool="run_command"} 4096`,
		`offcut_tool_failed_saves_total{tool="run_command"} 1`,
		`offcut_tool_truncation_notice{tool="list_files"} 0`,
		`offcut_tool_truncation_notice{tool="run_command"} 1`,
		`offcut_continuations_total{model="scripted"} 4`,
		`offcut_cap_hits_total{model="scripted"} 1`,
		`offcut_retries_total{model="scripted"} 1`,
		`offcut_turns_total{state="done"} 0`, // since the start
		`offcut_running_turns 0`,
		`offcut_http_request_duration_seconds_count{code="401",method="GET",route="/metrics"} 2`,
	} {
		if !strings.Contains(string(body), line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
	for _, never := range []string{"frobnicate", "yyyy", "FROB"} {
		if strings.Contains(string(body), never) {
			t.Errorf("%s became a label", never)
		}
	}
	if !strings.Contains(string(body), fmt.Sprintf("offcut_tool_hidden_bytes_total{tool=\"run_command\"} %s", mantissa(hidden))) {
		t.Errorf("the metrics do not say that %d bytes are hidden", hidden)
	}
}

// mantissa is how a number of millions begins in the metrics' text.
func mantissa(n int64) string { return fmt.Sprintf("%.3f", float64(n)/1e6) }

func TestMetricsCanBeOpen(t *testing.T) {
	p := newProvider(t)
	p.on("hello", says("Hello."))
	s := start(t, p, configuredWith(t, "metrics: {open: true}\n"))
	s.say(s.newSession(), "hello")
	status, _, body := s.raw("", "GET", "/metrics", nil)
	for _, line := range []string{`offcut_turns_total{state="done"} 1`, `offcut_model_first_token_seconds_count{model="scripted"} 1`} {
		if status != 200 || !strings.Contains(string(body), line+"\n") {
			t.Errorf("%d, and the metrics lack %s", status, line)
		}
	}
}

// receiver is an OTLP endpoint: what it was sent, decoded.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*tracepb.Span
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var export tracepb.TracesData // as the bytes of the service's request are
		body, err := io.ReadAll(req.Body)
		if err != nil || req.URL.Path != "/v1/traces" || proto.Unmarshal(body, &export) != nil {
			http.Error(w, "what is this?", http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, resource := range export.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				r.spans = append(r.spans, scope.Spans...)
			}
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// named finds the span of that name, and its attributes as text.
func (r *receiver) named(t *testing.T, name string) (*tracepb.Span, map[string]string) {
	t.Helper()
	for _, span := range r.spans {
		if span.Name == name {
			return span, attributesOf(span)
		}
	}
	t.Fatalf("there is no span %q", name)
	return nil, nil
}

func attributesOf(span *tracepb.Span) map[string]string {
	attributes := map[string]string{}
	for _, a := range span.Attributes {
		attributes[a.Key] = text(a.Value)
	}
	return attributes
}

func text(v *common.AnyValue) string {
	switch v := v.Value.(type) {
	case *common.AnyValue_StringValue:
		return v.StringValue
	case *common.AnyValue_BoolValue:
		return fmt.Sprint(v.BoolValue)
	case *common.AnyValue_IntValue:
		return fmt.Sprint(v.IntValue)
	}
	return fmt.Sprint(v)
}

func TestTracesTellOfTurnsModelsToolsAndCopies(t *testing.T) {
	for name, contents := range map[string]bool{"without contents": false, "with contents, where it is asked for": true} {
		t.Run(name, func(t *testing.T) {
			p, otlp := newProvider(t), newReceiver(t)
			p.on("my secret question", runs("seq 1 20000 # hush"), says("The answer."))
			s := start(t, p, "OTEL_EXPORTER_OTLP_ENDPOINT="+otlp.URL, configuredWith(t, fmt.Sprintf("traces: {contents: %t}\n", contents)))
			session := s.newSession()
			s.say(session, "my secret question")
			s.terminate() // the last spans are sent

			turn, about := otlp.named(t, "invoke_agent offcut")
			if about["gen_ai.conversation.id"] != session || about["offcut.turn.state"] != "done" {
				t.Errorf("the turn: %v", about)
			}
			chat, about := otlp.named(t, "chat scripted")
			if string(chat.ParentSpanId) != string(turn.SpanId) || about["gen_ai.operation.name"] != "chat" || about["gen_ai.provider.name"] != "openai" {
				t.Errorf("the request to the model: %v", about)
			}
			tool, about := otlp.named(t, "execute_tool run_command")
			if string(tool.ParentSpanId) != string(turn.SpanId) || about["gen_ai.tool.name"] != "run_command" ||
				about["offcut.truncation.truncated"] != "true" || about["offcut.truncation.capture.bytes_in"] != "108894" ||
				about["offcut.truncation.retention"] != "kept" || about["offcut.output.id"] == "" {
				t.Errorf("the tool: %v", about)
			}
			for layer, want := range map[string]string{"history": "24568", "display": "24568", "pruning": "", "transport": ""} {
				if got := about["offcut.truncation."+layer+".bytes_out"]; got != want {
					t.Errorf("%s of the tool is %q, not %q", layer, got, want)
				}
			}
			kept, about := otlp.named(t, "retain run_command")
			if string(kept.ParentSpanId) != string(tool.SpanId) || about["offcut.output.total_bytes"] != "108894" {
				t.Errorf("the copy: %v", about)
			}
			said := false
			for _, span := range otlp.spans {
				said = said || strings.Contains(span.String(), "secret question") || strings.Contains(span.String(), "hush")
			}
			if said != contents {
				t.Errorf("what was said went along: %t", said)
			}
			if log := s.log.String(); strings.Contains(log, "secret question") || strings.Contains(log, "hush") {
				t.Error("the log has what was said")
			}
		})
	}
}

// What pruning and a summary take out of a request stands on the span of the
// request; one for a summary is told apart.
func TestTracesTellWhatRequestsHold(t *testing.T) {
	p, otlp := newProvider(t), newReceiver(t)
	p.on(aSummary, says("They gave parts to remember."))
	p.on("many lines", runs("seq 1 20000"), says("There they are."))
	p.on("remember part", says("Noted."))
	s := start(t, p, small, "OTEL_EXPORTER_OTLP_ENDPOINT="+otlp.URL)
	session := s.newSession()
	s.say(session, "many lines")
	s.fill(p, session)
	s.terminate()
	summaries, summarised, pruned := 0, 0, 0
	for _, span := range otlp.spans {
		if !strings.HasPrefix(span.Name, "chat ") {
			continue
		}
		about := attributesOf(span)
		in, out := about["offcut.truncation.pruning.bytes_in"], about["offcut.truncation.pruning.bytes_out"]
		if in == "" || out != about["offcut.truncation.transport.bytes_in"] || out != about["offcut.truncation.transport.bytes_out"] {
			t.Errorf("the layers do not add up: %v", about)
		}
		if about["offcut.request.summary"] == "true" {
			summaries++
		}
		if about["offcut.truncation.summarised"] == "true" {
			summarised++
		}
		if n := about["offcut.truncation.pruned_results"]; n != "0" {
			pruned++
			if n != "1" || in == out {
				t.Errorf("a pruned result is told of as %v", about)
			}
		}
	}
	if summaries == 0 || summarised == 0 || pruned == 0 {
		t.Errorf("%d requests for summaries, %d with one, and %d with a pruned result", summaries, summarised, pruned)
	}
}

// Of the answers it is counted how many rest on what the model had not whole, say so,
// or say that something is absent that may be there.
func TestAnswersAreCountedByWhatTheyRestOn(t *testing.T) {
	p := newProvider(t)
	p.on("say hello", says("Hello."))
	p.on("short", runs("echo hi"), says("There is no zebra in it."))
	p.on("long", runs("seq 1 20000"), says("The last is 20000."))
	p.on("is it there", runs("seq 1 20000"), says("There is no zebra in it."))
	p.on("careful", runs("seq 1 20000"), says("In what I have read there is no zebra."))
	s := start(t, p)
	for _, question := range []string{"say hello", "short", "long", "is it there", "careful"} {
		s.say(s.newSession(), question)
	}
	var figures struct {
		Items []struct {
			Tool      *string
			Answers   int64
			OnUnread  int64 `json:"answers_on_unread"`
			NamingGap int64 `json:"answers_naming_gap"`
			Doubted   int64 `json:"answers_doubted"`
		}
	}
	s.must("GET", "/admin/truncation?by=model", nil, &figures)
	if f := figures.Items; len(f) != 1 || f[0].Answers != 5 || f[0].OnUnread != 3 || f[0].NamingGap != 1 || f[0].Doubted != 1 {
		t.Errorf("the API has %+v", f)
	}
	_, _, metrics := s.raw(adminToken, "GET", "/metrics", nil)
	for name, n := range map[string]int{"": 5, "_on_unread": 3, "_naming_gap": 1, "_doubted": 1} {
		if line := fmt.Sprintf("offcut_answers%s_total{model=\"scripted\"} %d\n", name, n); !strings.Contains(string(metrics), line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
	if csv := s.signedIn("/admin/truncation.csv"); !strings.Contains(csv, "answers,answers_on_unread,answers_naming_gap,answers_doubted") || !strings.Contains(csv, "5,3,1,1") {
		t.Errorf("the spreadsheet is %s", csv)
	}
	if page := s.signedIn("/admin/truncation"); !strings.Contains(page, "answers on outputs not read whole") || !strings.Contains(page, "1 names its gap") {
		t.Error("the page does not tell of answers")
	}
}
