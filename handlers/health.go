package handlers

import (
	"context"
	"net/http"
	"time"

	"offcut/models"

	"github.com/labstack/echo/v4"
)

// Healthz says that the process serves.
func (h *Handlers) Healthz(c echo.Context) error {
	return c.JSON(http.StatusOK, map[string]string{"status": "ok", "version": h.Version})
}

// readyWait is how long the database may take to answer: a probe that waits
// longer has given up.
const readyWait = 2 * time.Second

// Readyz says whether the database can be reached.
func (h *Handlers) Readyz(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyWait)
	defer cancel()
	if err := h.Store.Ping(ctx); err != nil {
		h.Log.ErrorContext(ctx, "not ready", "error", err)
		return models.Errorf(models.ErrUnavailable, "not_ready", "the database cannot be reached")
	}
	return c.JSON(http.StatusOK, map[string]string{"status": "ready"})
}

// ServeMetrics serves the metrics to monitoring.
func (h *Handlers) ServeMetrics(c echo.Context) error {
	if h.Metrics == nil {
		return models.Errorf(models.ErrNotFound, "no_metrics", "this server has no metrics")
	}
	h.Metrics.ServeHTTP(c.Response(), c.Request())
	return nil
}
