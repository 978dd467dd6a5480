package config

import "reflect"

// Flags are the settings that the command line takes. A nil field was not
// given. Secrets have no flag: a command line can be read by every process.
type Flags struct {
	Config               *string `help:"YAML file with the rest of the settings." placeholder:"FILE"`
	Addr                 *string `help:"Host and port to serve at (127.0.0.1:8080)." placeholder:"HOST:PORT"`
	DataDir              *string `help:"Folder of the database and the workspaces (./data)." placeholder:"DIR"`
	BasePath             *string `help:"Path under a reverse proxy, such as /offcut." placeholder:"PATH"`
	Model                *string `help:"Name of the model." placeholder:"NAME"`
	OpenaiBaseURL        *string `name:"openai-base-url" aliases:"base-url" help:"Address of an OpenAI-compatible server; also --base-url." placeholder:"URL"`
	ModelMaxOutputTokens *string `help:"Bound of one reply, in tokens (the provider's own)." placeholder:"N"`
	ModelContextTokens   *string `help:"Size of the model's context window (128000)." placeholder:"N"`
	Sandbox              *string `help:"auto, required or off (auto)." placeholder:"MODE"`
	Approval             *string `help:"auto, ask or never (auto)." placeholder:"MODE"`
}

// setting joins the names of one setting: its key in the file, its variable
// and the field of Flags.
type setting struct {
	key, variable, flag, field string
}

var settings = []setting{
	{"addr", "OFFCUT_ADDR", "--addr", "Addr"},
	{"dataDir", "OFFCUT_DATA_DIR", "--data-dir", "DataDir"},
	{"basePath", "OFFCUT_BASE_PATH", "--base-path", "BasePath"},
	{"model", "OFFCUT_MODEL", "--model", "Model"},
	{"openaiBaseURL", "OPENAI_BASE_URL", "--openai-base-url", "OpenaiBaseURL"},
	{"modelMaxOutputTokens", "OFFCUT_MODEL_MAX_OUTPUT_TOKENS", "--model-max-output-tokens", "ModelMaxOutputTokens"},
	{"modelContextTokens", "OFFCUT_MODEL_CONTEXT_TOKENS", "--model-context-tokens", "ModelContextTokens"},
	{"sandbox", "OFFCUT_SANDBOX", "--sandbox", "Sandbox"},
	{"approval", "OFFCUT_APPROVAL", "--approval", "Approval"},
}

const (
	configVariable = "OFFCUT_CONFIG"
	tokenVariable  = "OFFCUT_ADMIN_TOKEN"
)

// given is the flag of s, where it was given.
func (f Flags) given(s setting) (string, bool) {
	value, _ := reflect.ValueOf(f).FieldByName(s.field).Interface().(*string)
	if value == nil {
		return "", false
	}
	return *value, true
}
