package mcp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"offcut/models"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const bearer = "Bearer s3cret-0123456789"

// remoteServer is the test's server over streamable HTTP, for whoever has the
// header.
func remoteServer(t *testing.T, server *sdk.Server) *httptest.Server {
	t.Helper()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != bearer {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return web
}

func at(url string) Server {
	return Server{Name: "remote", URL: url, Headers: map[string]string{"Authorization": bearer}, Secrets: []string{bearer, strings.TrimPrefix(bearer, "Bearer ")}}
}

func TestAServerIsReachedOverHTTP(t *testing.T) {
	web := remoteServer(t, toolServer())
	h := newHouse(t, at(web.URL+"/mcp?key=hidden-in-the-address"))
	if got := h.call("remote__fail", args{}); !got.IsError || got.Content != "it is not there" {
		t.Errorf("%+v", got)
	}
	if got := h.call("remote__secret", args{}); got.Content != "the token is [redacted]" {
		t.Errorf("the model is told %q", got.Content)
	}
	h.call("remote__grow", args{})
	s := h.until("grown", func(s models.ToolServer) bool {
		return slices.ContainsFunc(s.Tools, func(t models.ServerTool) bool { return t.Name == "remote__grown" })
	})
	if s.Local || s.Address != web.URL+"/mcp" {
		t.Errorf("it is %+v", s)
	}
}

// Hosted servers have their tokens in the path, and the page of the servers
// shows addresses.
func TestAnAddressIsShownWithoutItsToken(t *testing.T) {
	const token = "a8Xk29fQm1Lz77Tb"
	s := newHouse(t, at("https://app:hunter-2@mcp.example.org/s/"+token+"/mcp?v=1")).servers.Status()[0]
	if s.Address != "https://mcp.example.org/s/[redacted]/mcp" {
		t.Errorf("its address is %q", s.Address)
	}
}

func TestAStopIsToldARemoteServer(t *testing.T) {
	begun, told := make(chan error, 1), make(chan error, 1)
	server := sdk.NewServer(&sdk.Implementation{Name: "waits", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "wait"}, func(ctx context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		begun <- nil
		<-ctx.Done()
		told <- nil
		return nil, nil, ctx.Err()
	})
	h := newHouse(t, at(remoteServer(t, server).URL))
	tool := h.tool("remote__wait")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := tool.Run(ctx, h.newCall("remote__wait", args{}))
		ended <- err
	}()
	_ = within(t, begun)
	stopped := time.Now()
	stop()
	if err := within(t, ended); err == nil || time.Since(stopped) > time.Second {
		t.Errorf("it ended after %v with %v", time.Since(stopped), err)
	}
	_ = within(t, told)
}

// within is what comes of something that comes soon.
func within(t *testing.T, soon <-chan error) error {
	t.Helper()
	select {
	case err := <-soon:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("it does not come")
		return nil
	}
}

func TestAHeaderGoesToItsOwnHostAlone(t *testing.T) {
	var leaked atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		leaked.Store(leaked.Load() || r.Header.Get("Authorization") != "")
	}))
	t.Cleanup(other.Close)
	web := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(web.Close)
	h := newHouse(t, at(web.URL+"?key=hidden-in-the-address"))
	h.names()
	s := h.until("failed", inState(models.ServerFailed))
	if leaked.Load() || !strings.Contains(s.Error, "leads elsewhere") {
		t.Errorf("leaked %v; it is %+v", leaked.Load(), s)
	}
	if strings.Contains(s.Error+h.logs.String(), "hidden-in-the-address") {
		t.Errorf("the address is told: %q and %q", s.Error, h.logs)
	}
}

func TestWhoIsNotLetInIsTold(t *testing.T) {
	server := at(remoteServer(t, toolServer()).URL)
	server.Headers = map[string]string{"Authorization": "Bearer wrong-0123456789"}
	server.Secrets = []string{"wrong-0123456789"}
	h := newHouse(t, server, Server{Name: "dead", URL: "http://127.0.0.1:1/mcp"})
	if names := h.names(); len(names) != 0 {
		t.Errorf("offered %q", names)
	}
	all := h.servers.Status()
	if s := all[0]; s.State != models.ServerFailed || !strings.Contains(s.Error, "Unauthorized") {
		t.Errorf("it is %+v", s)
	}
	if s := all[1]; s.State != models.ServerFailed || !strings.Contains(s.Error, "connection refused") {
		t.Errorf("it is %+v", s)
	}
	if strings.Contains(h.logs.String(), "wrong-0123456789") {
		t.Errorf("the log has the token: %s", h.logs)
	}
}

func TestARemoteServerThatForgotTheSessionIsMetAgain(t *testing.T) {
	server := toolServer()
	var handler atomic.Pointer[sdk.StreamableHTTPHandler]
	begin := func() {
		handler.Store(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	}
	begin()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.Load().ServeHTTP(w, r) }))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	h := newHouse(t, at(web.URL))
	h.call("remote__nothing", args{})
	begin()
	web.CloseClientConnections()
	for range 100 {
		if got := h.call("remote__fail", args{}); got.Content == "it is not there" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("it is never met again: %+v", h.servers.Status())
}

func TestTheStatusOfARefusedCallIsTold(t *testing.T) {
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return toolServer() }, nil)
	var refuses atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch status := int(refuses.Load()); {
		case status == http.StatusTemporaryRedirect:
			http.Redirect(w, r, "http://elsewhere.example/", status)
		case status != 0:
			http.Error(w, "a secret of its own", status)
		default:
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	h := newHouse(t, at(web.URL))
	tool := h.tool("remote__fail")
	for status, says := range map[int]string{
		http.StatusInternalServerError: "answered remote__fail with the HTTP status 500 Internal Server Error; its effects are unknown",
		http.StatusTooManyRequests:     "with the HTTP status 429 Too Many Requests",
		http.StatusTemporaryRedirect:   "with the HTTP status 307 Temporary Redirect",
	} {
		refuses.Store(int32(status))
		result, err := tool.Run(t.Context(), h.newCall("remote__fail", args{}))
		if err != nil || !result.IsError || !strings.Contains(result.Content, says) || strings.Contains(result.Content, "secret") {
			t.Errorf("%d: %q, %v", status, result.Content, err)
		}
	}
}

func TestTheEnvironmentHoldsNoSecret(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-this-program")
	t.Setenv("OFFCUT_ADMIN_TOKEN", "admin-of-this-program")
	server := own(t, "tools")
	server.Env["TOKEN"], server.Env["PLAIN"] = "s3cret-of-the-server", "as it is"
	server.Secrets = []string{"s3cret-of-the-server"}
	h := newHouse(t, server)
	env := h.call("own__env", args{}).Content
	if strings.Contains(env, "of-this-program") || !strings.Contains(env, "PATH=/") || !strings.Contains(env, "PLAIN=as it is") || !strings.Contains(env, "TOKEN=[redacted]") {
		t.Errorf("its environment is %s", env)
	}
	s := h.servers.Status()[0]
	if !strings.Contains(s.Stderr, "started with [redacted] [31mred\n") || !strings.Contains(s.Stderr, "This server greets on its standard output.") {
		t.Errorf("it wrote %q", s.Stderr)
	}
	if strings.Contains(h.logs.String(), "s3cret") {
		t.Errorf("the log has the secret: %s", h.logs)
	}
}

// Both ways in which a remote server answers: as a stream of events, and as one
// body of JSON.
func TestWhatARemoteServerAnswersIsMendedAndBounded(t *testing.T) {
	for name, opts := range map[string]*sdk.StreamableHTTPOptions{"events": nil, "JSON": {JSONResponse: true}} {
		t.Run(name, func(t *testing.T) {
			handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return toolServer() }, opts)
			web := httptest.NewServer(handler)
			t.Cleanup(func() {
				web.CloseClientConnections()
				web.Close()
			})
			h := newHouse(t, at(web.URL))
			if got := h.call("remote__exact", args{}); got.Content != `{"id":9007199254740993,"note":"成功"}` {
				t.Errorf("structured content is %q", got.Content)
			}
			flood, fail, large := h.tool("remote__flood"), h.tool("remote__fail"), h.tool("remote__large")
			result, err := flood.Run(t.Context(), h.newCall("remote__flood", args{}))
			if err != nil || !result.IsError || !strings.Contains(result.Content, "an answer may have at most 32 MiB") {
				t.Fatalf("%.300q, %v", result.Content, err)
			}
			if result, err = fail.Run(t.Context(), h.newCall("remote__fail", args{})); err != nil || result.Content != "it is not there" {
				t.Errorf("the next call: %+v, %v", result, err)
			}
			h.isLarge(large.Run(t.Context(), h.newCall("remote__large", args{})))
		})
	}
}
