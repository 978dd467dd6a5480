package handlers

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"offcut/models"

	"github.com/labstack/echo/v4"
)

func TestUploadsOfAUserAreLimitedForAWhile(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	h := New(Config{Now: func() time.Time { return now }})
	as := func(id string) echo.Context {
		c := echo.New().NewContext(httptest.NewRequest(http.MethodPost, "/", nil), httptest.NewRecorder())
		c.Set(userKey, models.User{ID: id})
		return c
	}
	for range uploadsPerUser {
		if err := h.mayUpload(as("ann")); err != nil {
			t.Fatal("refused too early: ", err)
		}
	}
	var told *models.Error
	if err := h.mayUpload(as("ann")); !errors.As(err, &told) || !errors.Is(err, models.ErrLimited) || told.RetryAfter < time.Second {
		t.Fatalf("one file more: %v", err)
	}
	if err := h.mayUpload(as("bob")); err != nil {
		t.Errorf("another user: %v", err)
	}
	now = now.Add(told.RetryAfter)
	if err := h.mayUpload(as("ann")); err != nil {
		t.Errorf("after the wait: %v", err)
	}
}
