package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"offcut/agent/agenttest"
	"offcut/cmd/offcut/config"
)

// command runs the program in this process on the data folder dir.
func command(t *testing.T, dir, input string, args ...string) (status int, out, errs string) {
	t.Helper()
	stdin, err := os.Open(os.DevNull)
	if input != "" {
		path := filepath.Join(t.TempDir(), "input")
		if err := os.WriteFile(path, []byte(input), 0o600); err != nil {
			t.Fatal(err)
		}
		stdin, err = os.Open(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var stdout, stderr agenttest.Buffer
	status = run(t.Context(), args, []string{"OFFCUT_DATA_DIR=" + dir, "OFFCUT_ADDR=127.0.0.1:0"}, terminal{stdin, &stdout, &stderr})
	return status, stdout.String(), stderr.String()
}

// must is command, for what is to succeed.
func must(t *testing.T, dir string, args ...string) string {
	t.Helper()
	status, out, errs := command(t, dir, "", args...)
	if status != 0 {
		t.Fatalf("offcut %s: status %d, %s", strings.Join(args, " "), status, errs)
	}
	return out
}

// serving is an App on dir with a free port.
func serving(t *testing.T, dir string, environ ...string) (*App, *agenttest.Buffer, *agenttest.Buffer) {
	t.Helper()
	cfg, err := config.Load(config.Flags{}, append([]string{"OFFCUT_DATA_DIR=" + dir, "OFFCUT_ADDR=127.0.0.1:0", "OFFCUT_SANDBOX=off"}, environ...))
	if err != nil {
		t.Fatal(err)
	}
	var out, log agenttest.Buffer
	app := NewApp(cfg, newLog(&log), &out)
	if err := app.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := app.Close(); err != nil {
			t.Error(err)
		}
	})
	return app, &out, &log
}

// get is the status and the header of a GET; redirects are not followed.
func get(t *testing.T, address, token string) (int, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode, resp.Header
}

func TestWrongCommandLinesAreRefusedInOneLineEach(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"dance"}, "dance"},
		{[]string{"--adr", "x"}, "--adr"},
		{[]string{"user", "add"}, "<name>"},
		{[]string{"user", "add", "a b"}, "user name"},
		{[]string{"user", "add", "ann", "--role", "king"}, "admin"},
		{[]string{"user", "add", "ann", "--password", "short"}, "8 characters"},
		{[]string{"token", "create"}, "--user"},
		{[]string{"token", "create", "--user", "nobody"}, "nobody"},
		{[]string{"--sandbox", "maybe"}, "auto, required or off"},
		{[]string{"--config", "/nowhere.yaml"}, "/nowhere.yaml"},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			status, out, errs := command(t, t.TempDir(), "", tt.args...)
			if status == 0 || out != "" || !strings.HasPrefix(errs, "offcut: ") || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, tt.want) {
				t.Errorf("status %d, %q, %q", status, out, errs)
			}
		})
	}
}

func TestHelpAndVersionAreAnswered(t *testing.T) {
	if out := must(t, t.TempDir(), "--help"); !strings.Contains(out, "--data-dir") || !strings.Contains(out, "user add") {
		t.Errorf("help: %s", out)
	}
	if out := must(t, t.TempDir(), "version"); out != "offcut "+version+"\n" {
		t.Errorf("version: %q", out)
	}
}

func TestUsersAreLookedAfter(t *testing.T) {
	dir := t.TempDir()
	must(t, dir, "user", "add", "ann", "--role", "admin", "--password", "correct horse")
	if status, _, errs := command(t, dir, "", "user", "add", "ann", "--password", "correct horse"); status == 0 || !strings.Contains(errs, "ann") {
		t.Errorf("a second ann: status %d, %q", status, errs)
	}
	if out := must(t, dir, "user", "add", "bob"); !strings.Contains(out, "/login?token=") {
		t.Errorf("bob cannot sign in: %q", out)
	}
	if status, out, errs := command(t, dir, "battery staple\n", "user", "passwd", "bob"); status != 0 || !strings.Contains(out, "bob") {
		t.Errorf("status %d, %q, %q", status, out, errs)
	}
	if status, _, errs := command(t, dir, "", "user", "disable", "ann"); status == 0 || !strings.Contains(errs, "admin") {
		t.Errorf("the last admin: status %d, %q", status, errs)
	}
	must(t, dir, "user", "disable", "bob")
	if out := must(t, dir, "user", "list"); !strings.Contains(out, "ann") || !strings.Contains(out, "disabled") {
		t.Errorf("list: %s", out)
	}
	must(t, dir, "user", "disable", "bob", "--undo")
	if out := must(t, dir, "user", "list"); strings.Contains(out, "disabled") {
		t.Errorf("list: %s", out)
	}
}

func TestALinkThatIsMadeBesideTheServerLeadsToIt(t *testing.T) {
	dir := t.TempDir()
	app, _, _ := serving(t, dir) // on a port of its own, of which the command is not told
	words := strings.Fields(must(t, dir, "user", "add", "ann"))
	link := words[len(words)-1]
	if !strings.HasPrefix(link, app.URL()+"/login?token=") {
		t.Fatalf("the link is %q, the server at %s", link, app.URL())
	}
	if status, header := get(t, link, ""); status != http.StatusSeeOther || header.Get("Location") != "/" {
		t.Errorf("the link answers %d, to %q", status, header.Get("Location"))
	}
}

func TestATokenThatWasMadeBesideTheServerWorks(t *testing.T) {
	dir := t.TempDir()
	app, _, _ := serving(t, dir)
	must(t, dir, "user", "add", "ann", "--password", "correct horse")
	lines := strings.Fields(must(t, dir, "token", "create", "--user", "ann"))
	token := lines[len(lines)-1]
	sessions := app.URL() + "/api/v1/sessions"
	if status, _ := get(t, sessions, token); status != http.StatusOK {
		t.Errorf("the token answers %d", status)
	}
	must(t, dir, "user", "disable", "ann")
	if status, _ := get(t, sessions, token); status != http.StatusUnauthorized {
		t.Errorf("after ann was disabled it answers %d", status)
	}
}

func TestTheFirstStartPrintsALinkThatWorksOnce(t *testing.T) {
	_, out, log := serving(t, t.TempDir())
	at := strings.Index(out.String(), "http://127.0.0.1")
	link := out.String()[strings.LastIndex(out.String(), "http://"):]
	link = strings.TrimSpace(link)
	if at < 0 || !strings.Contains(link, "/login?token=") {
		t.Fatalf("printed %q", out)
	}
	status, header := get(t, link, "")
	if status != http.StatusSeeOther || strings.Contains(header.Get("Location"), "token") || len(header.Values("Set-Cookie")) == 0 {
		t.Errorf("the link answers %d, to %q", status, header.Get("Location"))
	}
	if status, header := get(t, link, ""); status != http.StatusSeeOther || header.Get("Location") != "/login?problem=link" {
		t.Errorf("again it answers %d, to %q", status, header.Get("Location"))
	}
	if token := link[strings.LastIndex(link, "=")+1:]; strings.Contains(log.String(), token) {
		t.Error("the link is in the log")
	}
}

func TestALinkIsPrintedUntilSomebodyHasSignedIn(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		name   string
		before func()
		env    []string
		link   bool
	}{
		{name: "the first start", link: true},
		{name: "nobody has signed in", link: true},
		{name: "a token is set", env: []string{"OFFCUT_ADMIN_TOKEN=t-0123456789abcdef"}},
		{name: "a password is set", before: func() { must(t, dir, "user", "passwd", "admin", "--password", "correct horse") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.before != nil {
				tt.before()
			}
			_, out, _ := serving(t, dir, tt.env...)
			if got := strings.Contains(out.String(), "/login?token="); got != tt.link {
				t.Errorf("printed %q", out)
			}
		})
	}
}

func TestTheAdminTokenIsATokenAndASignInSecret(t *testing.T) {
	app, out, log := serving(t, t.TempDir(), "OFFCUT_ADMIN_TOKEN=t-0123456789abcdef", "OFFCUT_BASE_PATH=/chat")
	if strings.Contains(out.String(), "t-0123456789abcdef") {
		t.Errorf("it is printed: %q", out)
	}
	if status, _ := get(t, app.URL()+"/api/v1/admin/users", "t-0123456789abcdef"); status != http.StatusOK {
		t.Errorf("as a token it answers %d", status)
	}
	if status, header := get(t, app.URL()+"/login?token=t-0123456789abcdef", ""); status != http.StatusSeeOther || header.Get("Location") != "/chat/" {
		t.Errorf("as a secret it answers %d, to %q", status, header.Get("Location"))
	}
	if strings.Contains(log.String(), "t-0123456789abcdef") {
		t.Error("it is in the log")
	}
}

func TestTroubleAtTheStartIsOneClearLine(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	served := t.TempDir()
	serving(t, served)
	unknown := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(unknown, []byte("tools:\n  run_comand:\n    previewBytes: 1000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		args []string
		want []string
	}{
		{"a port in use", []string{"--addr", taken.Addr().String()}, []string{taken.Addr().String(), "in use", "OFFCUT_ADDR"}},
		{"a folder that is a file", []string{"--data-dir", file}, []string{"OFFCUT_DATA_DIR", file}},
		{"a folder below a file", []string{"--data-dir", filepath.Join(file, "x")}, []string{"OFFCUT_DATA_DIR", filepath.Join(file, "x"), "the path of a folder"}},
		{"a folder that another one serves", []string{"--data-dir", served}, []string{served, "another offcut", "OFFCUT_DATA_DIR"}},
		{"settings of no tool", []string{"--config", unknown}, []string{"tools.run_comand", "run_command"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, out, errs := command(t, t.TempDir(), "", tt.args...)
			last := errs[strings.LastIndex(strings.TrimSpace(errs), "\n")+1:]
			if status != exitFailed || out != "" || !strings.HasPrefix(last, "offcut: ") {
				t.Fatalf("status %d, %q, %q", status, out, errs)
			}
			for _, want := range tt.want {
				if !strings.Contains(last, want) {
					t.Errorf("%q does not say %q", last, want)
				}
			}
		})
	}
}

func TestASignalEndsServingInOrder(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out, errs agenttest.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve"}, []string{"OFFCUT_DATA_DIR=" + t.TempDir(), "OFFCUT_ADDR=127.0.0.1:0", "OFFCUT_SANDBOX=off"}, terminal{os.Stdin, &out, &errs})
	}()
	for !strings.Contains(out.String(), "Offcut is at") {
		time.Sleep(time.Millisecond)
	}
	cancel()
	select {
	case status := <-ended:
		if status != 0 {
			t.Errorf("status %d, %s", status, errs.String())
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it does not end")
	}
}

func TestOnlyTheOwnerOfTheDataCanReadIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	serving(t, dir)
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
