package agent

import (
	"fmt"
	"strings"

	"offcut/models"
)

// MaxIdenticalCalls is the identical call in a row, with an identical result
// each time, that is answered with an error: the model is going in a circle.
const MaxIdenticalCalls = 5

// repeats watches for identical calls in a row.
type repeats struct {
	call, result string
	count        int
}

// check counts the result of a call, and replaces it where the model went in a
// circle.
func (r *repeats) check(c models.ToolCall, m *models.Message) {
	call, result := c.Name+"\x00"+c.Arguments, fingerprint(*m)
	if call != r.call || result != r.result {
		*r = repeats{call: call, result: result}
	}
	r.count++
	if r.count >= MaxIdenticalCalls {
		circle(m, r.count)
	}
}

// fingerprint is what makes results identical: not the time they took, nor the
// ids of the kept copies, which are new each time.
func fingerprint(m models.Message) string {
	meta := *m.Metadata
	meta.ExecutionMS = nil
	text := meta.Line() + "\n" + m.Content
	ids := []string{meta.OutputID}
	for _, nested := range meta.Nested {
		ids = append(ids, nested.OutputID)
	}
	for _, id := range ids {
		if id != "" {
			text = strings.ReplaceAll(text, id, "")
		}
	}
	return text
}

// circle replaces a result by the error. What was kept of it stays readable.
func circle(m *models.Message, count int) {
	was := *m.Metadata
	m.Content = fmt.Sprintf("This was the same call with the same result %d times in a row; that result before it stands above. Calling it again will not change it: do something else, or say what you could not find out.", count)
	m.Metadata = &models.ResultMetadata{
		IsError: true, ExecutionMS: was.ExecutionMS, Background: was.Background,
		OutputID: was.OutputID, TotalBytes: was.TotalBytes, Complete: was.Complete, Retention: was.Retention,
		Nested: was.Nested, Calls: was.Calls,
	}
}
