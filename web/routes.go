package web

import (
	"net/http"
	"slices"

	"offcut/handlers"
	"offcut/static"

	"github.com/labstack/echo/v4"
)

// access is who may use a route, and what stands before its handler.
type access string

const (
	// public routes are for everybody.
	public access = "public"
	// visitor routes are forms for everybody: a CSRF token guards them.
	visitor access = "visitor"
	// page routes are for browsers in which somebody is signed in.
	page access = "page"
	// files routes take files: of a form, or one as their body.
	files access = "files"
	// socket routes are live connections of such browsers: their origin is
	// checked when they open.
	socket access = "socket"
	// program routes need a bearer token.
	program access = "program"
	// programUpload routes take a file as their body.
	programUpload access = "programUpload"
	// admin routes need that of an administrator.
	admin access = "admin"
	// scrape routes are for monitoring: with an administrator's token, or open
	// where it is configured so.
	scrape access = "scrape"
	// adminPage routes are for browsers in which an administrator is signed in.
	adminPage access = "adminPage"
)

// route is one line of the table.
type route struct {
	method string
	path   string
	access access
	handle echo.HandlerFunc
}

// routes is every address of the server, below the base path.
func routes(h *handlers.Handlers) []route {
	const (
		GET    = http.MethodGet
		POST   = http.MethodPost
		PUT    = http.MethodPut
		PATCH  = http.MethodPatch
		DELETE = http.MethodDelete
	)
	return []route{
		{GET, "/healthz", public, h.Healthz},
		{GET, "/readyz", public, h.Readyz},
		{GET, "/metrics", scrape, h.ServeMetrics},
		{GET, "/static/*", public, staticFiles(h.BasePath)},

		{GET, "/login", visitor, h.LoginPage},
		{POST, "/login", visitor, h.Login},
		{POST, "/logout", visitor, h.Logout},

		{GET, "/", page, h.Home},
		{GET, "/sessions", page, h.SidebarFragment},
		{POST, "/sessions", page, h.Begin},
		{GET, "/history", page, h.History},
		{POST, "/history/archive", page, h.Archive},
		{POST, "/history/restore", page, h.Restore},
		{POST, "/history/pin", page, h.Pin},
		{POST, "/history/unpin", page, h.Unpin},
		{POST, "/history/delete", page, h.DeleteMany},
		{POST, "/history/import", files, h.Import},
		{GET, "/s/:session", page, h.Chat},
		{GET, "/s/:session/log", page, h.LogFragment},
		{GET, "/s/:session/export", page, h.Export},
		{GET, "/s/:session/at/:message", page, h.OpenAt},
		{POST, "/s/:session/messages", page, h.Send},
		{GET, "/s/:session/messages/:message", page, h.Whole},
		{GET, "/s/:session/messages/:message/text", page, h.Text},
		{GET, "/s/:session/messages/:message/edit", page, h.EditForm},
		{POST, "/s/:session/messages/:message/edit", page, h.Edit},
		{POST, "/s/:session/rename", page, h.Rename},
		{POST, "/s/:session/model", page, h.ChooseModel},
		{GET, "/s/:session/model", page, h.ModelView},
		{GET, "/s/:session/model/json", page, h.ModelJSON},
		{GET, "/s/:session/model/places/:place", page, h.ModelPlace},
		{GET, "/s/:session/details", page, h.Details},
		{POST, "/s/:session/fork", page, h.Fork},
		{GET, "/s/:session/goes", page, h.Goes},
		{POST, "/s/:session/delete", page, h.Delete},
		{POST, "/s/:session/revoke", page, h.Revoke},
		{GET, "/s/:session/approvals/:call", page, h.AskedWhole},
		{GET, "/s/:session/calls/:call", page, h.Card},
		{POST, "/s/:session/calls/:call/stop", page, h.StopCall},
		{POST, "/s/:session/calls/:call/background", page, h.MoveCall},
		{GET, "/s/:session/out/:output", page, h.OutputPage},
		{GET, "/s/:session/out/:output/pager", page, h.Pager},
		{GET, "/s/:session/out/:output/pages", page, h.Pages},
		{GET, "/s/:session/out/:output/filter", page, h.Filter},
		{GET, "/s/:session/out/:output/raw", page, h.Raw},
		{POST, "/s/:session/out/:output/delete", page, h.DeleteOutput},
		{GET, "/s/:session/files", page, h.FilesPage},
		{GET, "/s/:session/files/raw", page, h.RawFile},
		{POST, "/s/:session/files/upload", files, h.Upload},
		{GET, "/s/:session/files/delete", page, h.FileGoes},
		{POST, "/s/:session/files/delete", page, h.DeleteFile},
		{POST, "/uploads", files, h.UploadFirst},
		{GET, "/turns/:turn/parts", page, h.Parts},
		{GET, "/turns/:turn/text", page, h.TurnText},
		{POST, "/turns/:turn/stop", page, h.StopTurn},
		{POST, "/turns/:turn/approvals", page, h.Decide},
		{POST, "/turns/:turn/fork", page, h.ForkTurn},
		{POST, "/turns/:turn/retry", page, h.RetryTurn},
		{POST, "/turns/:turn/continue", page, h.ContinueTurn},
		{POST, "/turns/:turn/show", page, h.ShowTurn},
		{POST, "/settings/theme", visitor, h.SetTheme},
		{POST, "/settings/language", visitor, h.SetLanguage},
		{GET, "/settings", page, h.SettingsPage},
		{POST, "/settings", page, h.SaveSettings},
		{GET, "/account", page, h.Account},
		{POST, "/account/password", page, h.ChangePassword},
		{POST, "/account/tokens", page, h.AddToken},
		{POST, "/account/tokens/:token/revoke", page, h.RevokeToken},
		{POST, "/account/signout", page, h.SignOutEverywhere},
		{GET, "/ws/sessions/:session", socket, h.Stream},

		{GET, "/admin", adminPage, h.AdminHome},
		{GET, "/admin/sessions", adminPage, h.AdminSessions},
		{GET, "/admin/sessions/goes", adminPage, h.AdminGoes},
		{GET, "/admin/sessions/export", adminPage, h.AdminExport},
		{POST, "/admin/sessions/delete", adminPage, h.AdminDeleteSessions},
		{GET, "/admin/audit", adminPage, h.AdminAudit},
		{GET, "/admin/audit.csv", adminPage, h.AdminAuditCSV},
		{GET, "/admin/users", adminPage, h.AdminUsers},
		{POST, "/admin/users", adminPage, h.AdminAddUser},
		{GET, "/admin/users/:user", adminPage, h.AdminUser},
		{POST, "/admin/users/:user/role", adminPage, h.AdminSetRole},
		{POST, "/admin/users/:user/state", adminPage, h.AdminSetState},
		{POST, "/admin/users/:user/reset", adminPage, h.AdminResetUser},
		{GET, "/admin/usage", adminPage, h.AdminUsage},
		{GET, "/admin/usage.csv", adminPage, h.AdminUsageCSV},
		{GET, "/admin/truncation", adminPage, h.AdminTruncation},
		{GET, "/admin/truncation.csv", adminPage, h.AdminTruncationCSV},
		{GET, "/admin/storage", adminPage, h.AdminStorage},
		{GET, "/admin/mcp", adminPage, h.AdminServers},
		{POST, "/admin/mcp/restart", adminPage, h.AdminRestartServer},
		{GET, "/admin/dumps", adminPage, h.AdminDumps},
		{GET, "/admin/dumps/:dump", adminPage, h.AdminDump},
		{GET, "/admin/dumps/:dump/raw", adminPage, h.AdminDumpRaw},

		{GET, "/api/v1/openapi.json", public, h.OpenAPI},
		{GET, "/api/v1/sessions", program, h.APISessions},
		{POST, "/api/v1/sessions", program, h.APICreateSession},
		{GET, "/api/v1/sessions/:session", program, h.APISession},
		{PATCH, "/api/v1/sessions/:session", program, h.APIUpdateSession},
		{DELETE, "/api/v1/sessions/:session", program, h.APIDeleteSession},
		{POST, "/api/v1/sessions/:session/fork", program, h.APIForkSession},
		{GET, "/api/v1/sessions/:session/export", program, h.Export},
		{POST, "/api/v1/import", programUpload, h.APIImport},
		{GET, "/api/v1/sessions/:session/messages", program, h.APIMessages},
		{POST, "/api/v1/sessions/:session/messages", program, h.APISend},
		{POST, "/api/v1/sessions/:session/messages/:message/edit", program, h.APIEdit},
		{GET, "/api/v1/sessions/:session/approvals", program, h.APIGrants},
		{DELETE, "/api/v1/sessions/:session/approvals/:tool", program, h.APIRevoke},
		{GET, "/api/v1/sessions/:session/outputs", program, h.APIOutputs},
		{GET, "/api/v1/sessions/:session/outputs/:output", program, h.APIOutputPage},
		{DELETE, "/api/v1/sessions/:session/outputs/:output", program, h.APIDeleteOutput},
		{GET, "/api/v1/sessions/:session/outputs/:output/raw", program, h.Raw},
		{POST, "/api/v1/sessions/:session/outputs/:output/stop", program, h.APIStopOutput},
		{GET, "/api/v1/sessions/:session/outputs/:output/search", program, h.APISearchOutput},
		{GET, "/api/v1/sessions/:session/outputs/:output/query", program, h.APIQueryOutput},
		{GET, "/api/v1/sessions/:session/files", program, h.APIFiles},
		{GET, "/api/v1/sessions/:session/files/*", program, h.APIFile},
		{PUT, "/api/v1/sessions/:session/files/*", programUpload, h.APIPutFile},
		{DELETE, "/api/v1/sessions/:session/files/*", program, h.APIDeleteFile},
		{GET, "/api/v1/turns/:turn", program, h.APITurn},
		{POST, "/api/v1/turns/:turn/stop", program, h.APIStopTurn},
		{POST, "/api/v1/turns/:turn/retry", program, h.APIRetry},
		{POST, "/api/v1/turns/:turn/continue", program, h.APIContinue},
		{POST, "/api/v1/turns/:turn/background", program, h.APIMoveCall},
		{POST, "/api/v1/turns/:turn/approvals", program, h.APIDecide},

		{GET, "/api/v1/admin/sessions", admin, h.APIAdminSessions},
		{DELETE, "/api/v1/admin/sessions/:session", admin, h.APIAdminDeleteSession},
		{GET, "/api/v1/admin/users", admin, h.APIAdminUsers},
		{GET, "/api/v1/admin/usage", admin, h.APIAdminUsage},
		{GET, "/api/v1/admin/truncation", admin, h.APIAdminTruncation},
		{GET, "/api/v1/admin/audit", admin, h.APIAdminAudit},
	}
}

func staticFiles(basePath string) echo.HandlerFunc {
	return echo.WrapHandler(http.StripPrefix(basePath, static.Handler()))
}

// register puts the table into the router. What answers GET answers HEAD too,
// except a live connection.
func register(e *echo.Echo, h *handlers.Handlers, cfg Config) {
	before := map[access][]echo.MiddlewareFunc{
		public:  {limitBody(maxFormBytes)},
		visitor: {limitBody(maxFormBytes), ownOrigin(cfg.PublicURL), handlers.WellFormed, csrf(cfg.Handlers.BasePath), h.Visiting},
		page:    {limitBody(maxFormBytes), ownOrigin(cfg.PublicURL), handlers.WellFormed, csrf(cfg.Handlers.BasePath), h.WithCookie},
		socket:  {h.Watching},
		program: {limitBody(maxJSONBytes), h.WithToken},
		admin:   {limitBody(maxJSONBytes), h.WithToken, handlers.AdminsOnly},

		// Who sends is known before a file is taken.
		files:         {h.LimitUpload, limitBody(h.UploadBytes + formRoom), ownOrigin(cfg.PublicURL), h.WithCookie, handlers.Spooled, handlers.WellFormed, csrf(cfg.Handlers.BasePath)},
		programUpload: {h.LimitUpload, limitBody(h.UploadBytes), h.WithToken},
	}
	before[scrape] = before[admin]
	if cfg.MetricsOpen {
		before[scrape] = before[public]
	}
	before[adminPage] = append(slices.Clone(before[page]), handlers.AdminsOnly)
	for _, r := range routes(h) {
		path := cfg.Handlers.BasePath + r.path
		chain := before[r.access]
		e.Add(r.method, path, r.handle, chain...)
		if r.method == http.MethodGet && r.access != socket {
			e.HEAD(path, r.handle, chain...)
		}
	}
	if cfg.Handlers.BasePath != "" {
		e.GET(cfg.Handlers.BasePath, func(c echo.Context) error {
			return c.Redirect(http.StatusPermanentRedirect, cfg.Handlers.BasePath+"/")
		})
	}
}
