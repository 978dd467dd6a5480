package handlers

import (
	"net/http"

	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// AdminServers shows the servers of tools, and why one does not run.
func (h *Handlers) AdminServers(c echo.Context) error {
	var v views.AdminServers
	for _, s := range h.Servers.Status() {
		v.Servers = append(v.Servers, serverView(s))
	}
	return h.render(c, http.StatusOK, views.AdminServersPage(v))
}

// AdminRestartServer ends a server and starts it again. Calls of it that run
// have an error for their result.
func (h *Handlers) AdminRestartServer(c echo.Context) error {
	name := c.FormValue("server")
	if err := h.Servers.Restart(name); err != nil {
		return err
	}
	if err := h.Store.AddAudit(c.Request().Context(), h.entry(c, models.AuditServerRestart, name, models.Deedf("server_restarted", "restarted the MCP server %s", models.Arg("name", name)))); err != nil {
		return err
	}
	return h.goTo(c, "/admin/mcp")
}

func serverView(s models.ToolServer) views.MCPServer {
	v := views.MCPServer{
		Name: s.Name, Local: s.Local, Address: s.Address, State: string(s.State), Since: s.Since, Product: s.Product,
		Error: s.Error, RetryAt: s.RetryAt, LeftOut: s.LeftOut, Stderr: s.Stderr,
	}
	for _, t := range s.Tools {
		v.Tools = append(v.Tools, views.MCPTool(t))
	}
	return v
}

func toolNames(s models.ToolServer) []string {
	var names []string
	for _, t := range s.Tools {
		names = append(names, t.Name)
	}
	return names
}
