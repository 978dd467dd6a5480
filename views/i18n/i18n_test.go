package i18n

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestTextsOfTheCatalogue(t *testing.T) {
	ctx := With(context.Background(), "en")
	cases := []struct{ got, want string }{
		{T(ctx, "rail.new"), "New chat"},
		{T(ctx, "page.title", "title", "<b>"), "<b> · Offcut"},
		{T(ctx, "bytes", "n", 1, "count", "1"), "1 byte"},
		{T(ctx, "bytes", "n", int64(2), "count", "2"), "2 bytes"},
		{T(context.Background(), "rail.new"), "New chat"},
		{T(With(context.Background(), "zz"), "rail.new"), "New chat"},
		{T(ctx, "no.such.key"), "no.such.key"},
		{T(With(ctx, "zh-TW"), "rail.new"), "新对话"},
		{T(With(ctx, "zh"), "bytes", "n", 1, "count", "1"), "1 字节"},
	}
	for _, c := range cases {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestTheLanguageIsTheFirstWishThatIsKnown(t *testing.T) {
	for _, tt := range []struct {
		wishes []string
		want   string
	}{
		{nil, "en"},
		{[]string{""}, "en"},
		{[]string{"en-GB,en;q=0.9"}, "en"},
		{[]string{"", "xx;q=0.8, en;q=0.2"}, "en"},
		{[]string{"not a tag;;;"}, "en"},
		{[]string{"zh"}, "zh"},
		{[]string{"zh-CN,zh;q=0.9,en;q=0.8"}, "zh"},
		{[]string{"zh-Hans-SG"}, "zh"},
		{[]string{"zh-TW,zh;q=0.9,en-US;q=0.8"}, "zh"},
		{[]string{"zh-Hant-HK"}, "zh"},
		{[]string{"fr,zh;q=0.5"}, "zh"},
		{[]string{"en-US,en;q=0.9,zh-CN;q=0.8"}, "en"},
		{[]string{"en", "zh-CN"}, "en"},
		{[]string{"zh", "en-GB"}, "zh"},
		{[]string{"ja"}, "en"},
	} {
		if got := Match(tt.wishes...); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.wishes, got, tt.want)
		}
	}
	for _, tag := range Languages() {
		if got := Match(tag); got != tag || !Known(tag) || Name(tag) == "language.name" {
			t.Errorf("%s is matched by %q and named %q", tag, got, Name(tag))
		}
	}
	if Known("xx") {
		t.Error("xx is known")
	}
}

// keysInUse finds the keys that templates and code name. A key that is put
// together ends with a dot there: it stands for all that begin with it.
func keysInUse(t *testing.T) map[string]bool {
	t.Helper()
	call := regexp.MustCompile(`\b(?:i18n\.T|T|t|rich)\((?:ctx|c\.Request\(\)\.Context\(\)), "([^"]+)"|\bt\(w\.ctx, (key)`)
	literal := regexp.MustCompile(`"((?:[a-z0-9_]+\.)+[a-z0-9_.-]*)"`)
	used := map[string]bool{}
	for _, pattern := range []string{"../*.templ", "../*.go", "*.go", "../../handlers/*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_templ.go") {
				continue
			}
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range call.FindAllStringSubmatch(string(content), -1) {
				used[match[1]] = true
			}
			if strings.Contains(name, "handlers") {
				continue
			}
			for _, match := range literal.FindAllStringSubmatch(string(content), -1) {
				used["?"+match[1]] = true // perhaps a key
			}
		}
	}
	delete(used, "")
	return used
}

func catalogue(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	content, err := locales.ReadFile("locales/en.json")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]json.RawMessage{}
	if err := json.Unmarshal(content, &texts); err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestEveryKeyIsInTheCatalogue(t *testing.T) {
	texts := catalogue(t)
	for key := range keysInUse(t) {
		if strings.HasPrefix(key, "?") {
			continue
		}
		if strings.HasSuffix(key, ".") {
			found := false
			for known := range texts {
				found = found || strings.HasPrefix(known, key)
			}
			if !found {
				t.Errorf("nothing begins with %q", key)
			}
			continue
		}
		if _, known := texts[key]; !known {
			t.Errorf("no text for %q", key)
		}
	}
}

func TestEveryTextIsUsed(t *testing.T) {
	used := keysInUse(t)
	for key := range catalogue(t) {
		found := used[key] || used["?"+key] || strings.HasPrefix(key, "js.")
		for prefix := range used {
			prefix = strings.TrimPrefix(prefix, "?")
			found = found || strings.HasSuffix(prefix, ".") && strings.HasPrefix(key, prefix)
		}
		for _, family := range []string{"hello.", "tool."} { // see examples and toolIcons
			found = found || strings.HasPrefix(key, family)
		}
		if !found {
			t.Errorf("%q is used nowhere", key)
		}
	}
}
