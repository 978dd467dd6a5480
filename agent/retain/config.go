package retain

import (
	"offcut/models"
)

// Keep says which ends of a long result a preview shows.
type Keep string

// The two ways. Both is a third of head and two thirds of tail.
const (
	KeepBoth Keep = "both"
	KeepHead Keep = "head"
)

// Config sets how results are shown and kept. Its zero value is the default.
type Config struct {
	// MaxResultTokens bounds the preview of every tool, and raises none; 0: no
	// bound.
	MaxResultTokens int
	// Message is the template of the marker in a preview, with {original},
	// {kept} and {output_id}; empty: DefaultMessage.
	Message string
	// Tools sets single tools, by name.
	Tools map[string]ToolConfig
}

// ToolConfig sets one tool. Of its two budgets the smaller holds; either may
// be more than the tool's default.
type ToolConfig struct {
	PreviewBytes    int  // 0: the default of the tool
	MaxResultTokens int  // 0: none
	Keep            Keep // empty: KeepBoth
}

// The budgets that may be configured, in bytes: enough to show something, and
// no more than the memory that a preview may take.
const (
	MinPreviewBytes = 256
	MaxPreviewBytes = 1 << 20
)

// Validate refuses budgets that are negative or too small to show anything,
// and unknown values of keep.
func (c Config) Validate() error {
	if err := validTokens("tools.maxToolResultTokens", c.MaxResultTokens); err != nil {
		return err
	}
	for name, t := range c.Tools {
		key := "tools." + name
		if t.PreviewBytes != 0 && (t.PreviewBytes < MinPreviewBytes || t.PreviewBytes > MaxPreviewBytes) {
			return models.Errorf(models.ErrInvalid, "invalid_config",
				"%s.previewBytes is %d; it takes %d to %d", key, t.PreviewBytes, MinPreviewBytes, MaxPreviewBytes)
		}
		if err := validTokens(key+".maxResultTokens", t.MaxResultTokens); err != nil {
			return err
		}
		if t.Keep != "" && t.Keep != KeepBoth && t.Keep != KeepHead {
			return models.Errorf(models.ErrInvalid, "invalid_config", "%s.keep is %q; it takes both or head", key, t.Keep)
		}
	}
	return nil
}

func validTokens(key string, tokens int) error {
	least, most := MinPreviewBytes/BytesPerToken, MaxPreviewBytes/BytesPerToken
	if tokens != 0 && (tokens < least || tokens > most) {
		return models.Errorf(models.ErrInvalid, "invalid_config", "%s is %d; it takes %d to %d", key, tokens, least, most)
	}
	return nil
}
