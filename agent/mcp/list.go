package mcp

import (
	"errors"
	"fmt"
	"strings"

	"offcut/agent"
	"offcut/models"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The bounds of what models are told of one server's tools, with each request.
const (
	maxTools         = 128
	descriptionBytes = 2 << 10
	specsBytes       = 256 << 10 // of all tools of a server
)

// A list is the tools of a server, as far as they are offered.
type list struct {
	tools   []agent.Tool
	shown   []models.ServerTool
	leftOut []string
}

// listOf bounds what a server says of its tools, and makes tools of it.
func (s *server) listOf(sent []*sdk.Tool) list {
	var out list
	var known []*sdk.Tool
	seen := map[string]bool{}
	for _, t := range sent {
		if t != nil && t.Name != "" && !seen[t.Name] {
			seen[t.Name] = true
			known = append(known, t)
		}
	}
	if len(known) > maxTools {
		out.leftOut = append(out.leftOut, fmt.Sprintf("It has more than %d tools: those after them are left out.", maxTools))
		known = known[:maxTools]
	}
	raw := make([]string, len(known))
	for i, t := range known {
		raw[i] = t.Name
	}
	size, taken := 0, map[string]bool{}
	for i, name := range toolNames(s.cfg.Name, raw) {
		spec, err := specOf(name, known[i], s.scrub)
		size += len(spec.Description) + len(spec.Parameters)
		switch {
		case s.scrub.text(raw[i]) != raw[i]:
			err = errors.New("its name holds a secret of this server's configuration")
		case err != nil:
		case taken[name]:
			err = fmt.Errorf("another tool is called %s", name)
		case size > specsBytes:
			err = fmt.Errorf("the descriptions of its tools have more than %d bytes together", specsBytes)
		}
		if err != nil {
			out.leftOut = append(out.leftOut, fmt.Sprintf("%s: %v.", s.scrub.line(raw[i], maxToolName), err))
			continue
		}
		taken[name] = true
		out.tools = append(out.tools, s.opts.Wrap(tool{spec: spec, remote: raw[i], server: s, timeout: s.cfg.timeout(name)}))
		out.shown = append(out.shown, models.ServerTool{Name: name, Description: spec.Description, ReadOnly: !spec.HasEffects})
	}
	return out
}

// specOf is a tool as models are told of it. What a tool changes is what its
// server says; what it does with a text that was cut nobody knows, so that one
// that may change something does not run on it.
func specOf(name string, t *sdk.Tool, scrub scrubber) (agent.ToolSpec, error) {
	sent, err := scrub.schema(t.InputSchema)
	if err != nil {
		return agent.ToolSpec{}, err
	}
	schema, err := newSchema(sent)
	readOnly := t.Annotations != nil && t.Annotations.ReadOnlyHint
	return agent.ToolSpec{
		Name:          name,
		Description:   bounded(strings.TrimSpace(scrub.text(legible(t.Description))), descriptionBytes),
		Parameters:    schema.parameters,
		HasEffects:    !readOnly,
		Deed:          agent.DeedRemote,
		UnsafeWhenCut: !readOnly,
		Fits:          schema.fits,
	}, err
}
