package redact

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

const key = `sk-a/b+c"d\e&é-1234567890`

func quote(s string) string { return strconv.Quote(s) }

func TestNoFormOfASecretComesThrough(t *testing.T) {
	quoted := quote(key)
	twice := quote(quoted)
	forms := map[string]string{
		"as it is":        key,
		"JSON":            quoted,
		"JSON in JSON":    twice,
		"a query":         url.QueryEscape(key),
		"a path":          url.PathEscape(key),
		"lower percent":   strings.ToLower(url.QueryEscape(key)),
		"base64":          base64.StdEncoding.EncodeToString([]byte(key)),
		"base64, basic":   base64.StdEncoding.EncodeToString([]byte("user:" + key)),
		"base64, shifted": base64.URLEncoding.EncodeToString([]byte("xy" + key + "z")),
		"hexadecimal":     hex.EncodeToString([]byte(key)),
		"escaped slash":   strings.ReplaceAll(key, "/", `\/`),
		"unicode escapes": strings.ReplaceAll(key, "-", `\u002D`),
		"HTML":            strings.ReplaceAll(strings.ReplaceAll(key, "&", "&amp;"), `"`, "&#34;"),
		"every percent":   everyPercent(key),
	}
	redactor := New("[redacted]", key, "other-key")
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			got := redactor.Text("before " + form + " after")
			for _, part := range []string{"1234567890", form[len(form)/3 : 2*len(form)/3]} {
				if strings.Contains(got, part) {
					t.Errorf("%q is left of %q", got, form)
				}
			}
			if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
				t.Errorf("more than the secret is gone: %q", got)
			}
		})
	}
	if text := "nothing to hide"; redactor.Text(text) != text || New("x").Text(text) != text {
		t.Error("a text without secrets is changed")
	}
}

func everyPercent(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// What stands in the middle of a text in base64 is gone with its last group.
func TestNothingOfASecretIsLeftAtItsEnds(t *testing.T) {
	const secret = "sk-secret+key/Zz9==\"abc"
	redactor := New("[key]", "sk-secret", secret, "ab")
	for _, form := range []string{secret, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret))} {
		if got := redactor.Text("url " + form + ", b"); got != "url [key], b" {
			t.Errorf("%q became %q", form, got)
		}
	}
	if got := redactor.Text("about a word"); got != "about a word" {
		t.Errorf("a word was taken for a secret: %q", got)
	}
}
