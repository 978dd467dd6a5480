package redact

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
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

// A result of many megabytes is read as it comes, and so is one that was made to
// be slow to read.
func TestALongTextIsReadInATimeThatGrowsWithIt(t *testing.T) {
	redactor := New("[key]", `s3cret-0123456789`, `Bearer s3cret-0123456789`, `\\server\share-key`, "another, with spaces & more")
	for name, text := range map[string]string{
		"prose":         strings.Repeat("the quick brown fox jumps over the lazy dog\n", 1<<17),
		"first letters": strings.Repeat("s", 4<<20),
		"backslashes":   strings.Repeat(`\`, 1<<20) + "x",
		"nearly":        strings.Repeat("s3cret-012345678", 1<<17),
	} {
		began := time.Now()
		got := redactor.Text(text + " s3cret-0123456789")
		if took := time.Since(began); !strings.HasSuffix(got, " [key]") || took > 30*time.Second {
			t.Errorf("%s took %v, and ends with %q", name, took, got[len(got)-20:])
		}
	}
}

// Of a secret that another begins with, the longer is taken; one beside another
// is found; one at the end, and at the beginning.
func TestSecretsBesideEachOther(t *testing.T) {
	redactor := New("*", "token-1", "token-12345", "Zo\u00eb & co", "tab\tbed")
	for text, want := range map[string]string{
		"token-12345token-1":  "**",
		"token-123":           "*23",
		`Zo\u00EB \u0026 co`:  "*",
		"Zo&#xEB;+&amp;+co.":  "*.",
		"Zo%C3%AB%20%26%20co": "*",
		`\\tab\\tbed`:         "*",
		"token":               "token",
		"":                    "",
		base64.StdEncoding.EncodeToString([]byte("token-1")) + "," + base64.StdEncoding.EncodeToString([]byte("token-1")): "*,*",
	} {
		if got := redactor.Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// Whatever stands around a secret, in whatever form, no form of it is left.
func FuzzText(f *testing.F) {
	f.Add("a", "b", uint8(0))
	f.Add(`\\`, "%", uint8(3))
	f.Fuzz(func(t *testing.T, before, after string, form uint8) {
		written := []string{key, quote(key), url.QueryEscape(key), base64.StdEncoding.EncodeToString([]byte(before + key + after)), hex.EncodeToString([]byte(key)), everyPercent(key)}
		got := New("[redacted]", key).Text(before + written[int(form)%len(written)] + after)
		if strings.Contains(got, "1234567890") || strings.Contains(got, hex.EncodeToString([]byte("1234567890"))) || !strings.Contains(got, "[redacted]") {
			t.Errorf("%q is left", got)
		}
	})
}
