package i18n

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// errorSites are the places of the program at which errors for people arise:
// for each code the names of the arguments that every one of its errors has.
type errorSites map[string][]string

func (s errorSites) add(code string, names []string) {
	if known, again := s[code]; again {
		names = slices.DeleteFunc(slices.Clone(known), func(name string) bool { return !slices.Contains(names, name) })
	}
	s[code] = names
}

// errorsOf finds the errors of the whole program: calls of Errorf, and values
// of models.Error and of the like that have a code.
func errorsOf(t *testing.T) errorSites {
	t.Helper()
	sites := errorSites{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{"node_modules", "testdata", ".git", "bin"}, entry.Name()):
			return filepath.SkipDir
		case entry.IsDir(), !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"), strings.HasSuffix(path, "_templ.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.CallExpr:
				sites.call(node)
			case *ast.CompositeLit:
				sites.value(node)
			case *ast.ValueSpec:
				sites.turnCode(node)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(sites) < 50 {
		t.Fatalf("only %d codes were found: errors are made in another way now", len(sites))
	}
	return sites
}

// call takes Errorf(kind, "code", format, args...).
func (s errorSites) call(call *ast.CallExpr) {
	from, prefix := 1, ""
	switch {
	case named(call.Fun) == "Deedf" && len(call.Args) >= 2: // a line of the audit log
		from, prefix = 0, "deed."
	case named(call.Fun) != "Errorf" || len(call.Args) < 3:
		return
	}
	code, ok := literal(call.Args[from])
	if !ok {
		return
	}
	var names []string
	for _, arg := range call.Args[from+2:] {
		if inner, ok := arg.(*ast.CallExpr); ok && named(inner.Fun) == "Arg" {
			name, _ := literal(inner.Args[0])
			names = append(names, name)
		}
	}
	s.add(prefix+code, names)
}

// value takes models.Error{Code: "code"} and failure{code: "code", args: …}.
func (s errorSites) value(value *ast.CompositeLit) {
	if !slices.Contains([]string{"Error", "failure", "fault"}, named(value.Type)) {
		return
	}
	var code string
	var names []string
	for _, element := range value.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		switch named(pair.Key) {
		case "Code", "code":
			code, _ = literal(pair.Value)
		case "Args", "args":
			if args, ok := pair.Value.(*ast.CompositeLit); ok {
				for _, arg := range args.Elts {
					name, _ := literal(arg.(*ast.KeyValueExpr).Key)
					names = append(names, name)
				}
			}
		}
	}
	if code != "" {
		s.add(code, names)
	}
}

// turnCode takes the constants of models.TurnErrorCode.
func (s errorSites) turnCode(spec *ast.ValueSpec) {
	if spec.Type == nil || named(spec.Type) != "TurnErrorCode" {
		return
	}
	for _, value := range spec.Values {
		if code, ok := literal(value); ok {
			s.add("turn."+code, nil)
		}
	}
}

// named is the name at the end of an expression such as models.Errorf.
func named(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.Ident:
		return expr.Name
	case *ast.SelectorExpr:
		return expr.Sel.Name
	}
	return ""
}

func literal(expr ast.Expr) (string, bool) {
	basic, ok := expr.(*ast.BasicLit)
	if !ok || basic.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(basic.Value)
	return text, err == nil
}

// theirOwn are texts for errors that are made elsewhere than errorsOf looks: of
// the kinds of errors (handlers has a test of them), of an interrupted turn, of
// a wait, and of an output that could not be kept.
var theirOwn = []string{
	"not_found", "malformed", "invalid", "unauthorized", "forbidden", "conflict", "too_large", "too_many_requests", "unavailable",
	"turn.interrupted", "retrying", "unsaved",
}

// In English the sentence of an error stands where the error arises. Every other
// language has one for each code.
func TestCataloguesHaveASentenceForEachError(t *testing.T) {
	sites := errorsOf(t)
	for _, code := range theirOwn {
		sites.add(code, nil)
	}
	name := regexp.MustCompile(`\{\{\.(\w+)\}\}`)
	for _, tag := range tags(t) {
		texts := readCatalogue(t, tag)
		if tag == Default {
			for key := range texts {
				if strings.HasPrefix(key, "error.") {
					t.Errorf("%s.json has %q, whose sentence stands in the code", tag, key)
				}
			}
			continue
		}
		for _, code := range slices.Sorted(maps.Keys(sites)) {
			text, known := texts["error."+code]
			if !known {
				t.Errorf("%s.json has no text for the error %q", tag, "error."+code)
			}
			for _, found := range name.FindAllStringSubmatch(text["other"], -1) {
				if !slices.Contains(sites[code], found[1]) {
					t.Errorf("%s.json, %q: not every error of that code has an argument %s (see models.Arg)", tag, "error."+code, found[1])
				}
			}
		}
		for key := range texts {
			code, isError := strings.CutPrefix(key, "error.")
			if _, known := sites[code]; isError && !known {
				t.Errorf("%s.json has %q, and there is no such error", tag, key)
			}
		}
	}
}

func TestErrorsAreSaidInTheLanguageOfThePage(t *testing.T) {
	const english = "a title has at most 200 characters"
	args := map[string]any{"most": 200}
	for _, tt := range []struct{ lang, code, want string }{
		{"en", "title_too_long", english},
		{"zh", "title_too_long", "标题最多 200 个字符。"},
		{"zh", "somebody_elses_code", english},
	} {
		if got := Error(With(t.Context(), tt.lang), tt.code, english, args); got != tt.want {
			t.Errorf("%s in %s: %q, want %q", tt.code, tt.lang, got, tt.want)
		}
	}
}

type reason struct{}

func (reason) Told() (code, english string, args map[string]any) {
	return "json_type", "is x", map[string]any{"is": "甲", "wanted": "乙"}
}

func TestAnErrorThatNamesAnotherSaysItInTheSameLanguage(t *testing.T) {
	args := map[string]any{"place": "messages[1]", "reason": reason{}, "count": 1}
	if got := Error(With(t.Context(), "zh"), "bad_file", "english", args); !strings.Contains(got, "messages[1] 是甲，应为乙") {
		t.Errorf("it says %q", got)
	}
	if _, still := args["reason"].(reason); !still {
		t.Error("the arguments of the error were changed")
	}
}
