package mcp

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"offcut/agent"
	"offcut/models"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestTheReferenceServersToolsAreOffered(t *testing.T) {
	h := newHouse(t, reference(t, "server-everything"), reference(t, "server-filesystem", t.TempDir()))
	offered := map[string]agent.ToolSpec{}
	for _, tool := range h.servers.Tools(t.Context()) {
		offered[tool.Spec().Name] = tool.Spec()
	}
	for name, effects := range map[string]bool{
		"everything__echo": false, "everything__gzip-file-as-resource": true,
		"filesystem__read_text_file": false, "filesystem__write_file": true,
	} {
		spec, ok := offered[name]
		if !ok || spec.HasEffects != effects || spec.UnsafeWhenCut != effects || spec.Deed != agent.DeedRemote || spec.Fits == nil || spec.Description == "" {
			t.Errorf("%s is offered as %+v", name, spec)
		}
	}
	for _, s := range h.servers.Status() {
		if len(s.LeftOut) != 0 {
			t.Errorf("%s: left out %q", s.Name, s.LeftOut)
		}
	}
}

func TestResultsOfTheReferenceServer(t *testing.T) {
	h := newHouse(t, reference(t, "server-everything"))
	for _, test := range []struct {
		name, tool string
		arguments  args
		isError    bool
		says       string // a regular expression of the whole body
	}{
		{"text is as it is", "echo", args{"message": "ä <b>"}, false, `Echo: ä <b>`},
		{"a number", "get-sum", args{"a": 2, "b": 3}, false, `The sum of 2 and 3 is 5\.`},
		{"arguments that do not fit", "get-sum", args{"a": "two"}, true, `(?s)The arguments of everything__get-sum are wrong: .*They must fit this JSON schema: \{.*`},
		{"structured content beside its text", "get-structured-content", args{"location": "Chicago"}, false, `\{"temperature":.*\}`},
		{"an image", "get-tiny-image", args{}, false, `Here's the image you requested:\n\[image, image/png, \d+ bytes, stored in the workspace as mcp/call_1-1\.png\]\nThe image above is the MCP logo\.`},
		{"links", "get-resource-links", args{"count": 1}, false, `(?s).*\n\[link to a resource: demo://resource/.*\]`},
		{"a resource of text", "get-resource-reference", args{"resourceType": "Text", "resourceId": 1}, false, `(?s).*\n\[resource demo://resource/.*, text/plain, \d+ bytes\]\nResource 1: .*`},
		{"a resource of bytes", "gzip-file-as-resource", args{"name": "x.gz", "data": "data:text/plain,hello", "outputType": "resource"}, false, `(?s).*\[resource demo://.*, application/gzip, \d+ bytes, stored in the workspace as mcp/call_1-1\.gz\].*`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := h.call("everything__"+test.tool, test.arguments)
			if got.IsError != test.isError || !regexp.MustCompile(`\A`+test.says+`\z`).MatchString(got.Content) {
				t.Errorf("is_error %v: %q", got.IsError, got.Content)
			}
		})
	}
	image, err := os.ReadFile(filepath.Join(h.workspace, "mcp/call_1-1.png"))
	if err != nil || !bytes.HasPrefix(image, []byte("\x89PNG")) {
		t.Errorf("the image is %.20q, %v", image, err)
	}
}

func TestOtherResults(t *testing.T) {
	h := newHouse(t, own(t, "tools"))
	if got := h.call("own__structured", args{}); got.Content != `{"note":"<b>","rows":[1,2]}` {
		t.Errorf("structured content is %q", got.Content)
	}
	if got := h.call("own__nothing", args{}); got.Said().Content != noContent || got.Content != "" || got.IsError {
		t.Errorf("nothing is %q", got.Content)
	}
	if got := h.call("own__fail", args{}); !got.IsError || !got.Metadata.IsError {
		t.Errorf("an error is %+v", got)
	}
}

// A signed address is long, and is the one thing that such a result is about.
func TestWhatNamesAResourceIsWhole(t *testing.T) {
	h := newHouse(t, own(t, "hostile"))
	address := "https://bucket.example.org/report.csv?X-Amz-Signature=" + strings.Repeat("a1", 400) + "&end=1"
	name, description := strings.Repeat("n", 300), strings.Repeat("d", 1000)
	for answer, want := range map[string]string{
		`{"content":[{"type":"resource_link","uri":"` + address + `","name":"` + name + `","description":"` + description + `"}]}`: "[link to a resource: " + address + ", " + name + ": " + description + "]",
		`{"content":[{"type":"resource","resource":{"uri":"` + address + `","mimeType":"text/plain","text":"x"}}]}`:                "[resource " + address + ", text/plain, 1 bytes]\nx",
		`{"content":[{"type":"resource","resource":{"uri":"` + address + `","mimeType":"text/plain","blob":"QUE="}}]}`:             "[resource " + address + ", text/plain, 2 bytes, stored in the workspace as mcp/call_1-1.txt]",
		`{"content":[{"type":"resource","resource":{"uri":"` + address + `","blob":"!"}}]}`:                                        "[resource, " + address + ", not read: its data are no base64 (byte 0 of them)]\n{\"type\":\"resource\",\"resource\":{\"uri\":\"" + address + "\",\"blob\":\"!\"}}",
		`{"content":[{"type":"resource_link","uri":"x://y\u001b[2J\u2028z","name":"a\r\nb"}]}`:                                     "[link to a resource: x://y [2J z, a  b]",
	} {
		if got := h.answered(answer); got.Content != want {
			t.Errorf("it says %.1500q, want %q", got.Content, want)
		}
	}
}

// What the server did is known then, and its files are stored.
func TestAnAnswerThatCameWithAStopIsKept(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	stop(agent.ErrStopped)
	room := func(ctx context.Context, _ string) (int64, error) { return 1 << 20, ctx.Err() }
	one := tool{server: newServer(Server{Name: "own"}, Options{Room: room}, newIntakes(0))}
	answer := &sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{MIMEType: "image/png", Data: []byte("data")}}}
	got, err := one.ended(ctx, agent.Call{ID: "c", Workspace: t.TempDir()}, answer, nil, nil)
	if err != nil || got.Content != "[image, image/png, 4 bytes, stored in the workspace as mcp/c-1.png]" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestProgressIsShown(t *testing.T) {
	h := newHouse(t, reference(t, "server-everything"))
	var mu sync.Mutex
	var shown string
	call := h.newCall("everything__trigger-long-running-operation", args{"duration": 1, "steps": 2})
	call.Live = func(text string, printed int64) {
		mu.Lock()
		defer mu.Unlock()
		if shown += text; int64(len(shown)) != printed {
			t.Errorf("%d bytes of %q", printed, shown)
		}
	}
	result, err := h.tool(call.Tool).Run(t.Context(), call)
	if err != nil || !strings.HasPrefix(result.Content, "Long running operation completed.") {
		t.Errorf("%q, %v", result.Content, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if !strings.HasPrefix(shown, "1 of 2\n") {
		t.Errorf("shown is %q", shown)
	}
}

func TestAFileThatCannotBeStoredIsNamed(t *testing.T) {
	outside := t.TempDir()
	for name, test := range map[string]struct {
		prepare func(workspace string) error
		room    int64
		says    string
	}{
		"no room":                       {func(string) error { return nil }, 1, "has no room"},
		"a link that leads out":         {func(w string) error { return os.Symlink(outside, filepath.Join(w, filesFolder)) }, 1 << 20, "could not be written"},
		"a link in the place of a file": {linked1(outside), 1 << 20, "could not be written"},
	} {
		t.Run(name, func(t *testing.T) {
			workspace := t.TempDir()
			if err := test.prepare(workspace); err != nil {
				t.Fatal(err)
			}
			files := newFiles(t.Context(), agent.Call{ID: "../../c", Workspace: workspace}, func(context.Context, string) (int64, error) { return test.room, nil })
			if got := files.store("image", "image/png", "", []byte("data")); !strings.Contains(got, "[image, image/png, 4 bytes, not stored: ") || !strings.Contains(got, test.says) {
				t.Errorf("it says %q", got)
			}
			var meta models.ResultMetadata
			files.describe(&meta)
			if !meta.Truncated || meta.Complete == nil || *meta.Complete || !slices.Equal(meta.Reasons, []models.Reason{models.ReasonRetention}) ||
				meta.OmittedBytes == nil || *meta.OmittedBytes != 4 || !strings.Contains(meta.RetentionError, test.says) {
				t.Errorf("the metadata are %s", meta.Line())
			}
			if left, _ := os.ReadDir(outside); len(left) != 0 {
				t.Errorf("outside there is %v", left)
			}
		})
	}
}

// More files than a result may have leave it incomplete, in data as in words.
func TestFilesThatAreTooManyAreMissed(t *testing.T) {
	h := newHouse(t, own(t, "hostile"))
	image := `{"type":"image","mimeType":"image/png","data":"AAAA"}`
	got := h.answered(`{"content":[` + image + strings.Repeat(","+image, maxFiles+1) + `]}`)
	if want := `{"is_error":false,"truncated":true,"complete":false,"omitted_bytes":6,"reasons":["retention"]}`; got.Metadata.Line() != want {
		t.Errorf("the metadata are %s, want %s", got.Metadata.Line(), want)
	}
}

// linked1 puts a link where the first file of the call goes.
func linked1(outside string) func(string) error {
	return func(workspace string) error {
		if err := os.Mkdir(filepath.Join(workspace, filesFolder), 0o700); err != nil {
			return err
		}
		return os.Symlink(filepath.Join(outside, "x"), filepath.Join(workspace, filesFolder, plain("../../c")+"-1.png"))
	}
}
