package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// A request that a collector is too busy for is sent again so often, after waits
// from the first to the second; the batches themselves have 30 s.
const (
	sendsAgain = 4
	leastWait  = time.Second
	mostWait   = 15 * time.Second
)

// maxAnswer bounds what is read of a collector's answer, in bytes.
const maxAnswer = 64 << 10

// collector is where spans are sent by OTLP, as protobuf over HTTP. The client
// that comes with OpenTelemetry links gRPC, its gateway and what they need, which
// is more than 2 MiB of a program that never uses them.
type collector struct {
	address string
	header  http.Header
	gzip    bool
	http    *retryablehttp.Client
}

var _ otlptrace.Client = (*collector)(nil)

// newCollector reads the variables of the convention by env; see otlpSettings.
func newCollector(env func(string) string, version string) (*collector, error) {
	s, err := readOTLP(env)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = s.tls
	c := &collector{address: s.address, header: s.header, gzip: s.gzip, http: retryablehttp.NewClient()}
	c.header.Set("Content-Type", "application/x-protobuf")
	c.header.Set("User-Agent", "offcut/"+version)
	if c.gzip {
		c.header.Set("Content-Encoding", "gzip")
	}
	// A redirect would take the headers, which may hold a key, to another server.
	c.http.HTTPClient = &http.Client{Transport: transport, Timeout: s.timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	c.http.Logger, c.http.ErrorHandler, c.http.CheckRetry = nil, retryablehttp.PassthroughErrorHandler, worthAnother
	c.http.RetryMax, c.http.RetryWaitMin, c.http.RetryWaitMax = sendsAgain, leastWait, mostWait
	return c, nil
}

// worthAnother reports whether a request is sent again: the protocol names the
// answers (https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes).
func worthAnother(ctx context.Context, response *http.Response, err error) (bool, error) {
	if err != nil || ctx.Err() != nil {
		return retryablehttp.DefaultRetryPolicy(ctx, response, err)
	}
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true, nil
	}
	return false, nil
}

// Start implements otlptrace.Client. Nothing is connected before there are spans.
func (c *collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *collector) Stop(context.Context) error {
	c.http.HTTPClient.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client: it sends spans in one request.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// Its bytes are those of the service's ExportTraceServiceRequest, whose
	// package brings gRPC.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	if c.gzip {
		body = compressed(body)
	}
	request, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, c.address, body)
	if err != nil {
		return err
	}
	request.Header = c.header.Clone()
	response, err := c.http.Do(request)
	if err != nil {
		return unnamed(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	switch {
	case response.StatusCode/100 != 2:
		return fmt.Errorf("the collector answered %s: %.300q", response.Status, answer)
	case err != nil:
		return fmt.Errorf("read the collector's answer: %w", err)
	}
	return leftOut(answer)
}

// unnamed is an error without the address, which may hold a key.
func unnamed(err error) error {
	if of, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("reach the collector: %w", of.Err)
	}
	return err
}

func compressed(body []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(body) // a buffer takes all
	_ = w.Close()
	return out.Bytes()
}

// leftOut is what a collector says of spans that it did not take although it
// answered well: ExportTraceServiceResponse holds in its field 1 how many (1) and
// why (2). What cannot be read says nothing.
func leftOut(answer []byte) error {
	partial, _ := field(answer, 1)
	_, rejected := field(partial, 1)
	why, _ := field(partial, 2)
	if rejected == 0 && len(why) == 0 {
		return nil
	}
	return fmt.Errorf("the collector left out %d spans: %.300q", rejected, why)
}

// field is a field of a message, by its number: its bytes or its number.
func field(message []byte, number protowire.Number) (text []byte, n uint64) {
	for len(message) > 0 {
		found, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return nil, 0
		}
		value := message[size:]
		if size = protowire.ConsumeFieldValue(found, kind, value); size < 0 {
			return nil, 0
		}
		switch {
		case found == number && kind == protowire.BytesType:
			text, _ = protowire.ConsumeBytes(value)
		case found == number && kind == protowire.VarintType:
			n, _ = protowire.ConsumeVarint(value)
		}
		message = value[size:]
	}
	return text, n
}
