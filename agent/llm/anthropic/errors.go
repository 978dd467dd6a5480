package anthropic

import (
	"errors"
	"net"
	"net/http"
	"net/url"

	anthropic "github.com/anthropics/anthropic-sdk-go/v2"

	"offcut/agent"
	"offcut/agent/llm"
)

// requestError describes a request that got no stream.
func (c *Client) requestError(err error, retries int) *agent.ModelError {
	var api *anthropic.Error
	if errors.As(err, &api) {
		var header http.Header
		if api.Response != nil {
			header = api.Response.Header
		}
		refused := c.server.Refused(api.StatusCode, llm.NewProviderError([]byte(api.RawJSON())), header, retries)
		refused.Answer = api.RawJSON()
		return refused
	}
	var transport *url.Error
	var network net.Error
	if !errors.As(err, &transport) && !errors.As(err, &network) {
		return c.server.Unsendable(err) // the SDK refused the request itself
	}
	if transport != nil {
		err = transport.Err
	}
	return c.server.Unreachable(err, retries)
}

// reported is the error of a stream: where it is an event of the provider, in
// the provider's words.
func reported(err error) error {
	var api *anthropic.Error
	if errors.As(err, &api) {
		return llm.NewProviderError([]byte(api.RawJSON()))
	}
	return err
}
