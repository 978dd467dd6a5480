package tools

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"

	"offcut/agent"
	"offcut/agent/fetch"
	"offcut/models"
)

//go:embed fetch_url.md
var fetchURLDescription string

type fetchURLArgs struct {
	URL   string `json:"url" jsonschema:"the address, with http:// or https://"`
	Whole bool   `json:"whole,omitempty" jsonschema:"all text of an HTML page, menus included, and not only its main text"`
}

type fetchURL struct{ fetcher *fetch.Fetcher }

// newFetchURL makes a tool that must not run on a part of an address: that would
// be another one.
func newFetchURL(f *fetch.Fetcher) agent.Tool {
	t := fetchURL{f}
	return newTyped(agent.ToolSpec{Name: "fetch_url", Description: fetchURLDescription, Deed: agent.DeedFetch, UnsafeWhenCut: true}, t.run,
		standard("whole", false))
}

func (t fetchURL) run(ctx context.Context, call agent.Call, args fetchURLArgs) (agent.ToolResult, error) {
	answer, text, err := t.fetcher.Fetch(ctx, call.OwnerID, args.URL, args.Whole)
	if err != nil {
		return agent.ToolResult{}, notFetched(args.URL, err)
	}
	meta := models.ResultMetadata{Binary: text.Binary, Encoding: text.Encoding, ReplacedBytes: text.ReplacedBytes}
	if text.Cut {
		meta.Truncated, meta.Complete = true, models.Ptr(false)
		meta.Reasons = []models.Reason{models.ReasonCapture}
	}
	result := agent.ToolResult{Content: text.Content(), Metadata: meta}
	if text.Binary {
		result.Metadata.SHA256 = fmt.Sprintf("%x", sha256.Sum256(answer.Raw))
	}
	if text.Made {
		result.Original = &agent.Original{MediaType: text.MediaType, Bytes: answer.Raw}
	}
	return result, nil
}

// notFetched says why an address was not fetched, where the model can mend it.
func notFetched(address string, err error) error {
	var why fetch.Refused
	if errors.As(err, &why) {
		return refusef("%s was not fetched: %s.", shortened(address), why)
	}
	return toldOf(err)
}

// shortened is an address as an error quotes it.
func shortened(address string) string {
	if len(address) > 300 {
		return address[:300] + "…"
	}
	return address
}
