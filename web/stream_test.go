package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"offcut/agent/agenttest"
	"offcut/agent/events"

	"github.com/PuerkitoBio/goquery"
	"github.com/gorilla/websocket"
)

// frame is what a browser gets.
type frame struct {
	Type    string `json:"t"`
	Seq     int64  `json:"seq"`
	ID      string `json:"id"`
	Text    string `json:"d"`
	HTML    string `json:"html"`
	Rest    string `json:"rest"`
	Call    string `json:"call"`
	Bytes   int64  `json:"bytes"`
	Target  string `json:"target"`
	Swap    string `json:"swap"`
	Content string `json:"content"`
	Turn    string `json:"turn"`
	State   string `json:"state"`
}

// watch opens a live connection as a page of the browser would; nil and the
// status where that is refused.
func (b *browser) watch(session string, header ...string) (*websocket.Conn, int) {
	b.s.t.Helper()
	h := http.Header{"Origin": {b.s.URL}}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	dialer := websocket.Dialer{Jar: b.Jar}
	conn, res, err := dialer.DialContext(b.s.t.Context(), "ws"+strings.TrimPrefix(b.s.URL, "http")+"/ws/sessions/"+session, h)
	if res == nil {
		b.s.t.Fatal(err)
	}
	b.s.must(res.Body.Close())
	if err != nil {
		return nil, res.StatusCode
	}
	b.s.t.Cleanup(func() { _ = conn.Close() })
	return conn, res.StatusCode
}

// watching opens one and asks for what came after an event.
func (b *browser) watching(session string, after int64) *websocket.Conn {
	b.s.t.Helper()
	conn, status := b.watch(session)
	if conn == nil {
		b.s.t.Fatalf("watch: status %d", status)
	}
	b.s.must(conn.WriteJSON(map[string]any{"t": "hello", "after": after}))
	return conn
}

// next is the next frame, or how the connection was closed.
func next(t *testing.T, conn *websocket.Conn) (f frame, code int) {
	t.Helper()
	must(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
	_, data, err := conn.ReadMessage()
	var closed *websocket.CloseError
	if errors.As(err, &closed) {
		return frame{}, closed.Code
	}
	must(t, err)
	must(t, json.Unmarshal(data, &f))
	return f, 0
}

// seqOf is where a page that is loaded now goes on.
func (b *browser) seqOf(session string) int64 {
	b.s.t.Helper()
	var seq int64
	_, err := fmt.Sscan(b.get("/s/"+session).page(b.s.t).Find("#chat").AttrOr("data-seq", ""), &seq)
	b.s.must(err)
	return seq
}

// screen is a page as the frames make it: the answer's text, by its parts.
type screen struct {
	parts map[string]*part
	order []string
	cards map[string]string
	last  int64
}

type part struct{ sealed, tail string }

func newScreen() *screen { return &screen{parts: map[string]*part{}, cards: map[string]string{}} }

// show applies a frame; false where it was seen before.
func (s *screen) show(t *testing.T, f frame) bool {
	t.Helper()
	if f.Seq != 0 {
		if f.Seq <= s.last {
			return false
		}
		s.last = f.Seq
	}
	switch f.Type {
	case "text":
		s.parts[f.ID].tail += f.Text
	case "seal":
		s.parts[f.ID].sealed += f.HTML
		s.parts[f.ID].tail = f.Rest
	case "html":
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(f.Content))
		must(t, err)
		doc.Find(".part").Each(func(_ int, p *goquery.Selection) {
			id := strings.TrimPrefix(p.AttrOr("id", ""), "p-")
			if s.parts[id] == nil {
				s.order = append(s.order, id)
			}
			html, err := p.Find(".blocks").Html()
			must(t, err)
			s.parts[id] = &part{sealed: html, tail: p.Find(".tail").Text()}
		})
		doc.Find("[data-testid=tool-card]").Each(func(_ int, c *goquery.Selection) {
			s.cards[c.AttrOr("id", "")] += c.AttrOr("data-state", "") + " "
		})
	}
	return true
}

// text is the answer's text.
func (s *screen) text(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	for _, id := range s.order {
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(s.parts[id].sealed))
		must(t, err)
		out.WriteString(doc.Text() + s.parts[id].tail)
	}
	return out.String()
}

func TestAnAnswerComesWholeOverThreeLostConnections(t *testing.T) {
	t.Parallel()
	s := start(t)
	var chunks []string
	for i := range 120 {
		chunks = append(chunks, fmt.Sprintf("w%d ", i))
	}
	s.script.Then(agenttest.Streams(chunks, 10*time.Millisecond))
	id := s.newSession(ann)
	b := s.signedIn(ann)
	seen := newScreen()
	seen.last = b.seqOf(id)
	conn := b.watching(id, seen.last)
	turn := s.wants(202, ann, "POST", "/sessions/"+id+"/messages", `{"content":"go"}`)["turn_id"].(string)

	var deltas strings.Builder
	drops, done := 0, false
	for !done {
		f, code := next(t, conn)
		if code != 0 {
			t.Fatalf("closed with %d", code)
		}
		if !seen.show(t, f) {
			t.Errorf("the event %d came twice", f.Seq)
		}
		if f.Type == "text" {
			deltas.WriteString(f.Text)
		}
		if f.Type == "text" && drops < 3 && deltas.Len() > 100*(drops+1) {
			must(t, conn.NetConn().Close())
			drops++
			time.Sleep(60 * time.Millisecond)
			conn = b.watching(id, seen.last)
		}
		done = f.Type == "state" && f.State == "done" && f.Turn == turn
	}
	if want := strings.Join(chunks, ""); deltas.String() != want || drops != 3 {
		t.Errorf("%d drops; the deltas are\n%q, want\n%q", drops, deltas.String(), want)
	}
	if got, want := strings.TrimSpace(seen.text(t)), strings.TrimSpace(strings.Join(chunks, "")); got != want {
		t.Errorf("the screen shows\n%q, want\n%q", got, want)
	}
}

func TestTheScreenIsThePageThatIsLoadedLater(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prints(lines(400))
	id := s.newSession(ann)
	b := s.signedIn(ann)
	seen := newScreen()
	conn := b.watching(id, b.seqOf(id))
	turn := s.wants(202, ann, "POST", "/sessions/"+id+"/messages", `{"content":"print"}`)["turn_id"].(string)
	targets := map[string]bool{}
	for {
		f, code := next(t, conn)
		if code != 0 {
			t.Fatalf("closed with %d", code)
		}
		seen.show(t, f)
		if f.Type == "html" {
			targets[f.Target] = true
		}
		if f.Type == "state" && f.State == "done" {
			break
		}
	}
	page := b.get("/s/" + id).page(t)
	card := page.Find("[data-testid=tool-card]").AttrOr("id", "")
	if got := seen.cards[card]; !strings.HasSuffix(got, "ok ") {
		t.Errorf("the card was %q", got)
	}
	if got, want := seen.text(t), "Printed."; !strings.Contains(got, want) {
		t.Errorf("the screen shows %q", got)
	}
	if message := "#m-" + strings.TrimPrefix(page.Find("[data-role=user]").AttrOr("id", ""), "m-"); !targets[message] || !targets["#a-"+turn] || !targets["#sessions"] || !targets["#messages"] {
		t.Errorf("the fragments went to %v", targets)
	}
}

func TestWhoWasAwayTooLongFetchesTheLog(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.script.Then(agenttest.Says("One."), agenttest.Says("Two."))
	id := s.newSession(ann)
	s.says(ann, id, "first")
	b := s.signedIn(ann)
	conn := b.watching(id, 1)
	if f, _ := next(t, conn); f.Type != "resync" || f.Seq != 0 {
		t.Fatalf("the first frame is %+v, want resync", f)
	}
	log := b.get("/s/"+id+"/log", "HX-Request", "true")
	doc := log.page(t)
	if log.status != 200 || roles(doc) != "user done, assistant done" || doc.Find("[data-log-seq]").AttrOr("data-log-seq", "0") == "0" {
		t.Errorf("the log: %d, %q", log.status, roles(doc))
	}
	s.says(ann, id, "second")
	for {
		f, code := next(t, conn)
		if code != 0 {
			t.Fatalf("closed with %d", code)
		}
		if f.Type == "state" && f.State == "done" {
			return
		}
	}
}

func TestASlowWatcherIsSentAwayToComeBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.newSession(ann)
	b := s.signedIn(ann)
	conn := b.watching(id, b.seqOf(id))
	s.broker.Publish(events.Event{SessionID: id, Kind: events.KindText, MessageID: "msg_x", Text: "first"})
	if f, _ := next(t, conn); f.Text != "first" {
		t.Fatalf("the first frame is %+v", f)
	}
	for range 400 {
		s.broker.Publish(events.Event{SessionID: id, Kind: events.KindText, MessageID: "msg_x", Text: strings.Repeat("x", 64<<10)})
	}
	time.Sleep(200 * time.Millisecond)
	for {
		if _, code := next(t, conn); code != 0 {
			if code != websocket.CloseTryAgainLater {
				t.Errorf("closed with %d, want %d", code, websocket.CloseTryAgainLater)
			}
			return
		}
	}
}

func TestWatchersAreToldWhenASessionIsDeleted(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.newSession(ann)
	b := s.signedIn(ann)
	first, second := b.watching(id, b.seqOf(id)), b.watching(id, b.seqOf(id))
	s.wants(204, root, "DELETE", "/admin/sessions/"+id, nil)
	for _, conn := range []*websocket.Conn{first, second} {
		f, _ := next(t, conn)
		for f.Target == "#sessions" { // the list beside the page, which can come before
			f, _ = next(t, conn)
		}
		if f.Type != "gone" || !strings.Contains(f.Text, "administrator") {
			t.Errorf("told %+v", f)
		}
		if _, code := next(t, conn); code != websocket.CloseNormalClosure {
			t.Errorf("closed with %d", code)
		}
	}
}

func TestAWatcherWhoIsDisabledOrSignsOutIsToldSo(t *testing.T) {
	t.Parallel()
	s := start(t)
	anns, bobs := s.newSession(ann), s.newSession(bob)
	signsOut, disabled := s.signedIn(ann), s.signedIn(bob)
	conns := []*websocket.Conn{signsOut.watching(anns, signsOut.seqOf(anns)), disabled.watching(bobs, disabled.seqOf(bobs))}
	signsOut.post("/logout", nil)
	must(t, s.store.SetDisabled(t.Context(), s.owner(bob), true))
	for _, conn := range conns {
		f, _ := next(t, conn)
		if f.Type != "gone" || f.Text == "" {
			t.Errorf("told %+v", f)
		}
		if _, code := next(t, conn); code != websocket.CloseNormalClosure {
			t.Errorf("closed with %d", code)
		}
	}
}

func TestARestartAsksBrowsersToComeBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.newSession(ann)
	b := s.signedIn(ann)
	conn := b.watching(id, b.seqOf(id))
	s.broker.Publish(events.Event{SessionID: id, Kind: events.KindTitle, Text: "Title"})
	for f := (frame{}); f.Type != "title"; f, _ = next(t, conn) {
		continue
	}
	close(s.stopping)
	if _, code := next(t, conn); code != websocket.CloseServiceRestart {
		t.Errorf("closed with %d, want %d", code, websocket.CloseServiceRestart)
	}
}

func TestALiveConnectionIsForPagesOfThisServerAndOwnSessions(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.newSession(ann)
	for _, tt := range []struct {
		name   string
		who    *browser
		header []string
		want   int
	}{
		{"of another site", s.signedIn(ann), []string{"Origin", "http://evil.example"}, 403},
		{"of a sandbox", s.signedIn(ann), []string{"Origin", "null"}, 403},
		{"of nobody", s.browser(), nil, 401},
		{"of another user", s.signedIn(bob), nil, 404},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if conn, status := tt.who.watch(id, tt.header...); conn != nil || status != tt.want {
				t.Errorf("answered %d, want %d", status, tt.want)
			}
		})
	}
	if a := s.signedIn(ann).get("/ws/sessions/" + id); a.status != 400 {
		t.Errorf("an ordinary request: %d", a.status)
	}
}

func TestWhoSaysNothingOrTooMuchIsSentAway(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.newSession(ann)
	b := s.signedIn(ann)
	for _, said := range []string{"{}", "no json", strings.Repeat("x", 65<<10)} {
		conn, _ := b.watch(id)
		must(t, conn.WriteMessage(websocket.TextMessage, []byte(said)))
		if f, code := next(t, conn); code == 0 {
			t.Errorf("%.10q is answered with %+v", said, f)
		}
		must(t, conn.Close())
	}
}

// One user cannot open connections without end; others are not kept out.
func TestLiveConnectionsOfAUserAreBounded(t *testing.T) {
	s := start(t)
	session := s.newSession(ann)
	b := s.signedIn(ann)
	for range 50 {
		b.watching(session, 0)
	}
	conn, status := b.watch(session)
	if status != 101 {
		t.Fatal(status)
	}
	s.must(conn.SetReadDeadline(time.Now().Add(10 * time.Second)))
	if _, _, err := conn.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseTryAgainLater) {
		t.Errorf("one too many: %v", err)
	}
	s.signedIn(root).watching(session, 0)
}
