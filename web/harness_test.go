package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/apart"
	"offcut/agent/events"
	"offcut/agent/mcp"
	"offcut/agent/query"
	"offcut/agent/retain"
	"offcut/agent/runner"
	"offcut/handlers"
	"offcut/handlers/password"
	"offcut/models"
	"offcut/models/retention"
	"offcut/models/store"
	"offcut/views/markdown"

	"github.com/PuerkitoBio/goquery"
)

// The people of the tests. Their tokens are their names with -token behind.
const (
	ann  = "ann"
	bob  = "bob"
	root = "admin"
)

const (
	adminToken = "the-admin-token-of-the-configuration"
	passphrase = "correct horse battery"
)

// server is a whole server on a real database, with a scripted model.
type server struct {
	*httptest.Server
	t        *testing.T
	store    *store.Store
	broker   *events.Broker
	script   *agenttest.Script
	spaces   *spaces
	log      *agenttest.Buffer
	stopping chan struct{}

	description described
}

// options change a server before it starts.
type options struct {
	basePath string
	config   func(*Config)
	tools    []agent.Tool
}

// root is the base path as addresses have it.
func (o options) root() string { return cleanBasePath(o.basePath) }

// Queries are answered by this program, executed again.
func TestMain(m *testing.M) {
	apart.Reexec()
	os.Exit(m.Run())
}

func start(t *testing.T, opts ...func(*options)) *server {
	t.Helper()
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	s := &server{
		t: t, broker: events.NewBroker(), script: agenttest.NewScript(), spaces: &spaces{}, log: &agenttest.Buffer{},
		stopping: make(chan struct{}),
	}
	db, err := store.Open(t.Context(), t.TempDir(), store.Options{Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	s.store = db
	s.addUsers()
	run := runner.New(runner.Config{
		Store: db, Broker: s.broker,
		Models: func(string) (agent.Model, runner.ModelInfo, error) {
			return s.script, runner.ModelInfo{Name: "scripted"}, nil
		},
		Tools:     append(o.tools, s.printer()),
		Workspace: func(string) (string, error) { return t.TempDir(), nil },
		Blocks:    func() runner.Blocks { return markdown.NewStream() },
		ReadsOf:   retain.ReadsOf,
		ReadsLeft: retain.ReadsLeft,
		Log:       slog.New(slog.DiscardHandler),
	})
	remover := retention.Remover{Runner: run, Store: db, Workspaces: s.spaces, Log: slog.New(slog.NewTextHandler(s.log, nil))}
	cfg := Config{Handlers: handlers.Config{
		Retention: retention.New(retention.Config{}), QuotaBytes: store.DefaultQuotaBytes, Remover: remover,
		BasePath: o.basePath, Version: "test", Store: db, Runner: run, Reader: retain.NewReader(db), Querier: query.New(retain.NewReader(db)), Broker: s.broker,
		Workspaces: s.spaces, Servers: mcp.New(mcp.Options{}), Markdown: markdown.Render, WebSessions: db.WebSessions(),
		Models: []string{"scripted", "other"}, AdminName: root, AdminToken: adminToken,
		Stopping: s.stopping, Log: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}}
	if o.config != nil {
		o.config(&cfg)
	}
	s.Server = httptest.NewServer(New(cfg))
	s.description = description(t, s.browser().get(o.root()+"/api/v1/openapi.json").body)
	t.Cleanup(func() {
		s.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := run.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func under(path string) func(*options)            { return func(o *options) { o.basePath = path } }
func with(f func(*Config)) func(*options)         { return func(o *options) { o.config = f } }
func offering(tools ...agent.Tool) func(*options) { return func(o *options) { o.tools = tools } }

func (s *server) url(path string) string        { return s.URL + path }
func (s *server) owner(name string) (id string) { return "usr_" + name }

func (s *server) must(err error) {
	s.t.Helper()
	must(s.t, err)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hashOnce is one password hash for all users of all tests: hashing is slow on
// purpose.
var hashOnce = sync.OnceValues(func() (string, error) { return password.Hash(context.Background(), passphrase) })

func (s *server) addUsers() {
	hash, err := hashOnce()
	s.must(err)
	for _, name := range []string{root, ann, bob} {
		role := models.RoleUser
		if name == root {
			role = models.RoleAdmin
		}
		now := time.Now()
		s.must(s.store.CreateUser(s.t.Context(), models.User{ID: s.owner(name), Name: name, Role: role, PasswordHash: hash, CreatedAt: now}))
		sum := sha256.Sum256([]byte(name + "-token"))
		s.must(s.store.CreateToken(s.t.Context(), models.APIToken{
			ID: "tok_" + name, UserID: s.owner(name), Hash: hex.EncodeToString(sum[:]), CreatedAt: now,
		}))
	}
}

// printer is a tool that prints its text argument and keeps the whole of it,
// showing the model the first and last hundred bytes.
func (s *server) printer() agent.Tool {
	return agenttest.ToolFunc("print", func(ctx context.Context, call agent.Call) (agent.ToolResult, error) {
		var arguments struct{ Text string }
		if err := json.Unmarshal(call.Arguments, &arguments); err != nil {
			return agent.ToolResult{}, err
		}
		return s.keep(ctx, call, arguments.Text)
	})
}

func (s *server) keep(ctx context.Context, call agent.Call, text string) (agent.ToolResult, error) {
	now, size := time.Now(), int64(len(text))
	out := models.RetainedOutput{
		ID: models.NewID(models.PrefixOutput), SessionID: call.SessionID, TurnID: call.TurnID, CallID: call.ID,
		Tool: call.Tool, Title: "print", TotalBytes: size, RawBytes: size, CapturedBytes: size, Complete: true, CreatedAt: now, EndedAt: &now,
	}
	if err := s.store.CreateOutput(ctx, out); err != nil {
		return agent.ToolResult{}, err
	}
	if err := s.store.WriteOutput(ctx, out, models.OutputWrite{Text: []byte(text)}); err != nil {
		return agent.ToolResult{}, err
	}
	shown := []models.Range{{Start: 0, End: min(100, size)}, {Start: max(size-100, 0), End: size}}
	return agent.ToolResult{ToolCallID: call.ID, Content: text[:min(100, size)], Metadata: models.ResultMetadata{
		Truncated: true, OutputID: out.ID, TotalBytes: &size, Complete: models.Ptr(true), Shown: models.MergeRanges(shown),
		CapturedBytes: &size, OmittedBytes: models.Ptr(int64(0)), Reasons: []models.Reason{models.ReasonPreview},
		Retention: models.RetentionKept, ExitCode: models.Ptr(0), ExecutionMS: models.Ptr(int64(12)),
	}}, nil
}

// prints is a step that prints text, and one that answers.
func (s *server) prints(text string) {
	arguments, err := json.Marshal(map[string]string{"text": text})
	s.must(err)
	s.script.Then(agenttest.Calls("print", string(arguments)), agenttest.Says("Printed."))
}

// spaces are the workspaces of a test: it remembers what was asked.
type spaces struct {
	mu      sync.Mutex
	copied  []string
	removed []string
	full    bool
	stuck   bool
}

func (w *spaces) Copy(_ context.Context, _, from, to string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.full {
		return models.Errorf(models.ErrTooLarge, "quota", "there is no room for the files")
	}
	w.copied = append(w.copied, from+" to "+to)
	return nil
}

func (w *spaces) Remove(_ context.Context, sessionID string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.removed = append(w.removed, sessionID)
	if w.stuck {
		return errors.New("the files stay")
	}
	return nil
}

func (w *spaces) Size(context.Context, string) (int64, error)  { return 42, nil }
func (w *spaces) Known(context.Context, string) (int64, error) { return 42, nil }

func (w *spaces) TotalBytes(context.Context) (int64, error) { return 4200, nil }

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("the answer %d is no JSON object: %v\n%s", a.status, err, clip(a.body))
	}
	return v
}

func (a answer) page(t *testing.T) *goquery.Document {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(a.body))
	must(t, err)
	return doc
}

func clip(b []byte) string { return string(b[:min(len(b), 600)]) }

// do sends a request with a client.
func do(t *testing.T, client *http.Client, r *http.Request) answer {
	t.Helper()
	res, err := client.Do(r)
	must(t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	must(t, err)
	return answer{res.StatusCode, res.Header, body}
}

// api calls the API as somebody ("" is nobody), and checks that the answer is
// as the description says.
func (s *server) api(as, method, path string, body any) answer {
	s.t.Helper()
	var content io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		content = strings.NewReader(b)
	case []byte:
		content = bytes.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		s.must(err)
		content = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url("/api/v1"+path), content)
	s.must(err)
	if as != "" {
		r.Header.Set("Authorization", "Bearer "+as+"-token")
	}
	a := do(s.t, s.Client(), r)
	s.description.check(s.t, method, path, a)
	return a
}

// wants calls the API and checks the status.
func (s *server) wants(status int, as, method, path string, body any) map[string]any {
	s.t.Helper()
	a := s.api(as, method, path, body)
	if a.status != status {
		s.t.Fatalf("%s %s by %q: status %d, want %d\n%s", method, path, as, a.status, status, clip(a.body))
	}
	if len(a.body) == 0 {
		return nil
	}
	return a.json(s.t)
}

// newSession makes a session and returns its id.
func (s *server) newSession(as string) string {
	s.t.Helper()
	return s.wants(201, as, "POST", "/sessions", nil)["id"].(string)
}

// says sends a message and waits until its turn rests.
func (s *server) says(as, session, content string) map[string]any {
	s.t.Helper()
	turn := s.wants(202, as, "POST", "/sessions/"+session+"/messages", map[string]string{"content": content})["turn_id"].(string)
	return s.rests(as, turn)
}

func (s *server) rests(as, turn string) map[string]any {
	s.t.Helper()
	v := s.wants(200, as, "GET", "/turns/"+turn+"?wait=20", nil)
	if state := v["state"]; state == "running" || state == "queued" {
		s.t.Fatalf("the turn is still %v after 20 s", state)
	}
	return v
}

// withOutput is a session of ann's with a kept output of the text.
func (s *server) withOutput(text string) (session, output string) {
	s.t.Helper()
	s.prints(text)
	session = s.newSession(ann)
	s.says(ann, session, "print it")
	items := s.wants(200, ann, "GET", "/sessions/"+session+"/outputs", nil)["items"].([]any)
	if len(items) != 1 {
		s.t.Fatalf("the session has %d kept outputs, want 1", len(items))
	}
	return session, items[0].(map[string]any)["id"].(string)
}

// browser is somebody's browser. It does not follow redirects by itself.
type browser struct {
	*http.Client
	s *server
}

func (s *server) browser() *browser {
	jar, err := cookiejar.New(nil)
	s.must(err)
	return &browser{s: s, Client: &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// signedIn is a browser in which somebody is signed in.
func (s *server) signedIn(name string) *browser {
	s.t.Helper()
	b := s.browser()
	if a := b.post("/login", url.Values{"name": {name}, "password": {passphrase}}); a.status != http.StatusSeeOther {
		s.t.Fatalf("signing in as %s: status %d\n%s", name, a.status, clip(a.body))
	}
	return b
}

func (b *browser) get(path string, header ...string) answer {
	b.s.t.Helper()
	return b.send(http.MethodGet, path, nil, header...)
}

// post sends a form with the token of the browser's cookie.
func (b *browser) post(path string, form url.Values, header ...string) answer {
	b.s.t.Helper()
	if b.cookie("offcut_csrf") == "" {
		b.get("/login")
	}
	sent := url.Values{"_csrf": {b.cookie("offcut_csrf")}}
	for name, values := range form {
		sent[name] = values
	}
	header = append([]string{"Content-Type", "application/x-www-form-urlencoded"}, header...)
	return b.send(http.MethodPost, path, strings.NewReader(sent.Encode()), header...)
}

// follow goes where an answer leads.
func (b *browser) follow(a answer) answer {
	b.s.t.Helper()
	if a.status != http.StatusSeeOther {
		b.s.t.Fatalf("the answer leads nowhere: %d\n%s", a.status, clip(a.body))
	}
	return b.get(a.header.Get("Location"))
}

func (b *browser) send(method, path string, body io.Reader, header ...string) answer {
	b.s.t.Helper()
	r, err := http.NewRequestWithContext(b.s.t.Context(), method, b.s.url(path), body)
	b.s.must(err)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return do(b.s.t, b.Client, r)
}

func (b *browser) cookie(name string) string {
	at, err := url.Parse(b.s.URL + "/")
	b.s.must(err)
	for _, cookie := range b.Jar.Cookies(at) {
		if cookie.Name == name {
			return cookie.Value
		}
	}
	return ""
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of the output\n", i+1)
	}
	return b.String()
}
