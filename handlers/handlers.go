package handlers

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"offcut/models"
)

// Config is what the handlers are made of.
type Config struct {
	// BasePath is the path under which the program is served, without a slash
	// at its end; empty at the root of a host.
	BasePath string
	Version  string

	Store      Store
	Runner     Runner
	Reader     Reader
	Querier    Querier
	Broker     Broker
	Workspaces Workspaces
	Files      Files
	Markdown   Markdown
	// Remover removes sessions with all that belongs to them.
	Remover   Remover
	Retention Retention
	// QuotaBytes is what one user may store.
	QuotaBytes int64
	// UploadBytes bounds one file that is uploaded; 0: models.MaxUploadBytes.
	UploadBytes int64
	// Servers are the MCP servers.
	Servers Servers
	// Metrics serves them; nil: there are none.
	Metrics http.Handler
	// NoticeShare is the share of a tool's results of which more are not to be
	// cut without a notice; nil: models.DefaultNoticeShare of every tool.
	NoticeShare func(tool string) float64
	// AbsenceUnmarked: no answer is marked that says that something is absent.
	AbsenceUnmarked bool
	// Dumps are the requests that providers refused.
	Dumps Dumps
	// WebSessions keeps who is signed in.
	WebSessions WebSessions

	// Models are the names of the models that may be chosen; the first is the
	// default.
	Models []string
	// ContextTokens is the size of a model's window, by the name that a session
	// has; 0: not known. Nil: of none it is.
	ContextTokens func(model string) int
	// TakesImages reports whether a model does; nil: none is asked.
	TakesImages func(model string) bool
	// Skills are those of a session's workspace, or of the server where no
	// session is named; nil: there are none.
	Skills func(sessionID string) []SkillFact
	// Server is what of the configuration people are told.
	Server ServerFacts
	// Demo: the built-in demo model answers, because none is configured.
	Demo bool

	// OnlyAdminsDelete: users archive sessions, and do not delete them or what was
	// kept in them.
	OnlyAdminsDelete bool

	// Policy names which calls are asked about, for the pages.
	Policy string

	// AdminName is the user that AdminToken signs in.
	AdminName string
	// AdminToken is the first admin's API token and sign-in secret; empty:
	// there is none.
	AdminToken string

	// PublicURL is the address under which people reach the server; nil:
	// whatever address they use.
	PublicURL *url.URL
	// Asset is the address of a static file below the base path.
	Asset func(name string) string
	// AllowedOrigin reports whether a websocket may be opened from a page of
	// that origin, for a request to host.
	AllowedOrigin func(origin, host string) bool
	// Stopping is closed when the server begins to stop: live connections then
	// end in a way that makes browsers come back. Nil: never.
	Stopping <-chan struct{}

	Log *slog.Logger
	// Now is the clock; nil is the system's.
	Now func() time.Time
}

// Handlers answers the requests of browsers and of programs.
type Handlers struct {
	Config
	signIns *signIns
	uploads *limits // by user
	tokens  *limits // wrong bearer tokens, by address
	live    live
	once    *once
	cookies *Cookies
	spec    []byte
}

// New makes the handlers.
func New(cfg Config) *Handlers {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.UploadBytes = cmp.Or(cfg.UploadBytes, models.MaxUploadBytes)
	return &Handlers{
		Config:  cfg,
		signIns: newSignIns(),
		uploads: newLimits(uploadsPerUser),
		tokens:  newLimits(tokensPerAddress),
		once:    newOnce(),
		cookies: newCookies(cfg.WebSessions, cfg.BasePath),
		spec:    openAPI(cfg.BasePath, cfg.Version),
	}
}

// now is the time as it is stored: in UTC, and no finer than the database has
// it, so that what is answered now is what is read later.
func (h *Handlers) now() time.Time { return h.Now().UTC().Truncate(time.Microsecond) }

// model is the name under which a session's model is shown.
func (h *Handlers) model(chosen string) string {
	if chosen == "" && len(h.Models) > 0 {
		return h.Models[0]
	}
	return chosen
}

// knowsModel reports whether name may be chosen; the empty name is the
// default.
func (h *Handlers) knowsModel(name string) bool {
	return name == "" || slices.Contains(h.Models, name)
}
