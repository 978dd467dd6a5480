package handlers

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"offcut/models"
	"offcut/models/portable"

	"github.com/labstack/echo/v4"
)

// Export is a session as a file: as JSON, which can be imported again, or as
// Markdown to be read. It is written as it is read, a page of messages at a
// time. It serves programs and browsers.
func (h *Handlers) Export(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	include, err := q.words("include", "hidden")
	if err != nil {
		return err
	}
	what := exported{session: sess, hidden: include["hidden"]}
	switch q.text("format") {
	case "", "json":
		return h.sendExport(c, what, "application/json", ".json", h.writeJSON)
	case "md":
		return h.sendExport(c, what, "text/markdown; charset=utf-8", ".md", h.writeMarkdown)
	}
	return badParameter("format", "json or md")
}

// exported is what an export holds.
type exported struct {
	session models.Session
	hidden  bool // the messages that the program wrote for the model, too
}

func (h *Handlers) sendExport(c echo.Context, what exported, contentType, ending string, write func(context.Context, *bufio.Writer, exported) error) error {
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, contentType)
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fileName(what.session) + ending}))
	header.Set("Cache-Control", "no-store")
	out := bufio.NewWriterSize(c.Response(), 64<<10)
	if c.Request().Method == http.MethodHead {
		return c.NoContent(http.StatusOK)
	}
	err := write(c.Request().Context(), out, what)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return h.brokeOff(c, what.session.ID, err)
	}
	return nil
}

// brokeOff ends an export that cannot be finished: half a file is not to be taken
// for a whole one.
func (h *Handlers) brokeOff(c echo.Context, sessionID string, err error) error {
	if c.Response().Committed {
		h.Log.ErrorContext(c.Request().Context(), "an export broke off", "request", RequestID(c), "session", sessionID, "error", err)
		panic(http.ErrAbortHandler)
	}
	return err
}

// maxFileName bounds the name of an exported file, in characters.
const maxFileName = 60

// fileName is a session's title as the name of a file, without what could be a
// path, an option, a hidden file or a mark of direction.
func fileName(sess models.Session) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '-'
	}, sess.Title)
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	if runes := []rune(name); len(runes) > maxFileName {
		name = string(runes[:maxFileName])
	}
	if name = strings.Trim(name, "-"); name == "" || !utf8.ValidString(name) {
		return "offcut-" + sess.ID
	}
	return "offcut-" + name
}

// eachMessage hands over the shown messages of a session, oldest first.
func (h *Handlers) eachMessage(ctx context.Context, what exported, take func(models.Message) error) error {
	page := models.Page{Limit: models.MaxPageLimit}
	for {
		list, next, err := h.Store.Messages(ctx, models.MessageQuery{SessionID: what.session.ID, IncludeHidden: what.hidden, Page: page})
		if err != nil {
			return err
		}
		for _, m := range list {
			if err := take(m); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		page.Cursor = next
	}
}

func (h *Handlers) eachOutput(ctx context.Context, what exported, take func(models.RetainedOutput) error) error {
	page := models.Page{Limit: models.MaxPageLimit}
	for {
		list, next, err := h.Store.Outputs(ctx, what.session.ID, page)
		if err != nil {
			return err
		}
		for _, o := range list {
			if err := take(o); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		page.Cursor = next
	}
}

// eachAnswer hands over what the answers of turns rest on, of those that rest on
// something.
func (h *Handlers) eachAnswer(ctx context.Context, what exported, turns []string, take func(portable.Answer) error) error {
	for some := range slices.Chunk(turns, models.MaxPageLimit) {
		grounds, err := h.Store.Grounds(ctx, what.session.ID, some)
		if err != nil {
			return err
		}
		for _, turn := range some {
			if len(grounds[turn]) == 0 {
				continue
			}
			if err := take(portable.Answer{TurnID: turn, RestsOn: grounds[turn]}); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeJSON writes the file that models/portable describes, a message a line.
func (h *Handlers) writeJSON(ctx context.Context, out *bufio.Writer, what exported) error {
	head, err := json.Marshal(portable.Header{
		Format: portable.Format, Version: portable.Version, ExportedAt: h.now(),
		Session: portable.Session{
			ID: what.session.ID, Title: what.session.Title, Model: what.session.Model,
			CreatedAt: what.session.CreatedAt, UpdatedAt: what.session.UpdatedAt,
		},
	})
	if err != nil {
		return err
	}
	list := jsonList{out: out}
	list.open(string(head[:len(head)-1]) + `,"messages":[`)
	var turns []string
	err = h.eachMessage(ctx, what, func(m models.Message) error {
		if len(turns) == 0 || turns[len(turns)-1] != m.TurnID {
			turns = append(turns, m.TurnID)
		}
		return list.add(portable.Of(m))
	})
	if err != nil {
		return err
	}
	list.open("\n],\"answers\":[")
	if err := h.eachAnswer(ctx, what, turns, func(a portable.Answer) error { return list.add(a) }); err != nil {
		return err
	}
	list.open("\n],\"outputs\":[")
	if err := h.eachOutput(ctx, what, func(o models.RetainedOutput) error { return list.add(portable.OutputOf(o)) }); err != nil {
		return err
	}
	_, err = io.WriteString(out, "\n]}\n")
	return err
}

// jsonList writes the elements of an array with commas between them. What
// cannot be written is told by the writer when it is flushed.
type jsonList struct {
	out  *bufio.Writer
	some bool
}

func (l *jsonList) open(before string) {
	_, _ = l.out.WriteString(before)
	l.some = false
}

func (l *jsonList) add(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	separator := "\n"
	if l.some {
		separator = ",\n"
	}
	l.some = true
	_, _ = l.out.WriteString(separator)
	_, err = l.out.Write(line)
	return err
}
