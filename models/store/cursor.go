package store

import (
	"bytes"
	"encoding/base64"
	"encoding/json"

	"offcut/models"
)

// encodeCursor makes an opaque cursor of the key of the last row of a page. A
// cursor names its list, so that one of another list is refused.
func encodeCursor(list string, key ...any) string {
	raw, err := json.Marshal(append([]any{list}, key...))
	if err != nil {
		panic("store: a cursor holds only numbers and strings: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// decodeCursor reads the key of a cursor into pointers of the types that were
// encoded. An empty cursor leaves them as they are: they hold the start of the
// list.
func decodeCursor(list, cursor string, key ...any) error {
	if cursor == "" {
		return nil
	}
	invalid := models.Errorf(models.ErrMalformed, "invalid_cursor", "this list does not know that cursor; leave it out to start from the beginning")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil {
		return invalid
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil || len(parts) != len(key)+1 {
		return invalid
	}
	var named string
	for i, into := range append([]any{&named}, key...) {
		if bytes.Equal(parts[i], []byte("null")) || json.Unmarshal(parts[i], into) != nil {
			return invalid
		}
	}
	if named != list {
		return invalid
	}
	return nil
}

// cutPage cuts rows, fetched one beyond the limit, to the page, and makes the
// cursor of the next one out of the last row's key; empty: this was the last.
func cutPage[T any](rows []T, limit int, cursor func(last T) string) ([]T, string) {
	if len(rows) <= limit {
		return rows, ""
	}
	rows = rows[:limit]
	return rows, cursor(rows[limit-1])
}
