package anthropic

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"slices"
	"strings"

	anthropic "github.com/anthropics/anthropic-sdk-go/v2"

	"offcut/agent"
	"offcut/models"
)

// The API signs a model's thinking, and takes a block of it back as it was or
// not at all: to the model that wrote it, with all other blocks of its reply in
// their order, and, of the newer models, only behind the very instructions,
// tools and messages that stood before it when it was written. Pruning,
// compaction and edited messages change those. Blocks may be left out from the
// oldest on, but none between others.
//
// So a reply keeps how it was laid out and a digest of what stood before it, and
// its thinking is sent where that is the same still, and nothing behind it was
// left out.

// The types of blocks, as the API names them.
const (
	partText     = "text"
	partThinking = "thinking"
	partRedacted = "redacted_thinking"
	partCall     = "tool_use"
)

// textBreak stands between the blocks of text of a reply.
const textBreak = "\n\n"

// part is a block of a reply. What it says is in the message.
type part struct {
	Type      string `json:"type"`
	Length    int    `json:"length,omitempty"` // of its text or thinking, in bytes
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"` // of redacted thinking
}

// sealed: it is thinking that the API takes back. Thinking that was cut off has
// no signature.
func (p part) sealed() bool { return p.Signature != "" || p.Data != "" }

// layout is the reasoning's data of a message.
type layout struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Prefix   string `json:"prefix"` // the digest of what stood before the reply
	Parts    []part `json:"parts"`
}

const provider = "anthropic"

// outline is what a request's history means for the thinking in it.
type outline struct {
	model  string
	prefix string // the digest of all that is sent
	// from is the first message whose thinking is sent; sendsThoughts: there is
	// such thinking.
	from          int
	sendsThoughts bool
	newest        thoughts // what is sent of it last
	// plain: in the running turn there is a reply that goes back without thinking.
	plain bool
}

// thoughts tell the thinking of one reply from that of others.
type thoughts [sha256.Size]byte

// outline looks through a request's history.
//
// The models that have a budget for thinking are those before the ones that
// look at what stands before it. They want the thinking of their last calls
// back, whatever became of what it was about.
func (c *Client) outline(r agent.Request) outline {
	o := outline{model: cmp.Or(r.Model, c.config.Model)}
	before := newDigest(r)
	asked, plain, last := -1, -1, -1 // the latest messages that are so
	for i, m := range r.Messages {
		l, ok := o.layout(m)
		switch {
		case m.Role == models.RolePerson:
			asked = i
		case ok && !c.config.OmitReasoning:
			last, o.newest = i, sha256.Sum256([]byte(m.ReasoningData))
			changed := c.config.ThinkingTokens == 0 && l.Prefix != before.sum()
			if changed || c.refused.Contains(o.newest) {
				o.from = i + 1
			}
		case m.Role == models.RoleAssistant:
			plain = i
		}
		before.add(m)
	}
	o.prefix, o.sendsThoughts = before.sum(), last >= o.from
	o.plain = max(plain, o.from-1) > asked
	return o
}

// layout reads the layout of a reply of the model that is asked.
func (o outline) layout(m models.Message) (layout, bool) {
	var l layout
	if m.Role != models.RoleAssistant || m.ReasoningData == "" || json.Unmarshal([]byte(m.ReasoningData), &l) != nil {
		return l, false
	}
	return l, l.Provider == provider && l.Model == o.model
}

// data is what is kept of a reply's blocks; empty where none of them is of use.
func (o outline) data(blocks []*block) string {
	l := layout{Provider: provider, Model: o.model, Prefix: o.prefix}
	for _, b := range blocks {
		l.Parts = append(l.Parts, b.part)
	}
	if !slices.ContainsFunc(l.Parts, part.sealed) {
		return ""
	}
	data, err := json.Marshal(l)
	if err != nil {
		return "" // it holds strings and numbers only
	}
	return string(data)
}

// blocks are the blocks of a reply as they came; false: the message is not as
// it was laid out. Thinking without a signature is left out, except where it is
// all that the reply holds.
func (l layout) blocks(m models.Message) ([]anthropic.ContentBlockParamUnion, bool) {
	said, thought, calls := pieces{rest: m.Content, gap: textBreak}, pieces{rest: m.Reasoning, gap: models.ThoughtBreak}, m.ToolCalls
	thoughtOnly := m.Content == agent.UnfinishedThinking
	if thoughtOnly {
		said.rest = ""
	}
	var out []anthropic.ContentBlockParamUnion
	for _, p := range l.Parts {
		switch p.Type {
		case partText:
			out = appendText(out, said.next(p.Length))
		case partThinking:
			text := thought.next(p.Length)
			if p.sealed() {
				out = append(out, anthropic.NewThinkingBlock(p.Signature, text))
			} else if thoughtOnly {
				out = appendText(out, text)
			}
		case partRedacted:
			out = append(out, anthropic.NewRedactedThinkingBlock(p.Data))
		case partCall:
			if len(calls) == 0 {
				return nil, false
			}
			out, calls = append(out, callBlock(calls[0])), calls[1:]
		}
	}
	if thoughtOnly {
		out = appendText(out, agent.UnfinishedThinking)
	}
	return out, said.used() && thought.used() && len(calls) == 0
}

// pieces takes a text apart that was joined of several.
type pieces struct {
	rest, gap string
	begun     bool
	wrong     bool
}

// next is the next piece, which has n bytes.
func (p *pieces) next(n int) string {
	if n == 0 || p.wrong {
		return ""
	}
	rest := p.rest
	if p.begun {
		rest = strings.TrimPrefix(rest, p.gap)
	}
	if n > len(rest) {
		p.wrong = true
		return ""
	}
	p.begun, p.rest = true, rest[n:]
	return rest[:n]
}

// used: the pieces were the whole text.
func (p *pieces) used() bool { return !p.wrong && p.rest == "" }

// digest sums up what stands before a message. Thinking is no part of it: that
// may be left out.
type digest struct{ hash hash.Hash }

func newDigest(r agent.Request) digest {
	d := digest{sha256.New()}
	d.write(r.System)
	for _, t := range r.Tools {
		d.write(t.Name, t.Description, string(t.Parameters))
	}
	return d
}

func (d digest) add(m models.Message) {
	if m.Role == models.RoleTool {
		d.write(m.ToolCallID, agent.ToolText(m))
		return
	}
	d.write(string(m.Role), m.Content)
	for _, c := range m.ToolCalls {
		d.write(c.ID, c.Name, c.Arguments)
	}
}

// write adds words, each with its length, so that none runs into the next.
func (d digest) write(words ...string) {
	for _, w := range words {
		d.hash.Write(binary.AppendUvarint(nil, uint64(len(w))))
		d.hash.Write([]byte(w))
	}
}

func (d digest) sum() string { return hex.EncodeToString(d.hash.Sum(nil)[:16]) }
