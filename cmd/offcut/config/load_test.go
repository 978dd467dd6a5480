package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func ptr(s string) *string { return &s }

func TestWithoutSettingsTheDemoModelServesLoopback(t *testing.T) {
	cfg, err := Load(Flags{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := filepath.Abs("data")
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Addr: "127.0.0.1:8080", DataDir: data, Sandbox: "auto", Approval: "auto",
		DefaultModel: DemoModel, EnvContextTokens: 128_000,
		Tools:      Tools{Each: map[string]Tool{}},
		Truncation: Truncation{MarkAbsence: true},
		Limits:     Limits{TurnsPerUser: 8, Turns: 64, BackgroundPerUser: 8, StoragePerUserBytes: 2_000_000_000, UploadBytes: 64 << 20, ModelCallsPerTurn: 100, ContinuationsPerTurn: 25},
	}
	if diff := cmp.Diff(want, cfg, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestFlagsBeatTheEnvironmentAndTheEnvironmentBeatsTheFile(t *testing.T) {
	file := write(t, "addr: 127.0.0.1:1\nsandbox: off\nbasePath: /file\n")
	cfg, err := Load(
		Flags{Config: &file, Addr: ptr("127.0.0.1:3")},
		[]string{"OFFCUT_ADDR=127.0.0.1:2", "OFFCUT_BASE_PATH=/env", "OFFCUT_APPROVAL="},
	)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{cfg.Addr, cfg.BasePath, cfg.Sandbox, cfg.Approval}
	if diff := cmp.Diff([]string{"127.0.0.1:3", "/env", "off", "auto"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWrongValuesAreRefusedWithNameValueAndWhatIsAccepted(t *testing.T) {
	for _, tt := range []struct {
		name  string
		flags Flags
		env   []string
		file  string
		want  []string
	}{
		{name: "a variable", env: []string{"OFFCUT_SANDBOX=maybe"}, want: []string{"OFFCUT_SANDBOX", `"maybe"`, "auto, required or off"}},
		{name: "a flag", flags: Flags{Addr: ptr("8080")}, env: []string{"OFFCUT_ADDR=127.0.0.1:1"}, want: []string{"--addr", `"8080"`, "host and port"}},
		{name: "no number", env: []string{"OFFCUT_MODEL_CONTEXT_TOKENS=128k"}, want: []string{"OFFCUT_MODEL_CONTEXT_TOKENS", `"128k"`, "whole number"}},
		{name: "a number out of bounds", env: []string{"OFFCUT_MODEL_MAX_OUTPUT_TOKENS=-1"}, want: []string{"OFFCUT_MODEL_MAX_OUTPUT_TOKENS", `"-1"`}},
		{name: "no address", env: []string{"OPENAI_BASE_URL=localhost:11434"}, want: []string{"OPENAI_BASE_URL", "localhost:11434", "http://"}},
		{name: "a port that is none", env: []string{"OFFCUT_ADDR=localhost:99999"}, want: []string{"OFFCUT_ADDR", "99999"}},
		{name: "a path without its slash", env: []string{"OFFCUT_BASE_PATH=chat"}, want: []string{"OFFCUT_BASE_PATH", `"chat"`}},
		{name: "a path with a slash behind", env: []string{"OFFCUT_BASE_PATH=/chat/"}, want: []string{"OFFCUT_BASE_PATH", `"/chat/"`}},
		{name: "a path out of its place", env: []string{"OFFCUT_BASE_PATH=/a/../b"}, want: []string{"OFFCUT_BASE_PATH"}},
		{name: "a model without a server", env: []string{"OFFCUT_MODEL=gpt"}, want: []string{"OFFCUT_MODEL", `"gpt"`, "OPENAI_API_KEY", "OPENAI_BASE_URL"}},
		{name: "a file that is not there", env: []string{"OFFCUT_CONFIG=/nowhere.yaml"}, want: []string{"OFFCUT_CONFIG", "/nowhere.yaml", "no such file"}},
		{name: "a file that is no YAML", file: "addr: [", want: []string{"configuration file"}},
		{name: "an unknown key", file: "address: 127.0.0.1:1\n", want: []string{"address", "no such key"}},
		{name: "an unknown key below", file: "tools:\n  run_command:\n    preview: 1\n", want: []string{"tools.run_command.preview", "no such key"}},
		{name: "a value where keys belong", file: "limits: 8\n", want: []string{"limits", "no such key"}},
		{name: "a retention of no days", file: "retention:\n  maxAgeDays: 0\n", want: []string{"retention.maxAgeDays", `"0"`, "whole number from 1"}},
		{name: "a network that is none", file: "tools:\n  fetch_url:\n    allow: [10.0.0.0/99]\n", want: []string{"tools.fetch_url.allow[0]", `"10.0.0.0/99"`, "a network such as"}},
		{name: "an unknown rule of retention", file: "retention:\n  maxAge: 30\n", want: []string{"retention.maxAge", "no such key"}},
		{name: "text for a number", file: "limits:\n  turns: many\n", want: []string{"limits.turns", `"many"`, "whole number"}},
		{name: "a template without its id", file: "tools:\n  truncationMessage: cut\n", want: []string{"tools.truncationMessage", "{output_id}"}},
		{name: "a model without a name", file: "models:\n  - baseURL: http://x\n", want: []string{"models[0]", "name is missing"}},
		{name: "two models of one name", file: "models:\n  - name: a\n  - name: a\n", want: []string{"models[1].name", `"a"`}},
		{name: "a provider that is not there", file: "models:\n  - name: a\n    provider: other\n", want: []string{"models[0].provider", `"other"`, "openai or anthropic"}},
		{name: "a way to think that is none", file: "models:\n  - name: a\n    provider: anthropic\n    thinking: hard\n", want: []string{"models[0].thinking", `"hard"`, "adaptive or off"}},
		{name: "a budget for thinking that is too small", file: "models:\n  - name: a\n    provider: anthropic\n    thinkingTokens: 100\n", want: []string{"models[0].thinkingTokens", `"100"`, "1024"}},
		{name: "thinking of another provider", file: "models:\n  - name: a\n    thinking: adaptive\n", want: []string{"models[0]", "openai", "anthropic"}},
		{name: "two ways to think", file: "models:\n  - name: a\n    provider: anthropic\n    thinking: adaptive\n    thinkingTokens: 2048\n", want: []string{"models[0]", "thinkingTokens", "only one"}},
		{name: "more thinking than output", file: "models:\n  - name: a\n    provider: anthropic\n    maxOutputTokens: 2048\n    thinkingTokens: 2048\n", want: []string{"models[0]", `"2048"`, "less than maxOutputTokens"}},
		{name: "a budget for thinking that stays behind", file: "models:\n  - name: a\n    provider: anthropic\n    thinkingTokens: 2048\n    sendReasoning: false\n", want: []string{"models[0]", "sendReasoning", "thinkingTokens"}},
		{name: "images that are no truth", file: "models:\n  - name: a\n    images: many\n", want: []string{"models[0].images", `"many"`, "true or false"}},
		{name: "a mode of pruning that is none", file: "contextPruning:\n  mode: always\n", want: []string{"contextPruning.mode", `"always"`, "off or cache-ttl"}},
		{name: "a time without its unit", file: "contextPruning:\n  ttl: 300\n", want: []string{"contextPruning.ttl", `"300"`, "5m"}},
		{name: "a share in percent", file: "contextPruning:\n  softTrimRatio: 30\n", want: []string{"contextPruning.softTrimRatio", `"30"`, "0.01 to 1"}},
		{name: "a share that is no number", file: "contextPruning:\n  hardClearRatio: half\n", want: []string{"contextPruning.hardClearRatio", `"half"`, "0.01 to 1"}},
		{name: "clearing before trimming", file: "contextPruning:\n  softTrimRatio: 0.6\n", want: []string{"contextPruning.hardClearRatio", `"0.5"`, "softTrimRatio", "0.6"}},
		{name: "no reply that keeps its results", file: "contextPruning:\n  keepLastAssistants: 0\n", want: []string{"contextPruning.keepLastAssistants", `"0"`, "1 to 1000"}},
		{name: "a mode where keys belong", file: "contextPruning: off\n", want: []string{"contextPruning", "no such key"}},
		{name: "a key's file that is not there", file: "models:\n  - name: a\n    apiKeyFile: /nowhere\n", want: []string{"models[0].apiKeyFile", "/nowhere"}},
		{name: "a price that is none", file: "models:\n  - name: a\n    price: {input: 1, output: -2}\n", want: []string{"models[0].price.output", "-2", "per million"}},
		{name: "a proxy that is no address", file: "trustedProxies: [localhost]\n", want: []string{"trustedProxies[0]", `"localhost"`, "10.0.0.0/8"}},
		{name: "a folder beside nothing", file: "tools:\n  folders: [../x]\n", want: []string{"tools.folders[0]", "absolute"}},
		{name: "a preview of more than its memory", file: "tools:\n  run_command:\n    previewBytes: 8388608\n", want: []string{"tools.run_command.previewBytes", "8388608", "256 to 1048576"}},
		{name: "a preview of too many tokens", file: "tools:\n  run_command:\n    maxResultTokens: 262145\n", want: []string{"tools.run_command.maxResultTokens", "64 to 262144"}},
		{name: "a preview of nothing", file: "tools:\n  maxToolResultTokens: 63\n", want: []string{"tools.maxToolResultTokens", "64 to 262144"}},
		{name: "a setting of one tool on another", file: "tools:\n  read_file:\n    network: true\n", want: []string{"tools.read_file.network", "no such key"}},
		{name: "two wrong values", env: []string{"OFFCUT_SANDBOX=x", "OFFCUT_APPROVAL=y"}, want: []string{"OFFCUT_SANDBOX", "OFFCUT_APPROVAL"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.file != "" {
				tt.flags.Config = ptr(write(t, tt.file))
			}
			_, err := Load(tt.flags, tt.env)
			if err == nil {
				t.Fatal("it was accepted")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func TestSecretsComeFromTheirVariableOrItsFile(t *testing.T) {
	file := write(t, "s3cret-0123456789\n")
	for _, tt := range []struct {
		name string
		env  []string
		want string
	}{
		{"the variable", []string{"OFFCUT_ADMIN_TOKEN=s3cret-0123456789"}, "s3cret-0123456789"},
		{"the file", []string{"OFFCUT_ADMIN_TOKEN_FILE=" + file}, "s3cret-0123456789"},
		{"neither", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, err := Load(Flags{}, tt.env)
			if err != nil {
				t.Fatal(err)
			}
			if cfg.AdminToken != tt.want {
				t.Errorf("token %q, want %q", cfg.AdminToken, tt.want)
			}
		})
	}
}

func TestErrorsDoNotShowSecrets(t *testing.T) {
	empty := write(t, " \n")
	for name, env := range map[string][]string{
		"variable and file": {"OPENAI_API_KEY=s3cret", "OPENAI_API_KEY_FILE=" + empty},
		"an empty file":     {"OFFCUT_ADMIN_TOKEN_FILE=" + empty},
		"no such file":      {"OFFCUT_ADMIN_TOKEN_FILE=/nowhere"},
		"a space":           {"OFFCUT_ADMIN_TOKEN=s3cret s3cret s3cret"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(Flags{}, env)
			if err == nil {
				t.Fatal("it was accepted")
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error shows the secret: %v", err)
			}
		})
	}
}

func TestTheModelIsWhatTheVariablesOrTheFileName(t *testing.T) {
	file := write(t, "models:\n  - name: one\n    baseURL: http://one\n  - name: two\n    contextTokens: 4096\n")
	for _, tt := range []struct {
		name  string
		flags Flags
		env   []string
		model string
		names []string
		notes int
	}{
		{name: "a key alone names no model", env: []string{"OPENAI_API_KEY=k"}, model: DemoModel, notes: 1},
		{name: "a key and a name", env: []string{"OPENAI_API_KEY=k", "OFFCUT_MODEL=m"}, model: "m", names: []string{"m"}},
		{name: "a key of Anthropic alone names no model", env: []string{"ANTHROPIC_API_KEY=k"}, model: DemoModel, notes: 1},
		{name: "a server and a name", env: []string{"OPENAI_BASE_URL=http://h/v1", "OFFCUT_MODEL=m"}, model: "m", names: []string{"m"}},
		{name: "the demo model by name", env: []string{"OFFCUT_MODEL=demo", "OPENAI_API_KEY=k"}, model: DemoModel},
		{name: "the file's first", flags: Flags{Config: &file}, model: "one", names: []string{"one", "two"}},
		{name: "one of the file", flags: Flags{Config: &file, Model: ptr("two")}, model: "two", names: []string{"one", "two"}},
		{name: "one beside the file", flags: Flags{Config: &file}, env: []string{"OFFCUT_MODEL=m", "OPENAI_API_KEY=k"}, model: "m", names: []string{"m", "one", "two"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, err := Load(tt.flags, tt.env)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, m := range cfg.Models {
				names = append(names, m.Name)
			}
			if diff := cmp.Diff(tt.names, names); diff != "" {
				t.Error(diff)
			}
			if cfg.DefaultModel != tt.model || len(cfg.Notes) != tt.notes {
				t.Errorf("model %q with %d notes, want %q with %d", cfg.DefaultModel, len(cfg.Notes), tt.model, tt.notes)
			}
		})
	}
}

func TestTheExampleFileLoadsAndNamesEveryKey(t *testing.T) {
	content, err := os.ReadFile("../../../deploy/config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	example := strings.ReplaceAll(string(content), "/run/secrets/model-key", write(t, "the-key"))
	file := write(t, example)
	cfg, err := Load(Flags{Config: &file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Models[1].APIKey; got != "the-key" {
		t.Errorf("the key is %q", got)
	}
	if got := fmt.Sprint(cfg.TrustedProxies, cfg.Tools.Folders); got != "[127.0.0.1/32 10.0.0.0/8] [/srv/shared]" {
		t.Errorf("proxies and folders are %s", got)
	}
	want := Tool{PreviewBytes: 24_576, Keep: "both", TimeoutSeconds: 120}
	if diff := cmp.Diff(want, cfg.Tools.Each["run_command"]); diff != "" {
		t.Error(diff)
	}

	for _, r := range rules {
		name := r.pattern[strings.LastIndexByte(r.pattern, '.')+1:]
		if !strings.Contains(example, strings.TrimSuffix(name, "[]")+":") {
			t.Errorf("the example does not explain %s", r.pattern)
		}
	}
}

func TestAShortAdminTokenIsWarnedOf(t *testing.T) {
	for token, want := range map[string]int{"s3cret-0123456": 1, "s3cret-0123456789": 0} {
		cfg, err := Load(Flags{}, []string{"OFFCUT_ADMIN_TOKEN=" + token})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(cfg.Notes); got != want {
			t.Errorf("%d warnings of a token of %d characters: %q", got, len(token), cfg.Notes)
		}
		if strings.Contains(strings.Join(cfg.Notes, ""), token) {
			t.Errorf("the warning shows the token: %q", cfg.Notes)
		}
	}
}

func TestPricesArePerMillionTokensAndThatOfCachedOnesMayBeLeftOut(t *testing.T) {
	file := write(t, "models:\n  - name: a\n    price: {input: 3, output: 15.5, cached: 0}\n  - name: b\n    price: {input: 1, output: 2}\n  - name: c\n")
	cfg, err := Load(Flags{Config: &file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var prices []*Price
	for _, m := range cfg.Models {
		prices = append(prices, m.Price)
	}
	free := 0.0
	if diff := cmp.Diff([]*Price{{Input: 3, Output: 15.5, Cached: &free}, {Input: 1, Output: 2}, nil}, prices); diff != "" {
		t.Error(diff)
	}
}

func TestTheProviderOfTheVariablesIsTheOneWhoseKeyIsSet(t *testing.T) {
	secret := write(t, "of-file\n")
	for _, tt := range []struct {
		name, model string
		env         []string
		want        Model
	}{
		{"OpenAI", "m", []string{"OPENAI_API_KEY=o"}, Model{Provider: OpenAI, APIKey: "o"}},
		{"Anthropic", "m", []string{"ANTHROPIC_API_KEY=a"}, Model{Provider: Anthropic, APIKey: "a"}},
		{"Anthropic, with its key in a file", "m", []string{"ANTHROPIC_API_KEY_FILE=" + secret}, Model{Provider: Anthropic, APIKey: "of-file"}},
		{"both", "gpt", []string{"OPENAI_API_KEY=o", "ANTHROPIC_API_KEY=a"}, Model{Provider: OpenAI, APIKey: "o"}},
		{"both, and a model of Anthropic's", "claude-x", []string{"OPENAI_API_KEY=o", "ANTHROPIC_API_KEY=a"}, Model{Provider: Anthropic, APIKey: "a"}},
		{"another server", "claude-x", []string{"OPENAI_BASE_URL=http://h/v1", "ANTHROPIC_API_KEY=a"}, Model{Provider: OpenAI, BaseURL: "http://h/v1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, err := Load(Flags{}, append(tt.env, "OFFCUT_MODEL="+tt.model))
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Name, tt.want.ContextTokens = tt.model, DefaultContextTokens
			if diff := cmp.Diff([]Model{tt.want}, cfg.Models); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAVariablesKeyGoesToItsProviderOnly(t *testing.T) {
	file := write(t, `models:
  - {name: a, provider: anthropic}
  - {name: b, provider: anthropic, baseURL: "http://elsewhere"}
  - {name: c}
  - {name: d, baseURL: "http://elsewhere/v1"}
`)
	cfg, err := Load(Flags{Config: &file}, []string{"OPENAI_API_KEY=o", "ANTHROPIC_API_KEY=a"})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, m := range cfg.Models {
		keys = append(keys, m.APIKey)
	}
	if diff := cmp.Diff([]string{"a", "", "o", ""}, keys); diff != "" {
		t.Error(diff)
	}
}

func TestPruningIsReadAsItIsWritten(t *testing.T) {
	file := write(t, "contextPruning: {mode: cache-ttl, ttl: 90s, softTrimRatio: 0.25, hardClearRatio: 1, keepLastAssistants: 2}\n")
	cfg, err := Load(Flags{Config: &file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Pruning{Mode: "cache-ttl", TTL: 90 * time.Second, SoftTrimRatio: 0.25, HardClearRatio: 1, KeepLastAssistants: 2}
	if diff := cmp.Diff(want, cfg.Pruning); diff != "" {
		t.Error(diff)
	}
}
