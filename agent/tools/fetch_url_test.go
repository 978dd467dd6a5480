package tools

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"offcut/agent"
)

func TestAFetchedPageIsShownAndKeptLikeAnyResult(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/rows":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "["+strings.Repeat(`{"id":1,"name":"a row of many"},`, 3000)+`{"id":2,"owner":"zoe"}]`)
		case "/flood":
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, strings.Repeat("0123456789abcde\n", 1<<20))
		case "/gbk":
			w.Header().Set("Content-Type", "text/plain; charset=gbk")
			_, _ = w.Write([]byte("\xb3\xc9\xb9\xa6\xff"))
		case "/raw":
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = w.Write([]byte("a\xffb"))
		case "/picture":
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write([]byte("\x89PNG\x00"))
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "no such page")
		}
	}))
	defer s.Close()
	b := newBench(t)

	rows := b.ok("fetch_url", arguments{"url": s.URL + "/rows"})
	if !strings.HasPrefix(rows.Content, "200 OK\nURL: "+s.URL+"/rows\nContent-Type: application/json\n\n[{") || !rows.Metadata.Truncated || !*rows.Metadata.Complete {
		t.Errorf("%s\n%.200s", rows.Metadata.Line(), rows.Content)
	}
	if kept, err := b.store.Output(b.ctx, "s1", rows.Metadata.OutputID); err != nil || kept.Title != s.URL+"/rows" || kept.Tool != "fetch_url" {
		t.Errorf("kept as %+v, %v", kept, err)
	}
	if owner := b.ok("query_tool_output", arguments{"output_id": rows.Metadata.OutputID, "filter": ".[-1].owner"}); owner.Content != `"zoe"` {
		t.Errorf("the query gives %q", owner.Content)
	}

	flood := b.ok("fetch_url", arguments{"url": s.URL + "/flood"})
	kept, err := b.store.Output(b.ctx, "s1", flood.Metadata.OutputID)
	if err != nil || *flood.Metadata.Complete || kept.Complete || !strings.Contains(flood.Content[:300], "Incomplete: only its first 8388608 bytes were read") {
		t.Errorf("%s\n%.300s", flood.Metadata.Line(), flood.Content)
	}
	b.refused("query_tool_output", arguments{"output_id": flood.Metadata.OutputID, "filter": "."}, "not all that the tool returned")

	if gbk := b.ok("fetch_url", arguments{"url": s.URL + "/gbk"}); gbk.Metadata.ReplacedBytes != 1 || !strings.HasSuffix(gbk.Content, "\n\n成功\uFFFD") {
		t.Errorf("%s\n%s", gbk.Metadata.Line(), gbk.Content)
	}
	if raw := b.ok("fetch_url", arguments{"url": s.URL + "/raw"}); raw.Metadata.ReplacedBytes != 1 || raw.Metadata.OutputID == "" || !strings.HasSuffix(raw.Content, "a\uFFFDb") {
		t.Errorf("%s\n%s", raw.Metadata.Line(), raw.Content)
	}
	if picture := b.ok("fetch_url", arguments{"url": s.URL + "/picture"}); !picture.Metadata.Binary || !strings.Contains(picture.Content, "image/png\nNot shown: this is no text. It has 5 bytes.") {
		t.Errorf("%s\n%s", picture.Metadata.Line(), picture.Content)
	}
	if absent := b.ok("fetch_url", arguments{"url": s.URL + "/absent"}); !strings.HasPrefix(absent.Content, "404 Not Found\n") {
		t.Errorf("%s", absent.Content)
	}
	for address, says := range map[string]string{
		"http://127.0.0.2/": "not the public internet", "http://169.254.169.254/": "not the public internet", "http://2130706433/": "unusual spelling",
		"file:///etc/passwd": "only http:// and https://", "http://a:b@example.org/": "user name or password", "": "only http",
	} {
		b.refused("fetch_url", arguments{"url": address}, "was not fetched: ", says)
	}
	if spec := b.tools["fetch_url"].Spec(); spec.Deed != agent.DeedFetch || !spec.UnsafeWhenCut || spec.Whole {
		t.Errorf("%+v", spec)
	}
}

func TestFetchesOfAReplyRunBesideEachOther(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { time.Sleep(10 * time.Millisecond) }))
	defer s.Close()
	b := newBench(t)
	if b.tools["fetch_url"].Spec().HasEffects {
		t.Error("fetches wait for each other")
	}
	if _, result := b.cutCall("fetch_url", `{"url":"`+s.URL+`/de`); !result.Metadata.IsError || !strings.Contains(result.Content, "truncated") {
		t.Errorf("a part of an address: %s", result.Content)
	}
}
