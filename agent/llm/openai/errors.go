package openai

import (
	"errors"
	"net"
	"net/http"
	"net/url"

	openai "github.com/sashabaranov/go-openai"

	"offcut/agent"
	"offcut/agent/llm"
)

// requestError describes a request that got no stream.
func (c *Client) requestError(err error, header http.Header, retries int) *agent.ModelError {
	var api *openai.APIError
	var raw *openai.RequestError
	switch {
	case errors.As(err, &raw): // first: it may wrap an APIError that was only half read
		return c.server.Refused(raw.HTTPStatusCode, llm.NewProviderError(raw.Body), header, retries)
	case errors.As(err, &api):
		code, _ := api.Code.(string)
		return c.server.Refused(api.HTTPStatusCode, &llm.ProviderError{Code: code + " " + api.Type, Words: api.Message}, header, retries)
	}
	var transport *url.Error
	var network net.Error
	if !errors.As(err, &transport) && !errors.As(err, &network) {
		return c.server.Unsendable(err) // go-openai refused the request itself
	}
	if transport != nil {
		err = transport.Err
	}
	return c.server.Unreachable(err, retries)
}
