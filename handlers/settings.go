package handlers

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"offcut/models"
	"offcut/views"
	"offcut/views/i18n"

	"github.com/labstack/echo/v4"
)

// ServerFacts is what of the configuration people should know.
type ServerFacts struct {
	Models []ModelFacts // the default one first
	// Approval is auto, ask or never.
	Approval string
	// Sandbox names how commands are confined; empty: they are not.
	Sandbox string
	// Network: commands reach the network.
	Network bool
	// StorageBytes is what one user may store, TurnsPerUser how many answers
	// may be under way for one.
	StorageBytes int64
	TurnsPerUser int
}

// ModelFacts is what people should know of a model.
type ModelFacts struct {
	Name          string
	ContextTokens int
	Price         *models.Price // nil: none is configured
}

// SettingsPage is what the user chose for themselves, and what the server has
// configured that they should know.
func (h *Handlers) SettingsPage(c echo.Context) error {
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	user, _ := CurrentUser(c)
	used, err := h.Store.StorageUsed(ctx, user.ID)
	if err != nil {
		return err
	}
	v := views.Settings{
		Language: user.Settings.Language, Theme: cmp.Or(themeOf(c, user.Settings), string(models.ThemeSystem)), Lines: user.Settings.PreviewLines,
		Thoughts: user.Settings.Thoughts, Notify: user.Settings.Notify, MarkAbsence: !user.Settings.Unmarked, AbsenceOff: h.AbsenceUnmarked, LineChoices: models.PreviewLineChoices,
		Saved: q.text("done") == "saved", Server: h.serverView(used),
	}
	if v.Server.Workspaces, err = h.workspaceSkills(ctx, user.ID); err != nil {
		return err
	}
	v.Languages = languages()
	if v.Sidebar, err = h.sidebar(c, ""); err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.SettingsPage(v))
}

// languages are those of the catalogue, each by its own name.
func languages() []views.Language {
	var all []views.Language
	for _, tag := range i18n.Languages() {
		all = append(all, views.Language{Tag: tag, Name: i18n.Name(tag)})
	}
	return all
}

func (h *Handlers) serverView(used int64) views.Server {
	f := h.Server
	v := views.Server{
		Approval: f.Approval, Sandbox: f.Sandbox, Network: f.Network, Used: used, Storage: f.StorageBytes,
		TurnsPerUser: f.TurnsPerUser, MessageBytes: models.MaxMessageBytes,
	}
	for _, s := range h.Servers.Status() {
		v.Servers = append(v.Servers, views.ServerLine{Name: s.Name, State: string(s.State), Tools: toolNames(s)})
	}
	if h.Skills != nil {
		v.Skills = skillLines(h.Skills(""))
	}
	for _, m := range f.Models {
		line := views.ModelLine{Name: m.Name, ContextTokens: m.ContextTokens}
		if m.Price != nil {
			line.Priced, line.Input, line.Output = true, m.Price.Input, m.Price.Output
		}
		v.Models = append(v.Models, line)
	}
	return v
}

// mostSkills bounds the list of skills in workspaces: past it no further session
// is looked at.
const mostSkills = 200

// workspaceSkills are those in the workspaces of a user's latest sessions, with
// what is broken there.
func (h *Handlers) workspaceSkills(ctx context.Context, user string) ([]views.WorkspaceSkills, error) {
	if h.Skills == nil {
		return nil, nil
	}
	sessions, _, err := h.Store.Sessions(ctx, models.SessionQuery{OwnerID: user, Archived: models.Ptr(false), Page: models.Page{Limit: views.SkillSessions}})
	if err != nil {
		return nil, err
	}
	var all []views.WorkspaceSkills
	n := 0
	for _, s := range sessions {
		lines := skillLines(h.Skills(s.ID))
		if lines = lines[:min(len(lines), mostSkills-n)]; len(lines) == 0 {
			continue
		}
		n += len(lines)
		all = append(all, views.WorkspaceSkills{SessionID: s.ID, Title: s.Title, Skills: lines})
		if n == mostSkills {
			break
		}
	}
	return all, nil
}

func skillLines(facts []SkillFact) []views.SkillLine {
	var lines []views.SkillLine
	for _, f := range facts {
		lines = append(lines, views.SkillLine(f))
	}
	return lines
}

// SaveSettings stores what the user chose.
func (h *Handlers) SaveSettings(c echo.Context) error {
	lines, err := strconv.Atoi(c.FormValue("preview_lines"))
	if err != nil {
		return models.Errorf(models.ErrInvalid, "unknown_preview", "the lines of a preview are one of %v", models.PreviewLineChoices)
	}
	chosen := models.Settings{
		Language: c.FormValue("language"), Theme: models.Theme(c.FormValue("theme")), PreviewLines: lines,
		Thoughts: c.FormValue("thoughts") != "", Notify: c.FormValue("notify") != "",
		Unmarked: c.FormValue("mark_absence") == "",
	}
	if err := h.store(c, chosen); err != nil {
		return err
	}
	return h.goTo(c, "/settings?done=saved")
}

// store keeps what the user chose: with the user and, for the sign-in page, the
// theme and the language in the browser too.
func (h *Handlers) store(c echo.Context, chosen models.Settings) error {
	if err := chosen.Validate(); err != nil {
		return err
	}
	if chosen.Language != "" && !i18n.Known(chosen.Language) {
		return errUnknownLanguage
	}
	h.rememberTheme(c, chosen.Theme)
	h.remember(c, languageCookie, chosen.Language)
	return h.Store.SetSettings(c.Request().Context(), me(c), chosen)
}

var errUnknownLanguage = models.Errorf(models.ErrInvalid, "unknown_language", "the languages are %q, or empty for the browser's", i18n.Languages())

// SetLanguage changes the language of this browser, for those who are not signed
// in; the settings have that of a user.
func (h *Handlers) SetLanguage(c echo.Context) error {
	language := c.FormValue("language")
	if !i18n.Known(language) {
		return errUnknownLanguage
	}
	h.remember(c, languageCookie, language)
	return c.Redirect(http.StatusSeeOther, h.signInAddress(c.FormValue("next")))
}

// SetTheme changes the theme alone. It is for everybody: of somebody who is not
// signed in the browser remembers it.
func (h *Handlers) SetTheme(c echo.Context) error {
	theme := models.Theme(c.FormValue("theme"))
	if theme == "" {
		theme = models.ThemeSystem
	}
	if err := (models.Settings{Theme: theme}).Validate(); err != nil {
		return err
	}
	h.rememberTheme(c, theme)
	if user, ok := CurrentUser(c); ok {
		if err := h.Store.SetTheme(c.Request().Context(), user.ID, theme); err != nil {
			return err
		}
	}
	if isFragment(c) {
		return c.NoContent(http.StatusNoContent)
	}
	return h.goTo(c, orHome(h.ownPath(c.FormValue("next"))))
}

// rememberTheme keeps the theme in the browser; that of the system is none.
func (h *Handlers) rememberTheme(c echo.Context, theme models.Theme) {
	if theme == models.ThemeSystem {
		theme = models.ThemeUnset
	}
	h.remember(c, themeCookie, string(theme))
}

// remember keeps a choice in the browser for a year; an empty one is forgotten.
func (h *Handlers) remember(c echo.Context, name, value string) {
	cookie := &http.Cookie{
		Name: name, Value: value, Path: h.BasePath + "/", MaxAge: int((365 * 24 * time.Hour).Seconds()),
		HttpOnly: true, Secure: Secure(c), SameSite: http.SameSiteLaxMode,
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	c.SetCookie(cookie)
}
