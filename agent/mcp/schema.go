package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// The bounds of the schema of one tool. Models read it with each request, and
// providers refuse what is nested without measure.
const (
	schemaBytes = 16 << 10
	schemaDepth = 32
)

// A schema is what a server says of a tool's arguments.
type schema struct {
	parameters json.RawMessage
	// fits is nil where arguments cannot be held against the schema here.
	fits func(arguments json.RawMessage) error
}

// newSchema bounds what a server sent. Its error says why no model can be told
// of it: a provider would refuse every request in which it stood.
func newSchema(sent any) (schema, error) {
	object, ok := sent.(map[string]any)
	if sent == nil {
		object, ok = map[string]any{}, true
	}
	if !ok {
		return schema{}, errors.New("its schema is no object")
	}
	if deeper(object, schemaDepth) {
		return schema{}, fmt.Errorf("its schema is nested more than %d levels deep", schemaDepth)
	}
	if kind, given := object["type"]; given && kind != "object" {
		return schema{}, errors.New("its schema is not of an object")
	}
	object["type"] = "object"
	if object["properties"] == nil {
		object["properties"] = map[string]any{}
	}
	fits, err := check(object)
	if err != nil {
		return schema{}, err
	}
	delete(object, "$schema") // some providers take no schema that names its dialect
	parameters, err := plainJSON(object)
	if err != nil {
		return schema{}, errors.New("its schema is no JSON")
	}
	if len(parameters) > schemaBytes {
		return schema{}, fmt.Errorf("its schema has %d bytes, and at most %d are passed on", len(parameters), schemaBytes)
	}
	return schema{parameters: parameters, fits: fits}, nil
}

// check makes the check of arguments. A schema that refers to itself can take
// any time and depth to hold something against, so that one with references is
// left to the server; and so is one that the library does not understand.
func check(object map[string]any) (func(json.RawMessage) error, error) {
	written, err := plainJSON(object)
	if err != nil {
		return nil, errors.New("its schema is no JSON")
	}
	var parsed jsonschema.Schema
	if json.Unmarshal(written, &parsed) != nil {
		return nil, errors.New("its schema is no JSON schema")
	}
	if refers(object) {
		return nil, nil
	}
	resolved, err := parsed.Resolve(nil)
	if err != nil {
		return nil, nil
	}
	return func(arguments json.RawMessage) error {
		var given map[string]any
		if err := json.Unmarshal(arguments, &given); err != nil {
			return errors.New("they are no JSON object")
		}
		if err := resolved.Validate(given); err != nil {
			return errors.New(strings.TrimPrefix(err.Error(), "validating root: "))
		}
		return nil
	}, nil
}

// deeper reports whether a value is nested more levels deep than that.
func deeper(value any, levels int) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			if levels == 0 || deeper(inner, levels-1) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if levels == 0 || deeper(inner, levels-1) {
				return true
			}
		}
	}
	return false
}

// refers reports whether a schema has references, or may have them.
func refers(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if strings.HasPrefix(key, "$") && strings.HasSuffix(strings.ToLower(key), "ref") || refers(inner) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if refers(inner) {
				return true
			}
		}
	}
	return false
}

// plainJSON writes a value without escaping what HTML would need escaped: no
// page shows it, and models read it.
func plainJSON(value any) (json.RawMessage, error) {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(buf.Bytes()), nil
}
