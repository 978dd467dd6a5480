package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gorilla/websocket"
)

const adminToken = "bench-0123456789abcdef"

// program is the running program, and a browser that is signed in to it.
type program struct {
	url     string
	cmd     *exec.Cmd
	log     bytes.Buffer
	browser *http.Client
	// ready is how long it took to answer.
	ready time.Duration
}

// startProgram starts it on a new data folder and waits for its first answer.
func (b *bench) startProgram(ctx context.Context, name string, env ...string) (*program, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	_ = listener.Close()
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	p := &program{url: "http://" + address, browser: &http.Client{Jar: jar}, cmd: exec.CommandContext(ctx, b.binary, "serve")}
	p.cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "OFFCUT_ADDR=" + address, "OFFCUT_ADMIN_TOKEN=" + adminToken,
		"OFFCUT_DATA_DIR=" + filepath.Join(b.dir, "data-"+name),
	}, env...)
	p.cmd.Stderr = &p.log
	begin := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for ctx.Err() == nil && time.Since(begin) < 10*time.Second {
		resp, err := http.Get(p.url + "/login")
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			p.ready = time.Since(begin)
			return p, p.signIn(ctx)
		}
		time.Sleep(time.Millisecond)
	}
	p.stop()
	return nil, fmt.Errorf("the program does not answer:\n%s", p.log.String())
}

func (p *program) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Wait()
}

func (p *program) signIn(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/login?token="+adminToken, nil)
	if err != nil {
		return err
	}
	resp, err := p.browser.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return errors.New("sign-in: " + resp.Status)
	}
	return nil
}

// api posts to the API and reads the answer into out.
func (p *program) api(ctx context.Context, path, body string, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s: %s", path, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

// frame is what the measurement reads of a live frame.
type frame struct {
	T     string `json:"t"`
	D     string `json:"d"`
	State string `json:"state"`
}

// answer asks in a new session and follows the answer as a browser does. It
// returns how long after the provider's first chunk the first and the last
// text came.
func (p *program) answer(ctx context.Context, from *provider) (first, whole time.Duration, err error) {
	var session struct{ ID string }
	if err := p.api(ctx, "/sessions", "{}", &session); err != nil {
		return 0, 0, err
	}
	dialer := websocket.Dialer{Jar: p.browser.Jar}
	conn, resp, err := dialer.DialContext(ctx, "ws"+strings.TrimPrefix(p.url, "http")+"/ws/sessions/"+session.ID, http.Header{"Origin": {p.url}})
	if err != nil {
		return 0, 0, fmt.Errorf("websocket: %w", err)
	}
	defer func() { _ = resp.Body.Close(); _ = conn.Close() }()
	if err := conn.WriteMessage(websocket.TextMessage, []byte(`{"t":"hello","after":0}`)); err != nil {
		return 0, 0, err
	}
	if err := p.api(ctx, "/sessions/"+session.ID+"/messages", `{"content":"Tell me."}`, &struct{}{}); err != nil {
		return 0, 0, err
	}
	var text strings.Builder
	for {
		var f frame
		if err := conn.ReadJSON(&f); err != nil {
			return 0, 0, fmt.Errorf("websocket: %w", err)
		}
		switch {
		case f.T == "text":
			if text.Len() == 0 {
				first = from.sinceBegun()
			}
			text.WriteString(f.D)
			whole = from.sinceBegun()
		case f.T == "state" && f.State == "done":
			if text.String() != strings.Join(from.text, "") {
				return 0, 0, fmt.Errorf("deltas were lost: %d bytes came", text.Len())
			}
			return first, whole, nil
		case f.T == "state" && f.State != "running" && f.State != "queued":
			return 0, 0, errors.New("the turn ended as " + f.State)
		}
	}
}

// start measures how soon the program answers, and what it takes when idle.
func (b *bench) start(ctx context.Context) error {
	var idle int64
	ready, err := median(5, func(i int) (time.Duration, error) {
		p, err := b.startProgram(ctx, fmt.Sprint("start", i))
		if err != nil {
			return 0, err
		}
		defer p.stop()
		time.Sleep(time.Second)
		idle, err = statusBytes(fmt.Sprint(p.cmd.Process.Pid), "RssAnon:")
		return p.ready, err
	})
	if err != nil {
		return err
	}
	b.delay("start to first answer, on an empty data folder", ready, 100*time.Millisecond)
	b.size("idle memory of its own, beside the mapped binary", idle, 30<<20)
	info, err := os.Stat(b.binary)
	if err != nil {
		return err
	}
	b.size("stripped binary", info.Size(), 50<<20)
	return nil
}
