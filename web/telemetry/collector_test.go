package telemetry

import (
	"compress/gzip"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// variables are an environment.
type variables map[string]string

func (v variables) get(name string) string { return v[name] }

var spans = []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{Name: "a turn"}}}}}}

// sendsTo sends one span as the variables say.
func sendsTo(t *testing.T, env variables) error {
	t.Helper()
	c, err := newCollector(env.get, "test")
	if err != nil {
		t.Fatal(err)
	}
	c.http.RetryWaitMin, c.http.RetryWaitMax = time.Millisecond, time.Millisecond
	defer func() { _ = c.Stop(t.Context()) }()
	return c.UploadTraces(t.Context(), spans)
}

func TestSpansGoWhereTheVariablesSay(t *testing.T) {
	for name, c := range map[string]struct {
		env  variables // ADDRESS stands for the collector's
		path string
		want http.Header
	}{
		"the path of traces is added":           {variables{"ENDPOINT": "ADDRESS"}, "/v1/traces", nil},
		"also below a path":                     {variables{"ENDPOINT": "ADDRESS/otlp/"}, "/otlp/v1/traces", nil},
		"an address for traces is as it is":     {variables{"ENDPOINT": "http://127.0.0.1:1", "TRACES_ENDPOINT": "ADDRESS/in"}, "/in", nil},
		"headers, with those for traces over":   {variables{"ENDPOINT": "ADDRESS", "HEADERS": "x-key=a%20b, X-Org = 7", "TRACES_HEADERS": "x-org=8"}, "/v1/traces", http.Header{"X-Key": {"a b"}, "X-Org": {"8"}}},
		"packed":                                {variables{"ENDPOINT": "ADDRESS", "COMPRESSION": "gzip"}, "/v1/traces", http.Header{"Content-Encoding": {"gzip"}}},
		"with the protocol that there is named": {variables{"ENDPOINT": "ADDRESS", "PROTOCOL": "http/protobuf", "TIMEOUT": "30000"}, "/v1/traces", http.Header{"Content-Type": {"application/x-protobuf"}}},
	} {
		t.Run(name, func(t *testing.T) {
			var got tracepb.TracesData
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if r.URL.Path != c.path || r.Method != http.MethodPost {
					t.Errorf("%s %s, want %s", r.Method, r.URL.Path, c.path)
				}
				for name := range c.want {
					if r.Header.Get(name) != c.want.Get(name) {
						t.Errorf("%s is %q, want %q", name, r.Header.Get(name), c.want.Get(name))
					}
				}
				body := io.Reader(r.Body)
				if r.Header.Get("Content-Encoding") == "gzip" {
					body, _ = gzip.NewReader(body)
				}
				raw, err := io.ReadAll(body)
				if err != nil || proto.Unmarshal(raw, &got) != nil {
					t.Errorf("what came is not what was sent: %v", err)
				}
			}))
			defer server.Close()
			env := variables{}
			for name, value := range c.env {
				env["OTEL_EXPORTER_OTLP_"+name] = strings.Replace(value, "ADDRESS", server.URL, 1)
			}
			if err := sendsTo(t, env); err != nil {
				t.Fatal(err)
			}
			if !proto.Equal(&got, &tracepb.TracesData{ResourceSpans: spans}) {
				t.Errorf("%v came", &got)
			}
		})
	}
}

func TestACollectorWithACertificateOfItsOwn(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "root.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sendsTo(t, variables{"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL, "OTEL_EXPORTER_OTLP_CERTIFICATE": file}); err != nil {
		t.Error(err)
	}
	if err := sendsTo(t, variables{"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL}); err == nil {
		t.Error("a certificate that nobody vouches for was taken")
	}
}

// partly is the answer of a collector that took a part.
func partly(rejected uint64, why string) string {
	inner := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), rejected)
	inner = protowire.AppendString(protowire.AppendTag(inner, 2, protowire.BytesType), why)
	return string(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inner))
}

func TestACollectorsAnswerCounts(t *testing.T) {
	type answer struct {
		status int
		body   string
	}
	for name, c := range map[string]struct {
		answers []answer // the last one again and again
		sent    int32
		err     string // empty: none
	}{
		"well":                     {[]answer{{200, ""}}, 1, ""},
		"busy at first":            {[]answer{{503, "later"}, {429, "later"}, {200, ""}}, 3, ""},
		"busy for good":            {[]answer{{503, "later"}}, 1 + sendsAgain, "503 Service Unavailable: \"later\""},
		"a refusal":                {[]answer{{400, "what is this?"}}, 1, "400 Bad Request: \"what is this?\""},
		"a failure is no busyness": {[]answer{{500, ""}}, 1, "500"},
		"a part":                   {[]answer{{200, partly(2, "too old")}}, 1, "left out 2 spans: \"too old\""},
		"a warning":                {[]answer{{200, partly(0, "soon gone")}}, 1, "soon gone"},
		"an answer in JSON":        {[]answer{{200, `{"partialSuccess":{}}`}}, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var sent atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				n := int(sent.Add(1))
				a := c.answers[min(n, len(c.answers))-1]
				w.WriteHeader(a.status)
				_, _ = io.WriteString(w, a.body)
			}))
			defer server.Close()
			err := sendsTo(t, variables{"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL})
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || sent.Load() != c.sent {
				t.Errorf("%v after %d requests; want %q after %d", err, sent.Load(), c.err, c.sent)
			}
		})
	}
}

func TestWrongVariablesAreRefusedWithoutTheirSecrets(t *testing.T) {
	for name, env := range map[string]variables{
		"OTEL_EXPORTER_OTLP_ENDPOINT":           {"OTEL_EXPORTER_OTLP_ENDPOINT": "user:s3cret@localhost:4318"},
		"OTEL_EXPORTER_OTLP_HEADERS":            {"OTEL_EXPORTER_OTLP_HEADERS": "s3cret"},
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS":     {"OTEL_EXPORTER_OTLP_TRACES_HEADERS": "x-key=s3cret%0d%0aX-Other: 1"},
		"OTEL_EXPORTER_OTLP_PROTOCOL":           {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
		"OTEL_EXPORTER_OTLP_TIMEOUT":            {"OTEL_EXPORTER_OTLP_TIMEOUT": "10s"},
		"OTEL_EXPORTER_OTLP_COMPRESSION":        {"OTEL_EXPORTER_OTLP_COMPRESSION": "zstd"},
		"OTEL_EXPORTER_OTLP_CERTIFICATE":        {"OTEL_EXPORTER_OTLP_CERTIFICATE": "/nowhere"},
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": {"OTEL_EXPORTER_OTLP_CLIENT_KEY": "/nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			all := variables{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}
			for name, value := range env {
				all[name] = value
			}
			_, err := newCollector(all.get, "test")
			if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestNoKeyLeavesWithAnErrorOrARedirect(t *testing.T) {
	err := sendsTo(t, variables{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1/in?token=a8Xk29fQm1Lz77Tb"})
	if err == nil || strings.Contains(err.Error(), "a8Xk29fQm1Lz77Tb") {
		t.Errorf("a collector that is not there: %v", err)
	}
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer other.Close()
	collector := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer collector.Close()
	if err := sendsTo(t, variables{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL}); err == nil {
		t.Error("a redirect counts as taken")
	}
}
