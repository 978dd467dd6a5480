package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/net/dns/dnsmessage"

	"offcut/agent"
	"offcut/agent/apart"
)

func TestMain(m *testing.M) {
	apart.Reexec()
	os.Exit(m.Run())
}

// site serves what the tests ask for.
func site(t *testing.T, handle http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return s
}

func fetcher(t *testing.T, cfg Config) *Fetcher {
	t.Helper()
	f, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// local may fetch from the tests' own servers.
func local(t *testing.T) *Fetcher { return fetcher(t, Config{Allow: []string{"127.0.0.1"}}) }

func get(t *testing.T, f *Fetcher, address string) (string, error) {
	t.Helper()
	_, text, err := f.Fetch(t.Context(), "ann", address, false)
	if err != nil {
		return "", err
	}
	return text.Content(), nil
}

// refused is why an address was not fetched.
func refused(t *testing.T, f *Fetcher, address, says string) {
	t.Helper()
	content, err := get(t, f, address)
	var why Refused
	if !errors.As(err, &why) || !strings.Contains(string(why), says) || strings.Contains(string(why), "127.0.0.") {
		t.Errorf("%s: %.200q, %v; want %q", address, content, err, says)
	}
}

func TestAnInternalServerIsNotReached(t *testing.T) {
	reached := false
	s := site(t, func(http.ResponseWriter, *http.Request) { reached = true })
	refused(t, fetcher(t, Config{}), s.URL, "not the public internet")
	// A proxy would reach it.
	t.Setenv("HTTP_PROXY", s.URL)
	t.Setenv("http_proxy", s.URL)
	if _, err := get(t, fetcher(t, Config{Timeout: time.Second, Resolver: names(t, nil)}), "http://example.test/"); err == nil {
		t.Error("a proxy of the environment is used")
	}
	if reached {
		t.Error("the server was asked")
	}
}

func TestRedirectsAreCheckedLikeAddresses(t *testing.T) {
	var other string
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/end":
			if r.Header.Get("Referer") != "" || r.Header.Get("Cookie") != "" {
				t.Error("the server is told where somebody came from")
			}
			fmt.Fprint(w, "the end")
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/ten":
			n := len(r.URL.Query().Get("n"))
			if n == 10 {
				http.Redirect(w, r, "/end", http.StatusFound)
				return
			}
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
			http.Redirect(w, r, "/ten?n="+strings.Repeat("x", n+1), http.StatusFound)
		default:
			http.Redirect(w, r, other, http.StatusMovedPermanently)
		}
	})
	f := local(t)
	for _, other = range []string{"http://127.0.0.2/", "http://localhost:80/", "http://2130706433/", "http://[::1]/", "file:///etc/passwd", "http://u:p@example.org/", "http://169.254.169.254/", "//127.0.0.3/x", "http://[::ffff:127.0.0.9]/"} {
		content, err := get(t, f, s.URL)
		if err == nil || !strings.Contains(err.Error(), "redirects to an address that is not fetched") {
			t.Errorf("redirected to %s: %q, %v", other, content, err)
		}
	}
	other = "/end"
	content, err := get(t, f, s.URL)
	if err != nil || !strings.HasPrefix(content, "200 OK\nURL: "+s.URL+"/end (after redirects)\nContent-Type: text/plain; charset=utf-8\n\nthe end") {
		t.Errorf("%q, %v", content, err)
	}
	other = "/ten?n=x"
	if _, err = get(t, f, s.URL); err == nil || !strings.Contains(err.Error(), "more than 10 times") {
		t.Errorf("eleven redirects: %v", err)
	}
	if content, err = get(t, f, s.URL+"/ten?n=x"); err != nil || !strings.HasSuffix(content, "the end") {
		t.Errorf("ten redirects: %q, %v", content, err)
	}
	if _, err = get(t, f, s.URL+"/loop"); err == nil {
		t.Error("a loop of redirects ends well")
	}
}

// names is a resolver whose answers are what the function gives for each
// question in turn.
func names(t *testing.T, answer func(n int, name string) net.IP) *net.Resolver {
	t.Helper()
	listener, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		buffer := make([]byte, 1500)
		for asked := 0; ; {
			n, from, err := listener.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) == 0 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Additionals, m.RCode = true, nil, dnsmessage.RCodeSuccess
			if answer == nil {
				m.RCode = dnsmessage.RCodeNameError
			} else if q.Type == dnsmessage.TypeA {
				asked++
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body:   &dnsmessage.AResource{A: [4]byte(answer(asked, q.Name.String()).To4())},
				}}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = listener.WriteTo(out, from)
			}
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		served.Wait()
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", listener.LocalAddr().String())
	}}
}

func TestWhatANameLeadsToIsCheckedWhenItIsDialled(t *testing.T) {
	s := site(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "secret") })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
	for _, address := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0", "192.168.0.1", "100.64.3.2"} {
		f := fetcher(t, Config{Resolver: names(t, func(int, string) net.IP { return net.ParseIP(address) })})
		refused(t, f, "http://public.example.test:"+port+"/", "not the public internet")
	}

	// The answers change: the first is allowed, those after it are not.
	f := fetcher(t, Config{Allow: []string{"127.0.0.1"}, Resolver: names(t, func(n int, _ string) net.IP {
		return net.IPv4(127, 0, 0, byte(min(n, 2)))
	})})
	if content, err := get(t, f, "http://rebinding.test:"+port+"/"); err != nil || !strings.HasSuffix(content, "secret") {
		t.Errorf("the first time: %q, %v", content, err)
	}
	refused(t, f, "http://rebinding.test:"+port+"/", "not the public internet")

	// A name that is allowed may lead anywhere; what it redirects to may not.
	f = fetcher(t, Config{Allow: []string{"wiki.test"}, Resolver: names(t, func(int, string) net.IP { return net.IPv4(127, 0, 0, 1) })})
	if content, err := get(t, f, "http://WIKI.test.:"+port+"/"); err != nil || !strings.HasSuffix(content, "secret") {
		t.Errorf("an allowed name: %q, %v", content, err)
	}
	refused(t, f, "http://other.test:"+port+"/", "not the public internet")
	refused(t, fetcher(t, Config{Resolver: names(t, nil)}), "http://nothing.test/", "no host of that name")
}

func TestAnAnswerIsReadByItsType(t *testing.T) {
	article := "<html><head><title>A  <b>title</title></head><body><nav><a href=/menu>the menu</a></nav><article><h1>Head</h1>" +
		strings.Repeat("<p>Some words of the article, and <a href=more>more of them</a>, so that it is one, with commas.</p>", 20) +
		"<table><tr><th>a</th></tr><tr><td>1</td></tr></table><img alt=dot src='data:image/png;base64,AAAA'></article><script>alert(1)</script></body></html>"
	for name, test := range map[string]struct {
		kind, body string
		says       []string
		never      string
		replaced   int64
		encoding   string
	}{
		"an article":          {"text/html", article, []string{"\nTitle: A <b>title\nNote: this is the main text", "[more of them](http://", "/x/more)"}, "menu](", 0, ""},
		"a short page":        {"text/html; charset=utf-8", "<h1>Hi</h1><p>there <a href=/b>link</a><script>x()</script>", []string{"# Hi\n\nthere [link](http://"}, "x()", 0, ""},
		"a page in Latin-1":   {"text/html; charset=iso-8859-1", "<p>caf\xe9", []string{"café"}, "", 0, "windows-1252"},
		"a page's own words":  {"text/html", "<meta charset=gbk><p>\xb3\xc9\xb9\xa6", []string{"成功"}, "", 0, "gbk"},
		"bad bytes of a page": {"text/html; charset=utf-8", "<p>a\xffb\xfe", []string{"a\uFFFDb\uFFFD"}, "", 2, "not UTF-8"},
		"a page too deep":     {"text/html", strings.Repeat("<div>", 1000) + "the text<script>x()</script>", []string{"Note: the page is nested too deeply", "the text"}, "x()", 0, ""},
		"JSON":                {"application/json", `{"a": 1.10}`, []string{"application/json\n\n{\"a\": 1.10}"}, "", 0, ""},
		"JSON of some kind":   {"application/ld+json; charset=latin1", "{\"a\": \"é\"}", []string{"{\"a\": \"é\"}"}, "", 0, ""},
		"text":                {"text/plain", "one\ntwo\n", []string{"\n\none\ntwo\n"}, "", 0, ""},
		"text in GBK":         {"text/plain; charset=gbk", "\xb3\xc9\xb9\xa6\xff", []string{"成功\uFFFD"}, "", 1, "gbk"},
		"text in UTF-16":      {"text/plain", "\xff\xfeh\x00i\x00", []string{"\n\nhi"}, "\uFFFD", 0, "utf-16le"},
		"a picture":           {"image/png", "\x89PNG\x00", []string{"image/png\nNot shown: this is no text. It has 5 bytes."}, "PNG", 0, ""},
		"text that is none":   {"text/plain", "a\x00b", []string{"Not shown: this is no text. It has 3 bytes."}, "", 0, ""},
		"no type":             {"", "<!doctype html><p>hello", []string{"Content-Type: text/html", "hello"}, "<p>", 0, ""},
		"a type over lines":   {"text/x-a\tb", "body", []string{"Content-Type: text/plain; charset=utf-8\n\nbody"}, "", 0, ""},
		"nothing":             {"text/html", "", []string{"200 OK"}, "", 0, ""},
		"text with a mark":    {"text/plain", "\uFEFFhi", []string{"\n\nhi"}, "\uFEFF", 0, "UTF-8 with BOM"},
		"text of bad bytes":   {"text/plain; charset=utf-8", "a\xffb", []string{"a\xffb"}, "", 0, "not UTF-8"},
		"an unknown charset":  {"text/plain; charset=klingon", "caf\xc3\xa9", []string{"café"}, "", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := site(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Content-Type"] = nil
				if test.kind != "" {
					w.Header().Set("Content-Type", test.kind)
				}
				_, _ = io.WriteString(w, test.body)
			})
			answer, text, err := local(t).Fetch(t.Context(), "ann", s.URL+"/x/page", false)
			if err != nil {
				t.Fatal(err)
			}
			got := text.Content()
			for _, words := range test.says {
				if !strings.Contains(got, words) {
					t.Errorf("%q is not said in %q", words, got)
				}
			}
			if test.never != "" && strings.Contains(got, test.never) || text.ReplacedBytes != test.replaced || text.Encoding != test.encoding || strings.Contains(got, "AAAA") {
				t.Errorf("%d replaced, in %q: %q", text.ReplacedBytes, text.Encoding, got)
			}
			if same := strings.HasSuffix(got, "\n\n"+test.body) && utf8.ValidString(test.body); text.Made == same {
				t.Errorf("made of something else: %v", text.Made)
			}
			if whole, err := answer.read(t.Context(), true); name == "an article" && (err != nil || !strings.Contains(whole.Body, "[the menu](http://")) {
				t.Errorf("all of it: %q, %v", whole.Body, err)
			}
		})
	}
}

func TestAnAnswerIsBoundedAndSaysSo(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 1<<20)
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		switch r.URL.Path {
		case "/bomb":
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			_, _ = io.WriteString(z, long)
			_ = z.Close()
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		case "/slow":
			_, _ = io.WriteString(w, "the beginning")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/headers":
			for i := range 200 {
				w.Header().Set(fmt.Sprintf("X-%d", i), long[:1024])
			}
			_, _ = io.WriteString(w, "behind the headers")
		case "/drips":
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, ".")
				w.(http.Flusher).Flush()
				time.Sleep(5 * time.Millisecond)
			}
		case "/brotli":
			w.Header().Set("Content-Encoding", "br")
			_, _ = io.WriteString(w, "\x0b\x02\x80hello\x03")
		case "/silent":
			<-r.Context().Done()
		case "/breaks":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half")
		case "/404":
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "no such page")
		case "/exact":
			_, _ = io.WriteString(w, long[:MaxBytes])
		case "/video":
			w.Header().Set("Content-Type", "video/mp4")
			w.Header().Set("Content-Length", fmt.Sprint(len(long)))
			_, _ = io.WriteString(w, long)
		default:
			_, _ = io.WriteString(w, long)
		}
	})
	f := fetcher(t, Config{Allow: []string{"127.0.0.1"}, Timeout: time.Minute})
	short := fetcher(t, Config{Allow: []string{"127.0.0.1"}, Timeout: 300 * time.Millisecond})
	for name, test := range map[string]struct {
		fetcher *Fetcher
		path    string
		cut     bool
		says    string
		bytes   int
	}{
		"long":                                   {f, "/long", true, "\nIncomplete: only its first 8388608 bytes were read\n\n0123", MaxBytes},
		"a packed bomb":                          {f, "/bomb", true, "\nIncomplete: only its first 8388608 bytes were read", MaxBytes},
		"exactly as much":                        {f, "/exact", false, "\n\n0123", MaxBytes},
		"slow":                                   {short, "/slow", true, "\nIncomplete: it had not come whole after 300ms: its first 13 bytes were read\n\nthe beginning", 13},
		"packed in a way that was not asked for": {f, "/brotli", false, "\nContent-Encoding: br, which is not unpacked here\nNot shown: this is no text. It has 9 bytes.", 0},
		"broken off":                             {f, "/breaks", true, "\nIncomplete: the connection broke: its first 4 bytes were read\n\nhalf", 4},
		"not found":                              {f, "/404", false, "404 Not Found\n", 12},
		"a video":                                {f, "/video", true, "Not shown: this is no text. It has 16777216 bytes.", 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, text, err := test.fetcher.Fetch(t.Context(), "ann", s.URL+test.path, false)
			if err != nil || text.Cut != test.cut || len(text.Body) != test.bytes || !strings.Contains(text.Content()[:min(500, len(text.Content()))], test.says) {
				t.Errorf("cut %v, %d bytes, %.300q, %v", text.Cut, len(text.Body), text.Content(), err)
			}
		})
	}
	refused(t, f, s.URL+"/headers", "did not answer as HTTP does")
	began := time.Now()
	if content, err := get(t, short, s.URL+"/drips"); err != nil || !strings.Contains(content, "\nIncomplete: it had not come whole after 300ms") || time.Since(began) > 30*time.Second {
		t.Errorf("drop by drop: %.200q, %v, after %v", content, err, time.Since(began))
	}
	refused(t, short, s.URL+"/silent", "did not answer within 300ms")
	s.Close()
	refused(t, f, s.URL, "could not be connected to")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := f.Fetch(ctx, "ann", s.URL, false); !errors.Is(err, context.Canceled) {
		t.Errorf("whoever stopped is told %v", err)
	}
}

// children are the processes of this one that read pages now.
func children(t *testing.T) (n int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		var state string
		var parent int
		_, rest, _ := strings.Cut(string(stat), ") ")
		if _, err := fmt.Sscan(rest, &state, &parent); err == nil && parent == os.Getpid() && state != "Z" {
			n++
		}
	}
	return n
}

func TestAPlaceIsHeldUntilThePageIsRead(t *testing.T) {
	s := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, strings.Repeat("<p>a<b>c", 40_000))
	})
	f := local(t)
	f.running = agent.NewPlaces(agent.PlaceLimits{What: "fetches", PerUser: 1, All: 1, Patience: time.Minute})
	var group sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		group.Go(func() { _, _ = get(t, f, s.URL) }) // it may be too intricate
	}
	go func() { group.Wait(); close(done) }()
	most := 0
	for {
		select {
		case <-done:
			if most != 1 {
				t.Errorf("%d pages were read at the same time, with one place", most)
			}
			return
		case <-time.After(5 * time.Millisecond):
			most = max(most, children(t))
		}
	}
}
