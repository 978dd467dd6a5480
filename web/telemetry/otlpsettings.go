package telemetry

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// otlpSettings are how spans are sent, as the variables of the convention say
// (https://opentelemetry.io/docs/specs/otel/protocol/exporter/). Each has a form
// for traces alone, OTEL_EXPORTER_OTLP_TRACES_…, which beats the one for all.
type otlpSettings struct {
	address string
	header  http.Header
	timeout time.Duration // of one request
	gzip    bool
	tls     *tls.Config // nil: the system's
}

// defaultTimeout is that of the convention.
const defaultTimeout = 10 * time.Second

// otlpEnv reads the variables by the last part of their names.
type otlpEnv func(string) string

func (env otlpEnv) get(name string) string {
	return cmp.Or(strings.TrimSpace(env("OTEL_EXPORTER_OTLP_TRACES_"+name)), strings.TrimSpace(env("OTEL_EXPORTER_OTLP_"+name)))
}

// readOTLP reads the settings. Its error names the variable and what is accepted,
// and no value: addresses and headers may hold secrets.
func readOTLP(env otlpEnv) (s otlpSettings, err error) {
	if protocol := env.get("PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return s, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q, and spans are sent as http/protobuf alone", protocol)
	}
	if s.address, err = env.address(); err != nil {
		return s, err
	}
	if s.header, err = env.header(); err != nil {
		return s, err
	}
	s.timeout = defaultTimeout
	if timeout := env.get("TIMEOUT"); timeout != "" {
		ms, err := strconv.ParseUint(timeout, 10, 31)
		if err != nil || ms == 0 {
			return s, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT is %q, and is to be a number of milliseconds", timeout)
		}
		s.timeout = time.Duration(ms) * time.Millisecond
	}
	switch compression := env.get("COMPRESSION"); compression {
	case "", "none":
	case "gzip":
		s.gzip = true
	default:
		return s, fmt.Errorf("OTEL_EXPORTER_OTLP_COMPRESSION is %q, and is to be gzip or none", compression)
	}
	s.tls, err = env.tls()
	return s, err
}

// address is that for traces as it is, or the one for all with the path of
// traces after it.
func (env otlpEnv) address() (string, error) {
	own := strings.TrimSpace(env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"))
	u, err := url.Parse(env.get("ENDPOINT"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("OTEL_EXPORTER_OTLP_ENDPOINT is to be an address such as http://localhost:4318")
	}
	if own == "" {
		u = u.JoinPath("v1", "traces")
	}
	return u.String(), nil
}

// header is that for all with the one for traces over it: name=value pairs with
// commas between them, values escaped as in addresses.
func (env otlpEnv) header() (http.Header, error) {
	header := http.Header{}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		for pair := range strings.SplitSeq(env(name), ",") {
			if strings.TrimSpace(pair) == "" {
				continue
			}
			key, escaped, found := strings.Cut(pair, "=")
			key = strings.TrimSpace(key)
			value, err := url.PathUnescape(strings.TrimSpace(escaped))
			if !found || key == "" || strings.ContainsAny(key, " \t\"():;<>?@[]{}/\\") || err != nil || strings.ContainsAny(value, "\r\n\x00") {
				return nil, fmt.Errorf("%s is to be a list such as name=value,other=value", name)
			}
			header.Set(key, value)
		}
	}
	return header, nil
}

// tls is with the certificates that files hold, in PEM.
func (env otlpEnv) tls() (*tls.Config, error) {
	root, certificate, key := env.get("CERTIFICATE"), env.get("CLIENT_CERTIFICATE"), env.get("CLIENT_KEY")
	if root == "" && certificate == "" && key == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if root != "" {
		pem, err := os.ReadFile(root)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %s holds no certificate", root)
		}
	}
	if certificate != "" || key != "" {
		own, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY: %w", err)
		}
		config.Certificates = []tls.Certificate{own}
	}
	return config, nil
}
