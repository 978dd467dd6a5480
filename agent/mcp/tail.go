package mcp

import (
	"strings"
	"sync"
)

// tail keeps the end of what was written to it.
type tail struct {
	mu   sync.Mutex
	most int
	text []byte
	cut  bool
}

// Write never fails, and never holds the writer up.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(p) >= t.most {
		t.text, t.cut = append(t.text[:0], p[len(p)-t.most:]...), true
		return len(p), nil
	}
	if over := len(t.text) + len(p) - t.most; over > 0 {
		t.text, t.cut = t.text[:copy(t.text, t.text[over:])], true
	}
	t.text = append(t.text, p...)
	return len(p), nil
}

// String is the end, from the beginning of a line where something was cut.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.ToValidUTF8(string(t.text), "")
	if _, rest, found := strings.Cut(text, "\n"); t.cut && found {
		return rest
	}
	return text
}
