package eval

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

//go:embed scenarios/*.yaml
var embedded embed.FS

// ending is what the files of scenarios end in.
const ending = ".yaml"

// maxFileBytes bounds one file of a scenario.
const maxFileBytes = 4 << 20

// Embedded are the scenarios of the program, by their names.
func Embedded() ([]Scenario, error) {
	below, err := fs.Sub(embedded, "scenarios")
	if err != nil {
		return nil, err
	}
	return load(below, "scenarios")
}

// Folder are the scenarios of a folder: its files that end in .yaml, not those of
// folders in it. All that is wrong with them is in the one error, each with its
// file and line.
func Folder(dir string) ([]Scenario, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("the folder of scenarios: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("the folder of scenarios: %s is a file", dir)
	}
	found, err := load(os.DirFS(dir), dir)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s holds no scenario: no file in it ends in %s", dir, ending)
	}
	return found, err
}

func load(from fs.FS, dir string) ([]Scenario, error) {
	entries, err := fs.ReadDir(from, ".")
	if err != nil {
		return nil, fmt.Errorf("the folder of scenarios: %w", err)
	}
	var found []Scenario
	var wrong []error
	for _, entry := range entries {
		if !entry.IsDir() && path.Ext(entry.Name()) == ".yml" {
			wrong = append(wrong, fmt.Errorf("%s: it ends in .yml, and scenarios end in %s", filepath.Join(dir, entry.Name()), ending))
			continue
		}
		if entry.IsDir() || path.Ext(entry.Name()) != ending {
			continue
		}
		s, err := read(from, entry.Name(), filepath.Join(dir, entry.Name()))
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		found = append(found, s)
	}
	return found, errors.Join(wrong...)
}

func read(from fs.FS, name, file string) (Scenario, error) {
	f, err := from.Open(name)
	if err != nil {
		return Scenario{}, err
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return Scenario{}, fmt.Errorf("%s: %w", file, err)
	}
	if len(raw) > maxFileBytes {
		return Scenario{}, fmt.Errorf("%s: it has more than %d bytes; make long texts of parts", file, maxFileBytes)
	}
	return Parse(file, raw)
}

// Parse reads one scenario. Its error names the file and, for each thing that is
// wrong, the line.
func Parse(file string, raw []byte) (Scenario, error) {
	s := Scenario{Name: strings.TrimSuffix(filepath.Base(file), ending), File: file}
	if !utf8.Valid(raw) {
		return s, fmt.Errorf("%s: it is no UTF-8", file)
	}
	var tree yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	if err := decoder.Decode(&s); err != nil {
		return s, located(file, err)
	}
	if err := yaml.Unmarshal(raw, &tree); err != nil {
		return s, located(file, err)
	}
	if decoder.Decode(new(yaml.Node)) != io.EOF {
		return s, fmt.Errorf("%s: a file holds one scenario; this one goes on after a line of dashes", file)
	}
	return s, s.check(&tree)
}

var (
	yamlLine = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)
	goType   = regexp.MustCompile(` in type \S+`)
	mistyped = regexp.MustCompile("^cannot unmarshal !!\\w+(?: `(.*)`)? into (.+)$")
)

// kinds are what is accepted for Go's types, for people.
var kinds = []struct{ goType, name string }{
	{"eval.Matcher", "a mapping with one of contains, matches, number, denies, unsure and any"},
	{"eval.Bounds", "a mapping with min, max or both"},
	{"time.Duration", "a time such as 1s"},
	{"float64", "a number"},
	{"int", "a whole number"},
	{"bool", "true or false"},
	{"string", "a text"},
	{"[]", "a list"},
}

// accepted says what a value may be that was taken for one of Go's types.
func accepted(value, goType string) string {
	kind := "a mapping"
	for _, k := range kinds {
		if strings.HasPrefix(goType, k.goType) {
			kind = k.name
			break
		}
	}
	if value == "" {
		return "what stands here is not accepted; it is " + kind
	}
	return fmt.Sprintf("%q is not accepted; it is %s", value, kind)
}

// located puts an error of the YAML library into the usual form, file:line: text,
// and the names of Go's types out of it.
func located(file string, err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s:1: it is empty", file)
	}
	texts := []string{err.Error()}
	var typed *yaml.TypeError
	if errors.As(err, &typed) {
		texts = typed.Errors
	}
	var all []error
	for _, text := range texts {
		at := file + ": "
		if m := yamlLine.FindStringSubmatch(text); m != nil {
			at, text = fmt.Sprintf("%s:%s: ", file, m[1]), text[len(m[0]):]
		}
		if m := mistyped.FindStringSubmatch(text); m != nil {
			text = accepted(m[1], m[2])
		}
		text = goType.ReplaceAllString(text, "")
		if field, unknown := strings.CutPrefix(text, "field "); unknown {
			text = "there is no such key: " + strings.TrimSuffix(field, " not found")
		}
		all = append(all, errors.New(at+text))
	}
	return errors.Join(all...)
}

// Merge is the first list with the second over it: a scenario of the same name
// takes the place of the other. It is sorted by name.
func Merge(first, second []Scenario) []Scenario {
	byName := map[string]Scenario{}
	for _, s := range slices.Concat(first, second) {
		byName[s.Name] = s
	}
	merged := make([]Scenario, 0, len(byName))
	for _, s := range byName {
		merged = append(merged, s)
	}
	slices.SortFunc(merged, func(a, b Scenario) int { return strings.Compare(a.Name, b.Name) })
	return merged
}

// Only are the scenarios whose names fit one of the patterns of path.Match; none:
// all of them. A pattern that fits none is an error.
func Only(all []Scenario, patterns []string) ([]Scenario, error) {
	if len(patterns) == 0 {
		return all, nil
	}
	wanted := map[string]bool{}
	for _, pattern := range patterns {
		fits := 0
		for _, s := range all {
			ok, err := path.Match(pattern, s.Name)
			if err != nil {
				return nil, fmt.Errorf("%q is no pattern of names: %w", pattern, err)
			}
			if ok {
				wanted[s.Name] = true
				fits++
			}
		}
		if fits == 0 {
			return nil, fmt.Errorf("there is no scenario %q; offcut eval list names them", pattern)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(s Scenario) bool { return !wanted[s.Name] }), nil
}
