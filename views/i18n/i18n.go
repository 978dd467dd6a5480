// Package i18n is the one catalogue of what the interface says. A language is a
// file in locales/; English is the one that every other falls back to.
package i18n

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"
)

//go:embed locales/*.json
var locales embed.FS

// Default is the language that every other falls back to.
const Default = "en"

var bundle = load()

// load reads the embedded files. They are part of the program, so one that
// cannot be read is a fault of the build.
func load() *i18n.Bundle {
	b := i18n.NewBundle(language.English)
	b.RegisterUnmarshalFunc("json", json.Unmarshal)
	entries, err := locales.ReadDir("locales")
	if err != nil {
		panic(fmt.Errorf("list the catalogue: %w", err))
	}
	for _, entry := range entries {
		if _, err := b.LoadMessageFileFS(locales, "locales/"+entry.Name()); err != nil {
			panic(fmt.Errorf("read the catalogue %s: %w", entry.Name(), err))
		}
	}
	return b
}

var matcher = language.NewMatcher(bundle.LanguageTags())

// Match is the language of the catalogue that fits best what is wished: tags or
// values of Accept-Language headers, the first wish before the next. Where none
// fits it is Default.
func Match(wishes ...string) string {
	_, index := language.MatchStrings(matcher, wishes...)
	return bundle.LanguageTags()[index].String()
}

// Known reports whether a language of that tag is in the catalogue.
func Known(tag string) bool { return slices.Contains(Languages(), tag) }

// Name is what a language calls itself.
func Name(tag string) string { return T(With(context.Background(), tag), "language.name") }

type localizerKey struct{}

var fallback = i18n.NewLocalizer(bundle, Default)

// With makes lang the language of ctx. It may be a tag or the value of an
// Accept-Language header; what is not in the catalogue is English.
func With(ctx context.Context, lang string) context.Context {
	return context.WithValue(ctx, localizerKey{}, i18n.NewLocalizer(bundle, Match(lang), Default))
}

func localizer(ctx context.Context) *i18n.Localizer {
	if own, ok := ctx.Value(localizerKey{}).(*i18n.Localizer); ok {
		return own
	}
	return fallback
}

// T is the text of key in ctx's language. args are names and values in turn;
// the value named n also chooses between singular and plural. A key that is
// not in the catalogue is its own text: a test keeps that from happening.
func T(ctx context.Context, key string, args ...any) string {
	config := &i18n.LocalizeConfig{MessageID: key}
	if len(args) > 0 {
		values := make(map[string]any, len(args)/2)
		for i := 0; i+1 < len(args); i += 2 {
			name := fmt.Sprint(args[i])
			values[name] = args[i+1]
			if name == "n" {
				config.PluralCount = pluralCount(args[i+1])
			}
		}
		config.TemplateData = values
	}
	text, err := localizer(ctx).Localize(config)
	if err != nil {
		return key
	}
	return text
}

// Error is what ctx's language says of an error with that code. In English it
// is the sentence that the error itself is: it stands in the code, where the
// error arises, and is what programs and the model are told. The catalogues of
// other languages hold it under "error." and the code; args are what it names,
// among it other errors, such as the reason of this one.
func Error(ctx context.Context, code, english string, args map[string]any) string {
	text, err := localizer(ctx).Localize(&i18n.LocalizeConfig{MessageID: "error." + code, TemplateData: said(ctx, args)})
	if err != nil {
		return english
	}
	return text
}

// told is an error that is named by another one.
type told interface {
	Told() (code, english string, args map[string]any)
}

// said are arguments in which errors are sentences in ctx's language.
func said(ctx context.Context, args map[string]any) map[string]any {
	all := maps.Clone(args)
	for name, arg := range args {
		if inner, ok := arg.(told); ok {
			code, english, args := inner.Told()
			all[name] = Error(ctx, code, english, args)
		}
	}
	return all
}

// pluralCount is a number that go-i18n can choose a plural by, or nil.
func pluralCount(v any) any {
	switch n := v.(type) {
	case int:
		return n
	case int64:
		return n
	case interface{ Count() int64 }:
		return n.Count()
	}
	return nil
}

// Languages are the tags of the languages in the catalogue.
func Languages() []string {
	var tags []string
	for _, tag := range bundle.LanguageTags() {
		tags = append(tags, tag.String())
	}
	return tags
}
