package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/retain"
	"offcut/models"

	"github.com/PuerkitoBio/goquery"
)

// recorder is a tool that prints as a command does, and whose result is cut and
// kept as that of one.
func (s *server) recorder() agent.Tool {
	return agenttest.ToolFunc("run_command", func(ctx context.Context, call agent.Call) (agent.ToolResult, error) {
		var arguments struct{ Out, Err string }
		if err := json.Unmarshal(call.Arguments, &arguments); err != nil {
			return agent.ToolResult{}, err
		}
		r := retain.NewKeeper(s.store, retain.Config{}).Record(ctx, call, "make")
		if _, err := io.WriteString(r.Stdout(), arguments.Out); err != nil {
			return agent.ToolResult{}, err
		}
		if _, err := io.WriteString(r.Stderr(), arguments.Err); err != nil {
			return agent.ToolResult{}, err
		}
		return r.Finish(ctx, retain.Exited, models.ResultMetadata{ExitCode: models.Ptr(0)}), nil
	})
}

// recorded is the row and the open body of the card of a command that printed.
func recorded(t *testing.T, out, errs string) (row, body *goquery.Selection) {
	t.Helper()
	s, id := recordedIn(t, out, errs)
	return s.cardIn(id)
}

// recordedIn is a session of ann's in which a command printed.
func recordedIn(t *testing.T, out, errs string) (s *server, session string) {
	t.Helper()
	s = start(t, offering(agenttest.ToolFunc("run_command", func(ctx context.Context, call agent.Call) (agent.ToolResult, error) {
		return s.recorder().Run(ctx, call)
	})))
	arguments, err := json.Marshal(map[string]string{"command": "make", "out": out, "err": errs})
	s.must(err)
	s.script.Then(agenttest.Calls("run_command", string(arguments)), agenttest.Says("Made."))
	id := s.newSession(ann)
	s.says(ann, id, "make it")
	return s, id
}

// cardIn is the row and the open body of the only card of a session.
func (s *server) cardIn(id string) (row, body *goquery.Selection) {
	s.t.Helper()
	b := s.signedIn(ann)
	row = b.get("/s/" + id).page(s.t).Find("[data-testid=tool-card]")
	call := strings.TrimPrefix(row.AttrOr("id", ""), "t-")
	return row, b.get("/s/"+id+"/calls/"+call, "HX-Request", "true").page(s.t).Selection
}

func texts(s *goquery.Selection) (all []string) {
	s.Each(func(_ int, one *goquery.Selection) { all = append(all, one.Text()) })
	return all
}

// coloured is n numbered lines, their numbers in colour.
func coloured(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "\x1b[36m%06d\x1b[0m step\n", i+1)
	}
	return b.String()
}

func TestACardShowsWhatATerminalShowed(t *testing.T) {
	progress := "\x1b[31mred words\x1b[0m plain\n"
	for i := range 50 {
		progress += fmt.Sprintf("\rprogress %d", i+1)
	}
	row, body := recorded(t, progress+"\n\x1b[?25lhidden cursor\x1b[?25h\n", "")
	shown := texts(body.Find(".out .pre"))
	if len(shown) != 1 || strings.TrimSpace(shown[0]) != "red words plain\nprogress 50\nhidden cursor" {
		t.Errorf("the card shows %q", shown)
	}
	if body.Find(".out .pre [class]").First().Text() != "red words" {
		t.Error("what was red is not")
	}
	if body.Find("a.cut").Length()+row.Find(".cutchip").Length() > 0 {
		t.Error("what was overwritten has a cut edge")
	}
}

func TestColoursDoNotCutAPreviewIntoPieces(t *testing.T) {
	row, body := recorded(t, coloured(5000), "")
	shown := texts(body.Find(".out .pre"))
	if len(shown) != 2 || !strings.HasPrefix(shown[0], "000001 step\n000002 step\n") || !strings.HasSuffix(strings.TrimSpace(shown[1]), "\n005000 step") {
		t.Fatalf("the card shows %d pieces: %.60q", len(shown), shown)
	}
	if body.Find("a.cut").Length() != 1 || row.Find(".cutchip").Length() != 1 {
		t.Error("what was left out has no cut edge, or several")
	}
	if body.Find(".out .pre [class]").First().Text() != "000001" {
		t.Error("the numbers have lost their colour")
	}
}

func TestALongPreviewWithManyOverwrittenLinesHasOneCutEdge(t *testing.T) {
	var out strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&out, "waiting\rdone %d\n", i)
	}
	_, body := recorded(t, out.String(), "")
	shown := texts(body.Find(".out .pre"))
	if len(shown) != 2 || !strings.HasPrefix(shown[0], "done 0g\n") || strings.Contains(shown[0], "waiting") || !strings.Contains(shown[1], "done 8999") {
		t.Errorf("the card shows %d pieces: %.60q", len(shown), shown)
	}
	if n := body.Find("a.cut").Length(); n != 1 {
		t.Errorf("%d cut edges, want 1", n)
	}
}

func TestStreamsOfACutCommandAreHeaded(t *testing.T) {
	_, body := recorded(t, lines(9000), "it failed\n")
	heads := texts(body.Find(".out .stream"))
	if len(heads) != 2 || !strings.HasPrefix(heads[0], "stdout, ") || heads[1] != "stderr, 10 bytes, shown whole" {
		t.Errorf("the streams are headed %q", heads)
	}
	shown := texts(body.Find(".out .pre"))
	if len(shown) != 3 || strings.TrimSpace(shown[2]) != "it failed" {
		t.Errorf("the card shows %.40q", shown)
	}
	if n := body.Find("a.cut").Length(); n != 1 {
		t.Errorf("%d cut edges, want 1", n)
	}
}

func TestAStreamThatIsShownWholeIsCountedWhole(t *testing.T) {
	_, body := recorded(t, "out\n", lines(9000))
	if heads := texts(body.Find(".out .stream")); len(heads) != 2 || heads[0] != "stdout, 4 bytes, shown whole" {
		t.Errorf("the streams are headed %q", heads)
	}
}

func TestOfACopyThatIsGoneACardShowsWhatTheModelSaw(t *testing.T) {
	s, id := recordedIn(t, lines(20000), "")
	row, before := s.cardIn(id)
	saw := before.Find(".saw b").Text()
	if row.Find(".cutchip").Length() != 1 || before.Find("a.cut").Length() != 1 {
		t.Fatal("nothing was cut")
	}
	fork := s.wants(201, ann, "POST", "/sessions/"+id+"/fork", nil)["id"].(string)
	output := s.wants(200, ann, "GET", "/sessions/"+id+"/outputs", nil)["items"].([]any)[0].(map[string]any)["id"].(string)
	s.wants(204, ann, "DELETE", "/sessions/"+id+"/outputs/"+output, nil)
	for _, tt := range []struct{ name, id, want string }{
		{"deleted", id, "deleted with the kept output"},
		{"of a fork", fork, "stayed with the session"},
	} {
		_, body := s.cardIn(tt.id)
		if got := body.Find(".saw b").Text(); got != saw {
			t.Errorf("%s: the model saw %s, and %s before", tt.name, got, saw)
		}
		if text := body.Text(); strings.Contains(text, "left out here") || strings.Contains(text, "search_tool_output") {
			t.Errorf("%s: the model's marker stands in the card", tt.name)
		}
		if lost := body.Find(".lost-band").Text(); !strings.Contains(lost, tt.want) || body.Find("a.cut").Length() > 0 {
			t.Errorf("%s: where the text was left out the card says %q", tt.name, lost)
		}
		if shown := texts(body.Find(".out .pre")); len(shown) != 2 {
			t.Errorf("%s: the card shows %d texts", tt.name, len(shown))
		}
	}
}
