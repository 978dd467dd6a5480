package handlers

import (
	"bytes"
	"encoding/json"

	"offcut/models"
)

// frame is one message to a browser that watches a session, as JSON. Which of
// its members are there depends on Type:
//
//	text, reasoning  d is appended to the plain tail, or the reasoning, of #p-ID
//	seal             html is appended to the blocks of #p-ID, which then stand for
//	                 the text up to bytes; rest is its tail now
//	output           d is appended to the live output of #t-CALL, bytes in all
//	html             content goes to target; swap says how. An optional one is
//	                 of no use to a page that has no target
//	approval         like html: the calls that wait for somebody
//	state            the turn has the state
//	retry            content is the notice that the model's server is asked again,
//	                 and reason its sentence; without them nothing is waited for
//	title            the session's title
//	model            the name of the session's model
//	usage            the turn's tokens, and what is used of the model's window
//	resync           the page cannot be mended: it is too old, or another version
//	                 of the conversation is shown. Fetch the log anew. What follows
//	                 this frame is newer than any log fetched after it
//	gone             d says why; nothing follows. The state is deleted where the
//	                 session is no more, and not only whoever watches
//	ping             nothing happened
//
// An element that an html frame adds and the page has already takes its place
// there, so that a fragment can come twice. One event can make several frames:
// the last alone carries seq, and after a lost connection all of them come
// again. The others carry it as of: a page that was read meanwhile may be newer
// than all of them.
type frame struct {
	Type string `json:"t"`
	Seq  int64  `json:"seq,omitempty"`
	Of   int64  `json:"of,omitempty"` // the number of its event, where another frame of it follows

	ID   string `json:"id,omitempty"`
	Text string `json:"d,omitempty"`
	HTML string `json:"html,omitempty"`
	// Rest is there with every seal: it is often empty.
	Rest *string `json:"rest,omitempty"`

	Call  string `json:"call,omitempty"`
	Bytes int64  `json:"bytes,omitempty"`

	Target   string `json:"target,omitempty"`
	Swap     string `json:"swap,omitempty"`
	Content  string `json:"content,omitempty"`
	Optional bool   `json:"optional,omitempty"`

	Turn  string `json:"turn,omitempty"`
	State string `json:"state,omitempty"`

	Reason string `json:"reason,omitempty"`

	Usage         *models.Usage `json:"usage,omitempty"`
	ContextTokens int64         `json:"context_tokens,omitempty"`
}

// frameDeleted is the state of a frame that says that the session is deleted.
const frameDeleted = "deleted"

// encode is a frame as it is sent. HTML is not escaped a second time.
func (f frame) encode() ([]byte, error) {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(f)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}
