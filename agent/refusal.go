package agent

import (
	"net/http"
	"time"

	"offcut/models"
)

// Refusal is a request that a provider found wrong, with all that is needed to
// find out why.
type Refusal struct {
	At        time.Time
	SessionID string
	TurnID    string
	// Settings is the model's configuration, by the names of its keys and
	// without secrets.
	Settings map[string]any
	Request  Request
	Err      *ModelError
}

// RefusesRequest reports whether the provider found the request itself wrong:
// it answered 400 (or 413 or 422, as some servers do in its place), or said in
// whatever way that the request is too long for the model.
func (e *ModelError) RefusesRequest() bool {
	switch e.Status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return e.Code == models.CodeContextOverflow
}
