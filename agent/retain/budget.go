package retain

import (
	"offcut/agent"
	"offcut/models"
)

// scriptTool is the tool whose results have a command's preview.
const scriptTool = "run_script"

// A budget is how much of a result is shown.
type budget struct {
	own    int  // the tool's, in bytes
	round  int  // the call's share of the context window; 0: no bound
	tokens bool // the tool's own is set in tokens
	keep   Keep
}

// budget is what holds for a call. A tool that has none of its own has that of
// every tool, and where that is not set either the preset one.
func (c Config) budget(call agent.Call, preset int) budget {
	if call.Tool == scriptTool {
		preset = CommandPreviewBytes
	}
	tool := c.Tools[call.Tool]
	if tool.PreviewBytes == 0 && tool.MaxResultTokens == 0 {
		tool.MaxResultTokens = c.MaxResultTokens
	}
	b := budget{own: preset, round: max(0, call.Budget), keep: tool.Keep}
	if tool.PreviewBytes > 0 {
		b.own = tool.PreviewBytes
	}
	if tokens := tool.MaxResultTokens; tokens > 0 && (tool.PreviewBytes == 0 || tokens*agent.BytesPerToken <= b.own) {
		b.own, b.tokens = tokens*agent.BytesPerToken, true
	}
	return b
}

// bytes is what may be shown.
func (b budget) bytes() int {
	if b.round > 0 {
		return min(b.own, b.round)
	}
	return b.own
}

// reasons are what cuts a result of the given length, which is cut.
func (b budget) reasons(length int64) []models.Reason {
	var reasons []models.Reason
	window := b.round > 0 && b.round < b.own && length > int64(b.round)
	if !window || length > int64(b.own) {
		reasons = append(reasons, models.ReasonPreview)
	}
	if window {
		reasons = append(reasons, models.ReasonWindow)
	}
	return reasons
}

// message is the template of the marker.
func (c Config) message() string {
	if c.Message != "" {
		return c.Message
	}
	return DefaultMessage
}
