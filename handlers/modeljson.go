package handlers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"offcut/agent"
	"offcut/models"

	"github.com/labstack/echo/v4"
)

// ModelJSON is a request as a file, in the form of chat completions whatever its
// provider speaks: messages and tools as they were sent, but for the bytes of
// pictures, and without what sets the request itself, such as its bound of output.
// It is written as it is read.
func (h *Handlers) ModelJSON(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	r, _, err := h.requestOf(c, sess)
	if err != nil {
		return err
	}
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, "application/json")
	header.Set("Content-Disposition", "attachment; filename="+strconv.Quote(fmt.Sprintf("request-%d.json", r.Number)))
	header.Set("Cache-Control", "no-store")
	if c.Request().Method == http.MethodHead {
		return c.NoContent(http.StatusOK)
	}
	out := bufio.NewWriterSize(c.Response(), 64<<10)
	if err = h.writeRequest(c, out, r); err == nil {
		err = out.Flush()
	}
	if err != nil && c.Response().Committed {
		h.Log.ErrorContext(c.Request().Context(), "the file of a request broke off", "request", RequestID(c), "session", sess.ID, "error", err)
		panic(http.ErrAbortHandler) // so that half a file is not taken for a whole one
	}
	return err
}

// sentChat is a message in the form of chat completions.
type sentChat struct {
	Role       string               `json:"role"`
	Content    string               `json:"content,omitempty"`
	Reasoning  string               `json:"reasoning_content,omitempty"`
	ToolCalls  []sentChatCall       `json:"tool_calls,omitempty"`
	ToolCallID string               `json:"tool_call_id,omitempty"`
	Pictures   []models.SentPicture `json:"pictures,omitempty"`
}

type sentChatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// sentChatTool is a tool in the form of chat completions.
type sentChatTool struct {
	Type     string          `json:"type"`
	Function models.SentTool `json:"function"`
}

func chatTools(tools []models.SentTool) []sentChatTool {
	offered := make([]sentChatTool, 0, len(tools))
	for _, t := range tools {
		offered = append(offered, sentChatTool{"function", t})
	}
	return offered
}

func (h *Handlers) writeRequest(c echo.Context, out *bufio.Writer, r models.SentRequest) error {
	var firstError error
	put := func(before string, v any) {
		if firstError != nil {
			return
		}
		text, err := json.Marshal(v)
		if err == nil {
			_, err = out.WriteString(before)
		}
		if err == nil {
			_, err = out.Write(text)
		}
		firstError = err
	}
	put(`{"request":`, r.Number)
	put(`,"turn_id":`, r.TurnID)
	put(`,"at":`, r.At.UTC().Format(time.RFC3339Nano))
	put(`,"model":`, r.Model)
	put(`,"tools":`, chatTools(r.Tools))
	put(`,"messages":[`, sentChat{Role: string(models.RoleSystem), Content: r.System})
	for from := 0; from < r.Messages && firstError == nil; from += models.MaxPageLimit {
		sent, err := h.Store.SentMessages(c.Request().Context(), r.SessionID, r.Number, from, models.MaxPageLimit)
		if err != nil {
			return err
		}
		for _, m := range sent {
			if m.Place < from+models.MaxPageLimit {
				put(",\n", chatOf(m, r.Reasoning))
			}
		}
	}
	if firstError == nil {
		_, firstError = out.WriteString("]}\n")
	}
	return firstError
}

func chatOf(m models.SentMessage, reasoning bool) sentChat {
	chat := sentChat{Role: string(m.Role), Content: m.Content, ToolCallID: m.ToolCallID, Pictures: m.Pictures}
	if m.Role == models.RoleTool {
		chat.Content = agent.ToolText(m.Message)
	}
	if reasoning {
		chat.Reasoning = m.Reasoning
	}
	for _, call := range m.ToolCalls {
		made := sentChatCall{ID: call.ID, Type: "function"}
		made.Function.Name, made.Function.Arguments = call.Name, call.ArgumentsOrEmpty()
		chat.ToolCalls = append(chat.ToolCalls, made)
	}
	if chat.Content == "" && len(chat.ToolCalls) == 0 && chat.Reasoning != "" {
		chat.Content = agent.UnfinishedThinking // as such a reply goes back
	}
	return chat
}
