// Package config reads what an operator sets: flags, environment variables and
// a YAML file, in this order of weight. A wrong value is refused at the start,
// with the name of the setting, the value and what is accepted.
package config

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"time"

	"offcut/models"
)

// Config is what the program runs with. Every field is valid.
type Config struct {
	// Addr is the host and port to serve at.
	Addr string `koanf:"addr"`
	// DataDir holds the database and the workspaces.
	DataDir string `koanf:"dataDir"`
	// BasePath is the path under a reverse proxy, such as /offcut; empty: none.
	BasePath string `koanf:"basePath"`
	// PublicURL is the origin that browsers see, where a reverse proxy changes
	// the host; empty: the request's own.
	PublicURL string `koanf:"publicURL"`
	// TrustedProxies are the networks of reverse proxies whose
	// X-Forwarded-For is believed.
	TrustedProxies []*net.IPNet `koanf:"-"`
	// AdminToken is the first admin's API token and sign-in secret; empty: a
	// one-use link is printed.
	AdminToken string `koanf:"-"`
	// Sandbox is auto, required or off.
	Sandbox string `koanf:"sandbox"`
	// Approval is auto, ask or never.
	Approval string `koanf:"approval"`
	// Models are the models to choose from. Empty: the demo model.
	Models []Model `koanf:"models"`
	// DefaultModel names the one that a new session has.
	DefaultModel string `koanf:"-"`
	Tools        Tools  `koanf:"-"`
	Skills       Skills `koanf:"skills"`
	// Servers are the MCP servers, by name.
	Servers []MCPServer `koanf:"-"`
	Pruning Pruning     `koanf:"contextPruning"`
	Limits  Limits      `koanf:"limits"`
	// Retention says which sessions go by themselves; the zero value: none.
	Retention Retention `koanf:"retention"`
	Metrics   Metrics   `koanf:"metrics"`
	Traces    Traces    `koanf:"traces"`
	// Truncation says when administrators are told that much is cut.
	Truncation Truncation `koanf:"truncation"`
	// Notes are sentences for the log, about settings without effect or unwise.
	Notes []string `koanf:"-"`

	// What the variables say of the one model that needs no file.
	EnvModel           string `koanf:"model"`
	EnvBaseURL         string `koanf:"openaiBaseURL"`
	EnvMaxOutputTokens int    `koanf:"modelMaxOutputTokens"`
	EnvContextTokens   int    `koanf:"modelContextTokens"`
}

// Model is one model and where it is served.
type Model struct {
	// Name is the provider's own name of it.
	Name string `koanf:"name"`
	// Provider is the protocol that the server speaks: OpenAI or Anthropic.
	Provider string `koanf:"provider"`
	// BaseURL ends before /chat/completions, or before /v1/messages; empty: the
	// provider's own address.
	BaseURL    string `koanf:"baseURL"`
	APIKeyFile string `koanf:"apiKeyFile"`
	// APIKey is what the file, or the variable, held.
	APIKey string `koanf:"-"`
	// ContextTokens is the size of the model's context window.
	ContextTokens int `koanf:"contextTokens"`
	// MaxOutputTokens bounds one reply; 0: the provider's own bound.
	MaxOutputTokens int `koanf:"maxOutputTokens"`
	// SendReasoning: earlier reasoning is sent back; nil: yes.
	SendReasoning *bool `koanf:"sendReasoning"`
	// Thinking is adaptive or off; empty: as the model does by itself.
	Thinking string `koanf:"thinking"`
	// ThinkingTokens is a budget for thinking, of models that are not adaptive;
	// 0: none.
	ThinkingTokens int `koanf:"thinkingTokens"`
	// Images: the model takes images.
	Images bool `koanf:"images"`
	// Price is what its tokens cost; nil: no cost is counted.
	Price *Price `koanf:"price"`
}

// Price is in US dollars per million tokens, as providers list them.
type Price struct {
	Input  float64 `koanf:"input"`
	Output float64 `koanf:"output"`
	// Cached is for input that the provider had in its cache; nil: as Input.
	Cached *float64 `koanf:"cached"`
}

// Settings are what is set of the model, by the keys of the file and without
// its key.
func (m Model) Settings() map[string]any {
	address := m.BaseURL
	if u, err := url.Parse(address); err == nil {
		address = u.Redacted()
	}
	return map[string]any{
		"name": m.Name, "provider": m.Provider, "baseURL": address, "contextTokens": m.ContextTokens,
		"maxOutputTokens": m.MaxOutputTokens, "sendReasoning": m.SendReasoning,
		"thinking": m.Thinking, "thinkingTokens": m.ThinkingTokens, "images": m.Images,
	}
}

// Secrets are the values of the configuration that nobody is to read.
func (c Config) Secrets() []string {
	secrets := []string{c.AdminToken}
	for _, m := range c.Models {
		secrets = append(secrets, m.APIKey)
		if u, err := url.Parse(m.BaseURL); err == nil {
			password, _ := u.User.Password()
			secrets = append(secrets, password)
		}
	}
	for _, s := range c.Servers {
		secrets = append(secrets, s.Secrets...)
	}
	return slices.DeleteFunc(secrets, func(s string) bool { return s == "" })
}

// The providers, by the protocols that their servers speak.
const (
	OpenAI    = "openai"
	Anthropic = "anthropic"
)

// DefaultContextTokens is the context window of a model of which none is said.
const DefaultContextTokens = 128_000

// Tools bounds what tools return and do.
type Tools struct {
	// MaxToolResultTokens is the preview's budget of tools that have none of
	// their own, in tokens of about four bytes; 0: the product's own budgets.
	MaxToolResultTokens int
	// TruncationMessage is the marker's template; empty: the product's own.
	TruncationMessage string
	// Folders can be reached by tools beside the workspace.
	Folders []string
	// Each holds the settings of single tools by name.
	Each map[string]Tool
}

// Skills says where skills lie beside the data folder's own.
type Skills struct {
	Folders []string `koanf:"folders"`
}

// Tool is the setting of one tool; a zero field is the product's own value.
type Tool struct {
	PreviewBytes    int    `koanf:"previewBytes"`
	MaxResultTokens int    `koanf:"maxResultTokens"`
	Keep            string `koanf:"keep"` // both or head
	TimeoutSeconds  int    `koanf:"timeoutSeconds"`
	Network         bool   `koanf:"network"`
	// Allow are the hosts and networks that fetch_url may reach although they
	// are not the public internet.
	Allow []string `koanf:"allow"`
	// NoticeShare is the share of its results of which more are not to be cut.
	NoticeShare float64 `koanf:"noticeShare"`
}

// Pruning says when old tool results are shortened in what a model is sent. A
// zero field is the product's own value.
type Pruning struct {
	// Mode is off or cache-ttl; empty: cache-ttl for Anthropic, off for others.
	Mode               string        `koanf:"mode"`
	TTL                time.Duration `koanf:"ttl"`
	SoftTrimRatio      float64       `koanf:"softTrimRatio"`
	HardClearRatio     float64       `koanf:"hardClearRatio"`
	KeepLastAssistants int           `koanf:"keepLastAssistants"`
}

// Limits bounds what users and turns may take.
type Limits struct {
	TurnsPerUser         int   `koanf:"turnsPerUser"`
	Turns                int   `koanf:"turns"`
	BackgroundPerUser    int   `koanf:"backgroundPerUser"`
	StoragePerUserBytes  int64 `koanf:"storagePerUserBytes"`
	UploadBytes          int64 `koanf:"uploadBytes"`
	ModelCallsPerTurn    int   `koanf:"modelCallsPerTurn"`
	ContinuationsPerTurn int   `koanf:"continuationsPerTurn"`
}

// Retention says which sessions are removed by themselves. A zero field sets no
// bound.
type Retention struct {
	// MaxAgeDays is how long a session that is not pinned may go unused.
	MaxAgeDays int `koanf:"maxAgeDays"`
	// MaxBytesPerUser bounds what the sessions of one user hold.
	MaxBytesPerUser int64 `koanf:"maxBytesPerUser"`
	// OnlyAdminsDelete: users archive their sessions, and do not delete them or
	// what was kept in them.
	OnlyAdminsDelete bool `koanf:"onlyAdminsDelete"`
}

// Metrics says who may read /metrics.
type Metrics struct {
	// Open: everybody may; else only administrators, by their token.
	Open bool `koanf:"open"`
}

// Traces says whether traces are sent. Where to is for the exporter's own
// variables, OTEL_EXPORTER_OTLP_ENDPOINT and those beside it.
type Traces struct {
	Enabled bool `koanf:"-"`
	// Contents: what was said, asked of tools and returned goes along.
	Contents bool `koanf:"contents"`
}

// Truncation says from when on there is a notice, and what is marked.
type Truncation struct {
	// NoticeShare is the share of a tool's results of which more are not to be
	// cut, for tools that have none of their own.
	NoticeShare float64 `koanf:"noticeShare"`
	// MarkAbsence: answers that say that something is absent, although not all was
	// read, are marked for those who did not switch that off.
	MarkAbsence bool `koanf:"markAbsence"`
}

// NoticeShare is that of a tool.
func (c Config) NoticeShare(tool string) float64 {
	return cmp.Or(c.Tools.Each[tool].NoticeShare, c.Truncation.NoticeShare, models.DefaultNoticeShare)
}

// defaults is the lowest layer, by key.
func defaults() map[string]any {
	return map[string]any{
		"addr":                        "127.0.0.1:8080",
		"dataDir":                     "./data",
		"sandbox":                     "auto",
		"approval":                    "auto",
		"truncation.markAbsence":      true,
		"modelContextTokens":          DefaultContextTokens,
		"limits.turnsPerUser":         8,
		"limits.turns":                64,
		"limits.backgroundPerUser":    8,
		"limits.storagePerUserBytes":  int64(2_000_000_000),
		"limits.uploadBytes":          int64(64 << 20),
		"limits.modelCallsPerTurn":    100,
		"limits.continuationsPerTurn": 25,
	}
}
