package mcp

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"offcut/agent"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// noContent is what is said of a result that has none.
const noContent = "(no content)"

// A body is a result as text: what is text as it is, and of anything else a
// line that names it.
type body struct {
	strings.Builder
	texts []string
}

// block begins where the one before it ended a line.
func (b *body) block(text string) {
	if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString(text)
}

// result is a server's answer as a model reads it. Images and other files are
// written into the session's workspace, where the user has them and the model
// can work with them: as text they would flood it.
func (s *server) result(ctx context.Context, call agent.Call, answer *sdk.CallToolResult) agent.ToolResult {
	var b body
	files := newFiles(ctx, call, s.opts.Room)
	for _, content := range answer.Content {
		s.item(&b, files, content)
	}
	text := b.String()
	if structured, _ := answer.StructuredContent.(string); structured != "" && !repeats(structured, b.texts) {
		text = strings.TrimSuffix(compact(structured)+"\n"+text, "\n")
	}
	if answer.Meta[carriedKey] != nil {
		text = restored(text)
	}
	result := agent.ToolResult{ToolCallID: call.ID, Content: s.scrub.text(text), IsError: answer.IsError}
	if text == "" {
		result.Notes = []string{noContent}
	}
	result.Metadata.IsError = answer.IsError
	files.describe(&result.Metadata)
	return result
}

// item adds one item of an answer.
func (s *server) item(b *body, files *files, content sdk.Content) {
	switch c := content.(type) {
	case *sdk.TextContent:
		b.block(c.Text)
		if c.Meta[unreadKey] == nil {
			b.texts = append(b.texts, c.Text)
		}
	case *sdk.ImageContent:
		b.block(files.store("image", c.MIMEType, "", s.scrub.bytes(c.Data)))
	case *sdk.AudioContent:
		b.block(files.store("audio", c.MIMEType, "", s.scrub.bytes(c.Data)))
	case *sdk.EmbeddedResource:
		s.resource(b, files, c.Resource)
	case *sdk.ResourceLink:
		b.block(linked(c))
	default:
		written, err := content.MarshalJSON()
		if err == nil {
			b.block(string(written))
		}
	}
}

// resource is one that came with the result.
func (s *server) resource(b *body, files *files, r *sdk.ResourceContents) {
	switch {
	case r == nil:
	case r.Blob != nil:
		b.block(files.store("resource", r.MIMEType, flat(r.URI), s.scrub.bytes(r.Blob)))
	default:
		b.block(fmt.Sprintf("[resource %s, %s]", flat(r.URI), kind(r.MIMEType, len(r.Text))))
		b.block(r.Text)
	}
}

// linked names a resource that did not come with the result.
func linked(c *sdk.ResourceLink) string {
	text := "[link to a resource: " + flat(c.URI)
	if name := flat(c.Name); name != "" {
		text += ", " + name
	}
	if mime := flat(c.MIMEType); mime != "" {
		text += ", " + mime
	}
	if c.Size != nil {
		text += fmt.Sprintf(", %d bytes", *c.Size)
	}
	if description := flat(c.Description); description != "" {
		text += ": " + description
	}
	return text + "]"
}

// kind is the type and size of something.
func kind(mime string, size int) string {
	if mime = flat(mime); mime == "" {
		mime = "of no named type"
	}
	return fmt.Sprintf("%s, %d bytes", mime, size)
}

// flat is a text of a server as a part of one line: all of it, as an address of
// which the end is missing leads nowhere, without what would end the line or
// steer a terminal.
func flat(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, text))
}
