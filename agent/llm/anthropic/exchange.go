package anthropic

import (
	"encoding/json"
	"net/http"

	"offcut/agent/llm"
)

// exchange carries one request and remembers the reader under its stream; nil
// where there is none.
type exchange struct {
	client *http.Client
	events *llm.EventReader
}

// Do implements the SDK's HTTPClient.
func (e *exchange) Do(req *http.Request) (*http.Response, error) {
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return resp, nil // the transport bounds it
	}
	e.events = llm.NewEventReader(resp.Body, llm.StallLimit, llm.LingerLimit, writeEvent)
	resp.Body = e.events
	return resp, nil
}

// writeEvent gives an event to the SDK in the form that it reads. It passes over
// those without a name, which some servers send: theirs is in the payload too.
func writeEvent(out, name, payload []byte) []byte {
	if len(name) == 0 {
		var event struct {
			Type  string          `json:"type"`
			Error json.RawMessage `json:"error"`
		}
		_ = json.Unmarshal(payload, &event) // what does not parse fails at the SDK
		name = []byte(event.Type)
		if event.Error != nil {
			name = []byte("error")
		}
	}
	out = append(append(out, "event: "...), name...)
	out = append(append(out, "\ndata: "...), payload...)
	return append(out, "\n\n"...)
}
