package tools

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/retain"
	"offcut/models"
)

const gbkPage = "<h1>\xb3\xc9\xb9\xa6</h1><p>a page in another encoding<script>x()</script>"

var kindOf = map[string]string{
	"/gbk": "text/plain; charset=gbk", "/raw": "text/plain; charset=utf-8", "/picture": "image/png", "/page": "text/html; charset=gbk",
}

// sentBy is what a path of the test's site answers.
func sentBy(path string) string {
	return map[string]string{"/gbk": "\xb3\xc9\xb9\xa6\xff", "/raw": "a\xffb", "/picture": "\x89PNG\x00", "/page": gbkPage}[path]
}

func TestAFetchedPageIsShownAndKeptLikeAnyResult(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/rows":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "["+strings.Repeat(`{"id":1,"name":"a row of many"},`, 3000)+`{"id":2,"owner":"zoe"}]`)
		case "/flood":
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, strings.Repeat("0123456789abcde\n", 1<<20))
		case "/gbk", "/page", "/raw", "/picture":
			w.Header().Set("Content-Type", kindOf[r.URL.Path])
			_, _ = w.Write([]byte(sentBy(r.URL.Path)))
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

	if gbk := b.ok("fetch_url", arguments{"url": s.URL + "/gbk"}); gbk.Metadata.ReplacedBytes != 1 || gbk.Metadata.Encoding != "gbk" || !strings.HasSuffix(gbk.Content, "\n\n成功\uFFFD") {
		t.Errorf("%s\n%s", gbk.Metadata.Line(), gbk.Content)
	}
	if raw := b.ok("fetch_url", arguments{"url": s.URL + "/raw"}); raw.Metadata.ReplacedBytes != 1 || raw.Metadata.OutputID == "" || !strings.HasSuffix(raw.Content, "a\uFFFDb") {
		t.Errorf("%s\n%s", raw.Metadata.Line(), raw.Content)
	}
	if picture := b.ok("fetch_url", arguments{"url": s.URL + "/picture"}); !picture.Metadata.Binary || !strings.Contains(picture.Content, "image/png\nNot shown: this is no text. It has 5 bytes.") {
		t.Errorf("%s\n%s", picture.Metadata.Line(), picture.Content)
	}
	for path, want := range map[string]models.RetainedOutput{
		"/gbk":     {Original: "text/plain; charset=gbk", RawBytes: 5, ReplacedBytes: 1, Complete: true},
		"/raw":     {Original: "text/plain; charset=utf-8", RawBytes: 3, ReplacedBytes: 1, Complete: true},
		"/picture": {Original: "image/png", RawBytes: 5, Complete: true},
		"/page":    {Original: "text/html; charset=gbk", RawBytes: int64(len(gbkPage)), Complete: true},
	} {
		result := b.ok("fetch_url", arguments{"url": s.URL + path})
		kept, original := b.original(result.Metadata.OutputID)
		got := models.RetainedOutput{Original: kept.Original, RawBytes: kept.RawBytes, ReplacedBytes: kept.ReplacedBytes, Complete: kept.Complete}
		if sent := sentBy(path); !reflect.DeepEqual(got, want) || original != sent || result.Metadata.Truncated {
			t.Errorf("%s: %+v and %q of %q, %s", path, got, original, sent, result.Metadata.Line())
		}
	}
	page := b.ok("fetch_url", arguments{"url": s.URL + "/page"})
	if note := fmt.Sprintf("\nNote: this is the text of a page of %d bytes of HTML\n\n# 成功", len(gbkPage)); !strings.Contains(page.Content, note) || page.Metadata.Encoding != "gbk" {
		t.Errorf("%s\n%s", page.Metadata.Line(), page.Content)
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

// original is a kept copy, and what is downloaded of it.
func (b *bench) original(id string) (models.RetainedOutput, string) {
	b.t.Helper()
	kept, raw, err := retain.NewReader(b.store).Raw(b.ctx, "s1", id)
	if err != nil {
		b.t.Fatal(err)
	}
	bytes, err := io.ReadAll(raw)
	if err != nil {
		b.t.Fatal(err)
	}
	return kept, string(bytes)
}
