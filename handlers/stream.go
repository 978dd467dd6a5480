package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"offcut/agent/events"
	"offcut/models"
	"offcut/views"
	"offcut/views/i18n"

	"github.com/gorilla/websocket"
	"github.com/labstack/echo/v4"
)

// The pace of a live connection. Proxies commonly cut one that is silent for a
// minute.
const (
	pingEvery    = 25 * time.Second
	readDeadline = time.Minute
	writeWait    = 10 * time.Second
	helloWait    = 10 * time.Second
	// lookEvery is how often it is seen whether the watcher may still watch.
	lookEvery = 2 * time.Second
	// readLimit bounds, in bytes, what a browser may send: it has only a hello.
	readLimit = 64 << 10
)

// hello is the first frame of a browser, and the only one that is looked at.
type hello struct {
	Type  string `json:"t"`
	After int64  `json:"after"`
}

// Stream tells a browser what happens in a session, from the event after the
// last that it has.
func (h *Handlers) Stream(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	user, _ := CurrentUser(c)
	leave, ok := h.live.join(user.ID)
	defer leave()
	upgrader := websocket.Upgrader{
		CheckOrigin: func(r *http.Request) bool { return h.AllowedOrigin(r.Header.Get("Origin"), r.Host) },
		Error: func(http.ResponseWriter, *http.Request, int, error) {
			// The error is returned, and answered like any other.
		},
	}
	conn, err := upgrader.Upgrade(c.Response(), c.Request(), nil)
	if err != nil {
		return refusedUpgrade(c, err)
	}
	defer func() { _ = conn.Close() }()
	w := &watcher{
		h: h, conn: conn, cookie: cookieValue(c),
		framer: framer{h: h, sess: sess, user: user, layout: h.layout(c)},
	}
	if !ok {
		w.close(websocket.CloseTryAgainLater, "too many live connections")
		return nil
	}
	w.framer.layout.CSRF = csrfOf(c) // what is pushed can be sent as the page's own forms are
	// Not the request's context: it holds who was signed in when it began.
	w.run(inZone(i18n.With(context.Background(), w.framer.layout.Lang), w.framer.layout.Zone))
	return nil
}

func refusedUpgrade(c echo.Context, err error) error {
	var handshake websocket.HandshakeError
	if c.Response().Committed || !errors.As(err, &handshake) {
		return fmt.Errorf("open a live connection: %w", err)
	}
	if c.IsWebSocket() {
		return models.Errorf(models.ErrForbidden, "cross_origin", "a live connection can be opened from a page of this server alone")
	}
	return models.Errorf(models.ErrMalformed, "not_a_websocket", "this address is for websockets")
}

// watcher is one live connection. Its run goroutine alone writes.
type watcher struct {
	h      *Handlers
	conn   *websocket.Conn
	cookie string // whose sign-in it is; looked at again and again
	framer framer
}

// run serves the connection until either side ends it.
func (w *watcher) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	after, err := w.greet()
	if err != nil {
		w.close(websocket.CloseTryAgainLater, "say hello first")
		return
	}
	go w.listen(cancel)
	sub, err := w.subscribe(after)
	if err != nil {
		return
	}
	defer sub.Close()
	lists := w.subscribeLists()
	defer lists.Close()
	w.pump(ctx, sub, lists)
}

// greet waits for the browser's hello.
func (w *watcher) greet() (after int64, err error) {
	w.conn.SetReadLimit(readLimit)
	if err := w.conn.SetReadDeadline(time.Now().Add(helloWait)); err != nil {
		return 0, err
	}
	_, data, err := w.conn.ReadMessage()
	if err != nil {
		return 0, err
	}
	var first hello
	if err := json.Unmarshal(data, &first); err != nil || first.Type != "hello" {
		return 0, errors.New("no hello")
	}
	return first.After, nil
}

// listen notices that the browser is there, and when it leaves. What else it
// says is not asked for.
func (w *watcher) listen(gone context.CancelFunc) {
	defer gone()
	alive := func(string) error { return w.conn.SetReadDeadline(time.Now().Add(readDeadline)) }
	w.conn.SetPongHandler(alive)
	for alive("") == nil {
		if _, _, err := w.conn.NextReader(); err != nil {
			return
		}
	}
}

// subscribe begins after the given event. Where that is too long ago the page
// is told to fetch the log anew, and the events from now on follow.
func (w *watcher) subscribe(after int64) (*events.Subscription, error) {
	sub, ok := w.h.Broker.Subscribe(w.framer.sess.ID, after)
	if ok {
		return sub, nil
	}
	for !ok {
		sub, ok = w.h.Broker.Subscribe(w.framer.sess.ID, w.h.Broker.Seq(w.framer.sess.ID))
	}
	if err := w.send(frame{Type: "resync"}); err != nil {
		sub.Close()
		return nil, err
	}
	return sub, nil
}

// subscribeLists watches from now on how the user's lists of sessions change. What
// changed before is in the page.
func (w *watcher) subscribeLists() *events.Subscription {
	stream := events.ListsOf(w.framer.user.ID)
	for {
		if sub, ok := w.h.Broker.Subscribe(stream, w.h.Broker.Seq(stream)); ok {
			return sub
		}
	}
}

// tellLists sends the list beside the page, as one of no event of the session.
func (w *watcher) tellLists(ctx context.Context) bool {
	list, err := w.framer.sessions(ctx)
	if err != nil {
		return ctx.Err() == nil // the next change brings it
	}
	list.Optional = true
	return w.send(list) == nil
}

// pump writes what happens until the connection ends.
func (w *watcher) pump(ctx context.Context, sub, lists *events.Subscription) {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.h.Stopping:
			w.close(websocket.CloseServiceRestart, "the server restarts")
			return
		case e, ok := <-sub.Events():
			if !ok {
				w.close(websocket.CloseTryAgainLater, "too slow")
				return
			}
			if more := w.tell(ctx, e); !more {
				return
			}
		case _, ok := <-lists.Events():
			if !ok || !w.tellLists(ctx) {
				return
			}
		case <-ping.C:
			if w.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait)) != nil || w.send(frame{Type: "ping"}) != nil {
				return
			}
		case <-look.C:
			if reason := w.notAllowed(ctx); reason != "" {
				w.leave(reason)
				return
			}
		}
	}
}

// tell sends an event; false where the connection has ended.
func (w *watcher) tell(ctx context.Context, e events.Event) bool {
	frames, err := w.framer.frames(ctx, e)
	if err != nil {
		if ctx.Err() == nil {
			w.h.Log.ErrorContext(ctx, "live event could not be shown", "session", w.framer.sess.ID, "kind", e.Kind, "error", err)
			w.close(websocket.CloseTryAgainLater, "try again")
		}
		return false
	}
	for _, f := range frames {
		if w.send(f) != nil {
			return false
		}
	}
	if e.Kind == events.KindGone {
		w.close(websocket.CloseNormalClosure, "")
		return false
	}
	return true
}

// notAllowed is why the watcher may watch no longer; empty where they may. A
// database that does not answer is no reason.
func (w *watcher) notAllowed(ctx context.Context) string {
	user, err := w.h.userOfCookie(ctx, w.cookie)
	if errors.Is(err, models.ErrUnauthorized) {
		return i18n.T(ctx, views.GoneSignedOut)
	}
	if err != nil {
		return ""
	}
	_, err = w.h.Store.Session(ctx, user.ID, w.framer.sess.ID)
	if isNotFound(err) && user.Admin() {
		_, err = w.h.Store.AnySession(ctx, w.framer.sess.ID)
	}
	if isNotFound(err) {
		return said(ctx, errNoSession)
	}
	return ""
}

// userOfCookie is who is signed in with a cookie now.
func (h *Handlers) userOfCookie(ctx context.Context, cookie string) (models.User, error) {
	ctx, err := h.cookies.load(ctx, cookie)
	if err != nil {
		return models.User{}, err
	}
	return h.signedIn(ctx)
}

// leave says why nothing follows; the browser does not come back.
func (w *watcher) leave(reason string) {
	if w.send(frame{Type: "gone", Text: reason}) == nil {
		w.close(websocket.CloseNormalClosure, "")
	}
}

func (w *watcher) send(f frame) error {
	data, err := f.encode()
	if err != nil {
		return err
	}
	if err := w.conn.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
		return err
	}
	return w.conn.WriteMessage(websocket.TextMessage, data)
}

func (w *watcher) close(code int, reason string) {
	// A browser that is gone does not hear it, which is all the same.
	_ = w.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), time.Now().Add(writeWait))
}
