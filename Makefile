# The commands of the project. `make run` and `make test` do all the set-up.

BIN     := bin/offcut
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
# The full-text index needs FTS5 in SQLite. Without the tag all builds and works
# too, and a search looks through the messages.
TAGS    := sqlite_fts5
# What is inlined is copied. The functions that templ makes of pages are short, so
# that each is, with the whole of its page, into whoever shows it (1.6 MiB); and so
# are the thousands of small ones that Anthropic's library has for its types (0.4).
GCFLAGS := -gcflags offcut/views=-l -gcflags github.com/anthropics/anthropic-sdk-go/v2/...=-l
NPM_CI  := npm ci --no-audit --no-fund --ignore-scripts
LINT    := go tool -modfile=.ci/lint/go.mod golangci-lint

E2E     := web/e2e/node_modules/.package-lock.json
MCP     := agent/mcp/testdata/servers/node_modules/.package-lock.json
AIMOCK  := agent/llm/openai/testdata/aimock/node_modules/.package-lock.json

.DEFAULT_GOAL := help
.PHONY: help run build test check generate fmt lint bench

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

run: build ## Build and serve http://localhost:8080
	@.ci/need run
	@exec $(BIN) serve

build: ## Leave the program in bin/offcut
	@.ci/need build
	CGO_ENABLED=1 go build -trimpath -tags $(TAGS) $(GCFLAGS) -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/offcut

test: build $(E2E) $(AIMOCK) $(MCP) ## Run every test, those in a browser included
	@.ci/need test
	go vet -tags $(TAGS) ./...
	OFFCUT_BIN=$(CURDIR)/$(BIN) go test -race -tags $(TAGS) ./...
	cd web/e2e && OFFCUT_BIN=$(CURDIR)/$(BIN) npm test

check: generate ## What must hold before a change is sent: nothing generated, untidy or unlinted is left, and all tests
	go mod tidy
	git diff --exit-code
	$(MAKE) lint test

generate: ## Make the generated files anew
	go tool templ generate -path views
	go generate ./...

fmt: ## Format the code
	go tool templ fmt views
	$(LINT) fmt

lint: ## Lint the code
	$(LINT) run

bench: build ## Measure, and print each ratio with its goal
	go run -tags $(TAGS) ./cmd/offcut/bench -bin $(BIN)

$(E2E): web/e2e/package-lock.json
	@.ci/need test
	cd web/e2e && $(NPM_CI)

$(AIMOCK): agent/llm/openai/testdata/aimock/package-lock.json
	@.ci/need test
	cd $(dir $<) && $(NPM_CI)

$(MCP): agent/mcp/testdata/servers/package-lock.json
	@.ci/need test
	cd $(dir $<) && $(NPM_CI)
