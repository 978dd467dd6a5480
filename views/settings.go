package views

import (
	"context"
	"strconv"
)

// Settings is the page of what the user chose for themselves.
type Settings struct {
	Sidebar Sidebar
	// Saved: they were just stored.
	Saved bool

	Languages []Language
	Language  string // the chosen tag; empty: as the browser wishes
	Theme     string // system, light or dark
	// LineChoices are the numbers of lines that Lines is one of.
	LineChoices []int
	Lines       int
	Thoughts    bool
	Notify      bool
	// MarkAbsence: answers that say that something is absent are marked where they
	// may be mistaken. AbsenceOff: the server is set to mark none.
	MarkAbsence, AbsenceOff bool

	Server Server
}

// Language is one of the catalogue.
type Language struct {
	Tag  string
	Name string // in that language
}

// Server is what of the configuration people should know.
type Server struct {
	Models []ModelLine
	// Servers are the MCP servers.
	Servers []ServerLine
	// Skills are those of the server, and what was to be one.
	Skills []SkillLine
	// Workspaces are those of the reader's latest sessions that have skills.
	Workspaces []WorkspaceSkills
	// Approval is auto, ask or never.
	Approval string
	// Sandbox names how commands are confined; empty: they are not.
	Sandbox string
	Network bool
	// Used of Storage bytes are taken by the reader.
	Used, Storage int64
	TurnsPerUser  int
	MessageBytes  int64
}

// ServerLine is an MCP server as everybody may know it.
type ServerLine struct {
	Name  string
	State string // see MCPServer
	Tools []string
}

// SkillLine is a skill as everybody may know it.
type SkillLine struct {
	Name        string
	Description string
	Why         string // it cannot be used; empty: it can
}

// SkillSessions is how many sessions are looked at for skills in their
// workspaces.
const SkillSessions = 20

// WorkspaceSkills are the skills in the workspace of one session.
type WorkspaceSkills struct {
	SessionID string
	Title     string
	Skills    []SkillLine
}

func (w WorkspaceSkills) title(ctx context.Context) string {
	if w.Title == "" {
		return t(ctx, "session.untitled")
	}
	return w.Title
}

// ModelLine is a model as people choose by it.
type ModelLine struct {
	Name          string
	ContextTokens int
	Priced        bool
	Input, Output float64 // US dollars per million tokens
}

func (m ModelLine) price(ctx context.Context) string {
	if !m.Priced {
		return ""
	}
	return t(ctx, "settings.price", "input", plainNumber(m.Input), "output", plainNumber(m.Output))
}

func plainNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func (s Server) sandboxText(ctx context.Context) string {
	if s.Sandbox == "" {
		return t(ctx, "settings.sandbox.none")
	}
	return t(ctx, "settings.sandbox.kind", "kind", s.Sandbox)
}

func (s Server) networkText(ctx context.Context) string {
	if s.Network {
		return t(ctx, "settings.network.yes")
	}
	return t(ctx, "settings.network.no")
}

func (s Server) approvalText(ctx context.Context) string {
	switch s.Approval {
	case "ask":
		return t(ctx, "settings.approval.ask")
	case "never":
		return t(ctx, "settings.approval.never")
	}
	return t(ctx, "settings.approval.auto")
}

// linesText names a choice of lines.
func linesText(ctx context.Context, n int) string {
	if n == 0 {
		return t(ctx, "settings.lines.none")
	}
	return t(ctx, "settings.lines.some", "n", n)
}
