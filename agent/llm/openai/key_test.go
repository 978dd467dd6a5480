package openai

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"offcut/agent/llm/llmtest"
)

// A server that quotes the key in another form than it was sent does not give it
// away to whoever reads the error.
func TestTheKeyStandsInNoErrorInAnyForm(t *testing.T) {
	for _, key := range []string{"MyKey/With+Special=Chars9", `sk-secret+key/Zz9=="abc`} {
		words := fmt.Sprintf("Invalid request for key (b64 %s, url %s)", base64.StdEncoding.EncodeToString([]byte(key)), url.QueryEscape(key))
		c := served(t, llmtest.Refusal(400, `{"error":{"message":"`+words+`"}}`))
		cfg := c.config
		cfg.APIKey = key
		if got := llmtest.Failure(t, New(cfg)); !strings.Contains(got.Message, "(b64 [key], url [key])") {
			t.Errorf("the error of %q: %s", key, got.Message)
		}
	}
}
