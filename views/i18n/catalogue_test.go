package i18n

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// forms are the plural forms that each language has (CLDR). A language that is
// added gets its line here.
var forms = map[string][]string{
	"en": {"one", "other"},
	"zh": {"other"},
}

// entry is a text of a catalogue: one string, or one for each plural form.
type entry map[string]string

func (e *entry) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*e = entry{"other": text}
		return nil
	}
	return json.Unmarshal(raw, (*map[string]string)(e))
}

// placeholders are what is put into a text: by the server, or by a script.
var placeholders = regexp.MustCompile(`\{\{\.\w+\}\}|\{\w+\}`)

// markup are the elements of a text that is HTML.
var markup = regexp.MustCompile(`</?\w+`)

// in is what a pattern finds in the general form of a text, in order.
func (e entry) in(pattern *regexp.Regexp) []string {
	return slices.Compact(slices.Sorted(slices.Values(pattern.FindAllString(e["other"], -1))))
}

func readCatalogue(t *testing.T, tag string) map[string]entry {
	t.Helper()
	raw, err := locales.ReadFile("locales/" + tag + ".json")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]entry{}
	if err := json.Unmarshal(raw, &texts); err != nil {
		t.Fatalf("%s: %v", tag, err)
	}
	return texts
}

func tags(t *testing.T) []string {
	t.Helper()
	files, err := locales.ReadDir("locales")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, file := range files {
		all = append(all, strings.TrimSuffix(file.Name(), path.Ext(file.Name())))
	}
	return all
}

func TestCataloguesHoldTheSameTexts(t *testing.T) {
	english := readCatalogue(t, Default)
	for _, tag := range tags(t) {
		texts := readCatalogue(t, tag)
		for key, text := range english {
			other, known := texts[key]
			if !known {
				t.Errorf("%s.json has no text for %q (%q)", tag, key, text["other"])
				continue
			}
			if want, got := text.in(placeholders), other.in(placeholders); !slices.Equal(want, got) {
				t.Errorf("%s.json, %q: the placeholders are %q, want %q", tag, key, got, want)
			}
			if want, got := text.in(markup), other.in(markup); !slices.Equal(want, got) {
				t.Errorf("%s.json, %q: the elements are %q, want %q", tag, key, got, want)
			}
		}
		for key := range texts {
			if _, known := english[key]; !known && !strings.HasPrefix(key, "error.") {
				t.Errorf("%s.json has %q, which %s.json has not", tag, key, Default)
			}
		}
	}
}

func TestCataloguesHaveTheFormsOfTheirLanguage(t *testing.T) {
	for _, tag := range tags(t) {
		own, known := forms[tag]
		if !known {
			t.Errorf("the plural forms of %s are not known to this test", tag)
		}
		for key, text := range readCatalogue(t, tag) {
			if len(text) > 1 && !slices.Equal(slices.Sorted(maps.Keys(text)), own) {
				t.Errorf("%s.json, %q: the forms are %q, want %q", tag, key, slices.Sorted(maps.Keys(text)), own)
			}
			for form, words := range text {
				if strings.TrimSpace(words) == "" {
					t.Errorf("%s.json, %q: the form %q is empty", tag, key, form)
				}
			}
		}
	}
}

// Of a key that stands twice in a file one text is lost without a word.
func TestCataloguesHaveEachKeyOnce(t *testing.T) {
	for _, tag := range tags(t) {
		raw, err := locales.ReadFile("locales/" + tag + ".json")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, key := range keysOf(t, raw) {
			if seen[key] {
				t.Errorf("%s.json has %q twice", tag, key)
			}
			seen[key] = true
		}
	}
}

// keysOf are the keys of an object, each as often as it stands there.
func keysOf(t *testing.T, object []byte) []string {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(object))
	if _, err := decoder.Token(); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key.(string))
	}
	return keys
}
