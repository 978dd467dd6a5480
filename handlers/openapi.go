package handlers

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"
	"go.yaml.in/yaml/v3"
)

//go:embed openapi.yaml
var openAPISource []byte

// openAPI is the description of the API as JSON. Its source is part of the
// program, so one that cannot be read is a fault of the build.
func openAPI(basePath, version string) []byte {
	var doc map[string]any
	if err := yaml.Unmarshal(openAPISource, &doc); err != nil {
		panic(fmt.Errorf("read the embedded openapi.yaml: %w", err))
	}
	if version != "" {
		doc["info"].(map[string]any)["version"] = version
	}
	doc["servers"] = []any{map[string]any{"url": basePath + "/api/v1"}}
	out, err := json.Marshal(doc)
	if err != nil {
		panic(fmt.Errorf("write the embedded openapi.yaml as JSON: %w", err))
	}
	return out
}

// OpenAPI describes the API for programs.
func (h *Handlers) OpenAPI(c echo.Context) error {
	return c.JSONBlob(http.StatusOK, h.spec)
}
