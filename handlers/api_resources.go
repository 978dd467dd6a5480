package handlers

import (
	"net/http"
	"time"

	"offcut/agent/events"
	"offcut/models"

	"github.com/labstack/echo/v4"
)

// The resources as programs see them. A value that is not there is null, a
// list without elements is [].

type sessionResource struct {
	ID         string  `json:"id"`
	Title      string  `json:"title"`
	Owner      string  `json:"owner"`
	Model      string  `json:"model"`
	CreatedAt  string  `json:"created_at"`
	UpdatedAt  string  `json:"updated_at"`
	Archived   bool    `json:"archived"`
	Pinned     bool    `json:"pinned"`
	ForkedFrom *string `json:"forked_from"`
}

func (h *Handlers) sessionResource(s models.Session) sessionResource {
	return sessionResource{
		ID: s.ID, Title: s.Title, Owner: s.OwnerName, Model: h.model(s.Model),
		CreatedAt: stamp(s.CreatedAt), UpdatedAt: stamp(s.UpdatedAt),
		Archived: s.Archived, Pinned: s.Pinned, ForkedFrom: orNull(s.ForkedFrom),
	}
}

type statsResource struct {
	sessionResource
	Running        bool   `json:"running"`
	Messages       int    `json:"messages"`
	Outputs        int    `json:"outputs"`
	MessageBytes   int64  `json:"message_bytes"`
	OutputBytes    int64  `json:"output_bytes"`
	WorkspaceBytes *int64 `json:"workspace_bytes"`
}

type messageResource struct {
	ID         string                 `json:"id"`
	TurnID     string                 `json:"turn_id"`
	Role       models.Role            `json:"role"`
	Content    string                 `json:"content"`
	Reasoning  string                 `json:"reasoning"`
	IsMeta     bool                   `json:"is_meta"`
	ToolCalls  []models.ToolCall      `json:"tool_calls"`
	ToolCallID *string                `json:"tool_call_id"`
	Metadata   *models.ResultMetadata `json:"metadata"`
	// Attachments are the files that it came with, by their paths.
	Attachments []attachmentResource `json:"attachments"`
	State       models.State         `json:"state"`
	Shown       bool                 `json:"shown"`
	CreatedAt   string               `json:"created_at"`
}

func newMessageResource(m models.Message) messageResource {
	return messageResource{
		ID: m.ID, TurnID: m.TurnID, Role: m.Role, Content: m.Content, Reasoning: m.Reasoning,
		IsMeta: m.IsMeta, ToolCalls: orEmpty(m.ToolCalls), ToolCallID: orNull(m.ToolCallID),
		Metadata: m.Metadata, State: m.State, Shown: m.Shown, CreatedAt: stamp(m.CreatedAt),
		Attachments: attachmentResources(m.Attachments),
	}
}

type attachmentResource struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	Type string `json:"type"`
}

func attachmentResources(attached []models.Attachment) []attachmentResource {
	list := make([]attachmentResource, len(attached))
	for i, a := range attached {
		list[i] = attachmentResource{a.Path, a.Size, a.Type}
	}
	return list
}

type pendingResource struct {
	CallID    string `json:"call_id"`
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
}

type turnResource struct {
	ID            string            `json:"id"`
	SessionID     string            `json:"session_id"`
	ParentID      *string           `json:"parent_id"`
	Shown         bool              `json:"shown"`
	State         models.State      `json:"state"`
	Error         *string           `json:"error"`
	ErrorCode     *string           `json:"error_code"`
	Continuations int               `json:"continuations"`
	Retries       int               `json:"retries"`
	Usage         models.Usage      `json:"usage"`
	Pending       []pendingResource `json:"pending"`
	NextTry       *tryResource      `json:"next_try"`
	// RestsOn is what of kept outputs the model had before it when it answered.
	RestsOn []models.Ground `json:"rests_on"`
}

// tryResource is what a turn waits for before the model's server is asked again.
type tryResource struct {
	At     string `json:"at"`
	Try    int    `json:"try"`
	Of     int    `json:"of"`
	Reason string `json:"reason"`
}

func newTurnResource(t models.Turn, waiting []models.Approval, live events.Live) turnResource {
	r := turnResource{
		ID: t.ID, SessionID: t.SessionID, ParentID: orNull(t.ParentID), Shown: t.Shown, State: t.State,
		Error: orNull(t.Error), ErrorCode: orNull(string(t.ErrorCode)),
		Continuations: t.Continuations, Retries: t.Retries, Usage: t.Usage,
		Pending: make([]pendingResource, len(waiting)),
	}
	for i, a := range waiting {
		r.Pending[i] = pendingResource{CallID: a.CallID, Tool: a.Tool, Arguments: a.Arguments}
	}
	if again := live.Retry; again != nil && live.TurnID == t.ID {
		r.NextTry = &tryResource{At: stamp(again.Until), Try: again.Attempt, Of: again.Most, Reason: again.Reason}
	}
	return r
}

type outputResource struct {
	ID            string         `json:"id"`
	Tool          string         `json:"tool"`
	CallID        string         `json:"call_id"`
	Running       bool           `json:"running"`
	TotalBytes    int64          `json:"total_bytes"`
	Complete      bool           `json:"complete"`
	ReplacedBytes int64          `json:"replaced_bytes"`
	CreatedAt     string         `json:"created_at"`
	Coverage      []models.Range `json:"coverage"`
	// Of a command that went on in the background: what has become of it.
	Background *string `json:"background"`
	ExitCode   *int    `json:"exit_code"`
	Signal     *string `json:"signal"`
	TimedOut   bool    `json:"timed_out"`
}

func newOutputResource(o models.RetainedOutput) outputResource {
	r := outputResource{
		ID: o.ID, Tool: o.Tool, CallID: o.CallID, Running: o.Running, TotalBytes: o.TotalBytes,
		Complete: o.Complete, ReplacedBytes: o.ReplacedBytes, CreatedAt: stamp(o.CreatedAt),
		Coverage: orEmpty(o.Coverage), Background: orNull(string(o.BackgroundState())),
	}
	if end := o.End; end != nil {
		r.ExitCode, r.Signal, r.TimedOut = end.ExitCode, orNull(end.Signal), end.TimedOut
	}
	return r
}

// pageResource is one page of an output; where it begins is what was asked.
type pageResource struct {
	Text       string `json:"text"`
	NextOffset int64  `json:"nextOffset"`
	TotalBytes int64  `json:"totalBytes"`
	HasMore    bool   `json:"hasMore"`
	Complete   bool   `json:"complete"`
}

type userResource struct {
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Role         models.UserRole `json:"role"`
	Disabled     bool            `json:"disabled"`
	CreatedAt    string          `json:"created_at"`
	LastSignInAt *string         `json:"last_sign_in_at"`
}

func newUserResource(u models.User) userResource {
	r := userResource{ID: u.ID, Name: u.Name, Role: u.Role, Disabled: u.Disabled, CreatedAt: stamp(u.CreatedAt)}
	if u.LastSignInAt != nil {
		r.LastSignInAt = models.Ptr(stamp(*u.LastSignInAt))
	}
	return r
}

type auditResource struct {
	ID      int64   `json:"id"`
	At      string  `json:"at"`
	ActorID *string `json:"actor_id"`
	Actor   string  `json:"actor"`
	Action  string  `json:"action"`
	Target  string  `json:"target"`
	Detail  string  `json:"detail"`
	Address string  `json:"address"`
}

func newAuditResource(e models.AuditEntry) auditResource {
	return auditResource{
		ID: e.ID, At: stamp(e.At), ActorID: orNull(e.ActorID), Actor: e.ActorName,
		Action: e.Action, Target: e.Target, Detail: e.Detail, Address: e.Address,
	}
}

type listResource[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

// sendList answers with a page of a list.
func sendList[M, R any](c echo.Context, items []M, next string, resource func(M) R) error {
	list := listResource[R]{Items: make([]R, len(items)), NextCursor: orNull(next)}
	for i, item := range items {
		list.Items[i] = resource(item)
	}
	return c.JSON(http.StatusOK, list)
}

// stamp is a moment in RFC 3339, in UTC.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
