package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"offcut/handlers"
	"offcut/models"

	"github.com/google/jsonschema-go/jsonschema"
)

// described is the OpenAPI document, as far as the tests need it.
type described struct {
	OpenAPI    string
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Schemas map[string]json.RawMessage
	}
}

// operation is one call of the document.
type operation struct {
	OperationID string `json:"operationId"`
	Responses   map[string]struct {
		Ref     string `json:"$ref"`
		Content map[string]struct{ Schema json.RawMessage }
	}
}

func description(t testing.TB, raw []byte) described {
	t.Helper()
	var d described
	must(t, json.Unmarshal(raw, &d))
	return d
}

// find is the operation for a request to the path below /api/v1.
func (d described) find(method, path string) (operation, bool) {
	path, _, _ = strings.Cut(path, "?")
	asked := strings.Split(path, "/")
	for template, item := range d.Paths {
		if !fits(strings.Split(template, "/"), asked) {
			continue
		}
		if raw, ok := item[strings.ToLower(method)]; ok {
			var op operation
			return op, json.Unmarshal(raw, &op) == nil
		}
	}
	return operation{}, false
}

func fits(template, asked []string) bool {
	if len(template) != len(asked) {
		return false
	}
	for i, part := range template {
		if !strings.HasPrefix(part, "{") && part != asked[i] {
			return false
		}
	}
	return true
}

// check validates an answer against what the document says of it.
func (d described) check(t testing.TB, method, path string, a answer) {
	t.Helper()
	if a.status >= 400 {
		if problem := d.validate(`{"$ref":"#/components/schemas/Problem"}`, a.body); problem != nil {
			t.Errorf("%s %s: the problem document is not as described: %v\n%s", method, path, problem, clip(a.body))
		}
		return
	}
	op, ok := d.find(method, path)
	if !ok {
		t.Errorf("%s %s is not described", method, path)
		return
	}
	response, ok := op.Responses[fmt.Sprint(a.status)]
	if !ok {
		t.Errorf("%s %s: status %d is not described", method, path, a.status)
		return
	}
	content, ok := response.Content["application/json"]
	if !ok || (len(response.Content) > 1 && !strings.HasPrefix(a.header.Get("Content-Type"), "application/json")) {
		return // it comes in another form
	}
	if problem := d.validate(string(content.Schema), a.body); problem != nil {
		t.Errorf("%s %s: the answer is not as described: %v\n%s", method, path, problem, clip(a.body))
	}
}

func (d described) validate(schema string, body []byte) error {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(atDefs(schema)), &s); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	s.Defs = map[string]*jsonschema.Schema{}
	for name, raw := range d.Components.Schemas {
		var def jsonschema.Schema
		if err := json.Unmarshal([]byte(atDefs(string(raw))), &def); err != nil {
			return fmt.Errorf("schema %s: %w", name, err)
		}
		s.Defs[name] = &def
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	return resolved.Validate(v)
}

// atDefs points references to where a schema of its own keeps definitions.
func atDefs(schema string) string {
	return strings.ReplaceAll(schema, "#/components/schemas/", "#/$defs/")
}

func TestTheDescriptionHasEveryRouteOfTheAPIAndNoOther(t *testing.T) {
	s := start(t)
	raw := s.browser().get("/api/v1/openapi.json")
	d := description(t, raw.body)
	if d.OpenAPI != "3.1.0" || raw.header.Get("Content-Type") != "application/json" {
		t.Errorf("the document is OpenAPI %q, %s", d.OpenAPI, raw.header.Get("Content-Type"))
	}
	here := map[string]bool{}
	ids := map[string]bool{}
	for _, r := range routes(&handlers.Handlers{}) {
		path, ok := strings.CutPrefix(r.path, "/api/v1")
		if !ok {
			continue
		}
		parts := strings.Split(path, "/")
		for i, part := range parts {
			if name, ok := strings.CutPrefix(part, ":"); ok {
				parts[i] = "{" + name + "}"
			}
			if part == "*" { // the rest of the address, slashes and all
				parts[i] = "{path}"
			}
		}
		path = strings.Join(parts, "/")
		here[r.method+" "+path] = true
		if op, ok := d.find(r.method, path); !ok || op.OperationID == "" || ids[op.OperationID] {
			t.Errorf("%s %s is not described under a name of its own", r.method, path)
		} else {
			ids[op.OperationID] = true
		}
	}
	for path, item := range d.Paths {
		for method := range item {
			if method = strings.ToUpper(method); method != "PARAMETERS" && !here[method+" "+path] {
				t.Errorf("%s %s is described and is no route", method, path)
			}
		}
	}
}

func TestTheDescriptionFollowsTheBasePath(t *testing.T) {
	s := start(t, under("offcut/"))
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.url("/offcut/api/v1/openapi.json"), nil)
	must(t, err)
	servers := do(t, s.Client(), r).json(t)["servers"].([]any)
	if url := servers[0].(map[string]any)["url"]; url != "/offcut/api/v1" {
		t.Errorf("the server of the document is %q", url)
	}
}

func TestTheDescriptionHasEveryKeyOfAResultsMetadata(t *testing.T) {
	var schema struct {
		Properties map[string]json.RawMessage
	}
	must(t, json.Unmarshal(description(t, start(t).browser().get("/api/v1/openapi.json").body).Components.Schemas["ResultMetadata"], &schema))
	metadata := reflect.TypeFor[models.ResultMetadata]()
	for i := range metadata.NumField() {
		key, _, _ := strings.Cut(metadata.Field(i).Tag.Get("json"), ",")
		if key == "-" {
			continue // it stays in the server
		}
		if _, ok := schema.Properties[key]; !ok {
			t.Errorf("%s is not described", key)
		}
		delete(schema.Properties, key)
	}
	for key := range schema.Properties {
		t.Errorf("%s is described and never sent", key)
	}
}
