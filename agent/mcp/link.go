package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"offcut/agent"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A link is a connection to a server that has answered.
type link struct {
	session *sdk.ClientSession
	scrub   scrubber
	process *process // nil of a remote server
	release func()
	gone    context.Context // ends with the connection
	leave   context.CancelFunc
	changed chan struct{} // holds one notice that the list of tools is another
	ended   chan struct{} // closed when the connection is over
	err     error         // why, then
	// lost is set when nothing more will come, which may be a while before the
	// connection is over; long when that is because an answer was too long.
	lost, long atomic.Bool

	watched sync.Map // how far calls are: a func(progress) by the call's token
	tokens  atomic.Int64
}

// knownToAll is the last version of the protocol whose first message is
// initialize. Programs of before the next one end, or say nothing, at any other
// first message, as the protocol then let them.
const knownToAll = "2025-11-25"

// meet connects to the server. A program is greeted in the way that all know,
// and started once more where it refuses that. A server that is reached over
// HTTP answers each request by itself, so that the library finds its version.
func (s *server) meet(ctx context.Context, stderr io.Writer) (*link, error) {
	if s.cfg.URL != "" || s.newest {
		return s.connect(ctx, "", stderr)
	}
	l, err := s.connect(ctx, knownToAll, stderr)
	var refused *jsonrpc.Error
	if !errors.As(err, &refused) {
		return l, err
	}
	l, again := s.connect(ctx, "", stderr)
	if again != nil {
		return nil, errors.Join(again, err)
	}
	s.newest = true
	return l, nil
}

// connect starts the server, or reaches it, and greets it in a version of the
// protocol; empty: the newest, and those before it. What a program writes to its
// standard error, and what on its output is no message, goes to stderr.
func (s *server) connect(ctx context.Context, version string, stderr io.Writer) (*link, error) {
	l := &link{scrub: s.scrub, changed: make(chan struct{}, 1), ended: make(chan struct{}), release: func() {}}
	l.gone, l.leave = context.WithCancel(context.Background())
	transport, err := l.transport(s.cfg, s.large, stderr)
	if err != nil {
		l.leave()
		return nil, err
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "offcut", Version: s.opts.Version}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, // neither roots nor sampling, and nobody to ask
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			select {
			case l.changed <- struct{}{}:
			default:
			}
		},
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) { l.progress(req.Params) },
	})
	l.session, err = client.Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return nil, errors.Join(l.whyEnded(ctx, "greeting", err), l.close())
	}
	go func() {
		l.err = l.session.Wait()
		close(l.ended)
	}()
	return l, nil
}

func (l *link) transport(s Server, large *intake, stderr io.Writer) (transport sdk.Transport, err error) {
	if s.URL != "" {
		transport, l.release, err = remote(s, large, l.tooLong)
		return transport, err
	}
	if l.process, err = startProcess(s, stderr); err != nil {
		return nil, err
	}
	reader := messages(l.process, stderr, newPlace(l.gone, large), l.tooLong)
	reader.ended = func() { l.lost.Store(true) }
	return &sdk.IOTransport{Reader: reader, Writer: l.process, MaxLineLength: maxAnswerBytes}, nil
}

// tooLong notes that an answer was too long: the library ends the connection.
func (l *link) tooLong() {
	l.long.Store(true)
	l.lost.Store(true)
}

// close ends the connection, and the server where it is a program, and returns
// when that has ended.
func (l *link) close() error {
	l.leave()
	if l.session != nil {
		closed := make(chan struct{})
		go func() { // of a remote server that does not answer it may take long
			defer close(closed)
			_ = l.session.Close()
		}()
		if l.process == nil {
			select {
			case <-closed:
			case <-time.After(inputGrace):
			}
		}
	}
	l.release()
	if l.process != nil {
		return l.process.Close()
	}
	return nil
}

// whyEnded says of a failed connection what is known of its program's end. step
// is what it was sent last.
func (l *link) whyEnded(ctx context.Context, step string, err error) error {
	var refused *jsonrpc.Error
	switch {
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return fmt.Errorf("it did not answer the %s in time", step)
	case errors.As(err, &refused):
		return fmt.Errorf("it refused the %s: %w", step, err)
	case l.process == nil:
		return err
	case !l.process.ended(drainTime):
		return fmt.Errorf("its output ended: %w", err)
	case l.process.err != nil:
		return fmt.Errorf("its program ended: %w", l.process.err)
	}
	return errors.New("its program ended")
}

// tools asks for the list of tools.
func (l *link) tools(ctx context.Context) ([]*sdk.Tool, error) {
	if can := l.session.InitializeResult().Capabilities; can == nil || can.Tools == nil {
		return nil, nil
	}
	var all []*sdk.Tool
	for tool, err := range l.session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("list its tools: %w", err)
		}
		all = append(all, tool)
		if len(all) > maxTools {
			break
		}
	}
	return all, nil
}

// progressPause is the least time between two notices of one call.
const progressPause = 200 * time.Millisecond

// watch shows in a call's card how far it is. The token is what the server is
// to name with each notice; after the end of the call none is shown.
func (l *link) watch(call agent.Call) (token string, end func()) {
	token = "call-" + strconv.FormatInt(l.tokens.Add(1), 10)
	var printed int64
	var last time.Time
	l.watched.Store(token, func(p *sdk.ProgressNotificationParams) { // called by one goroutine
		if time.Since(last) < progressPause {
			return
		}
		text := l.progressLine(p)
		last, printed = time.Now(), printed+int64(len(text))
		call.Live(text, printed)
	})
	return token, func() { l.watched.Delete(token) }
}

func (l *link) progress(p *sdk.ProgressNotificationParams) {
	if show, ok := l.watched.Load(p.ProgressToken); ok {
		show.(func(*sdk.ProgressNotificationParams))(p)
	}
}

func (l *link) progressLine(p *sdk.ProgressNotificationParams) string {
	text := strconv.FormatFloat(p.Progress, 'f', -1, 64)
	if p.Total > 0 {
		text += " of " + strconv.FormatFloat(p.Total, 'f', -1, 64)
	}
	if message := l.scrub.line(p.Message, 200); message != "" {
		text += ": " + message
	}
	return text + "\n"
}

// product is what a server calls itself.
func (l *link) product() string {
	info := l.session.InitializeResult().ServerInfo
	if info == nil {
		return ""
	}
	return l.scrub.line(info.Name+" "+info.Version, 100)
}
