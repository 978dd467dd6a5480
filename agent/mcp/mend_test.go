package mcp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestWhatIsWrongWithAnAnswerLosesNothingElse(t *testing.T) {
	h := newHouse(t, own(t, "hostile"))
	text := `{"type":"text","text":"the text"}`
	for name, test := range map[string]struct {
		answer, want string
	}{
		"sound": {`{"content":[` + text + `]}`, "the text"},
		"data are no base64": {
			`{"content":[` + text + `,{"type":"audio","mimeType":"audio/wav","data":"!!"},{"type":"resource_link","uri":"x://y","name":"n"}]}`,
			"the text\n[audio, audio/wav, not read: its data are no base64 (byte 0 of them)]\n{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"!!\"}\n[link to a resource: x://y, n]",
		},
		"a blob is no base64": {
			`{"content":[{"type":"resource","resource":{"uri":"x://y","mimeType":"a/b","blob":"QQ=!"}},` + text + `]}`,
			"[resource, x://y, a/b, not read: its data are no base64 (byte 2 of them)]\n{\"type\":\"resource\",\"resource\":{\"uri\":\"x://y\",\"mimeType\":\"a/b\",\"blob\":\"QQ=!\"}}\nthe text",
		},
		"an item of tomorrow": {
			`{"content":[{"type":"video","frames":[1]},` + text + `]}`,
			"[video, not read: it is not as the protocol has it]\n{\"type\":\"video\",\"frames\":[1]}\nthe text",
		},
		"an item that is none":      {`{"content":[null,` + text + `]}`, "[item, not read: it is not as the protocol has it]\nnull\nthe text"},
		"an item of a wrong shape":  {`{"content":[{"type":"text","text":7}]}`, "[text, not read: it is not as the protocol has it]\n{\"type\":\"text\",\"text\":7}"},
		"one item without its list": {`{"content":` + text + `}`, "the text"},
		"an item for other uses":    {`{"content":[{"type":"tool_use","id":"1","name":"n","input":{}}]}`, `{"type":"tool_use","id":"1","name":"n","input":{}}`},
		"numbers stay exact":        {`{"content":[],"structuredContent":{"id": 9007199254740993, "n": 1.10, "big": 123456789012345678901234567890}}`, `{"id":9007199254740993,"n":1.10,"big":123456789012345678901234567890}`},
		"characters are plain":      {`{"content":[],"structuredContent":{"z":"\u6210\u529f \u003cb\u003e \ud83d\ude00","a":"\"\\u0041\n\ud800\u0007"}}`, "{\"z\":\"成功 <b> \U0001F600\",\"a\":\"\\\"\\\\u0041\\n\\ud800\\u0007\"}"},
		"deeper than anybody":       {`{"content":[],"structuredContent":` + strings.Repeat("[", 3000) + strings.Repeat("]", 3000) + `}`, strings.Repeat("[", 3000) + strings.Repeat("]", 3000)},
		"half a pair":               {`{"content":[{"type":"text","text":"a\ud800b\ud83d\ude00 \\ud800 \udc00"}]}`, "a\xED\xA0\x80b\U0001F600 \\ud800 \xED\xB0\x80"},
		"bytes that are no text":    {"{\"content\":[{\"type\":\"text\",\"text\":\"a\xff\xfeb\"}]}", "a\xFF\xFEb"},
		"in a name":                 {"{\"content\":[{\"type\":\"resource_link\",\"uri\":\"x://\xff\",\"name\":\"n\"}]}", "[link to a resource: x://\xFF, n]"},
		"in a structured result":    {"{\"content\":[],\"structuredContent\":{\"a\":\"\xff\\ud800 \\\\\"}}", "{\"a\":\"\xFF\\ud800 \\\\\"}"},
		"beside what stands for it": {"{\"content\":[{\"type\":\"text\",\"text\":\"\U0010FFFD\\udbff\\udffd\U0010FFFD\u01FF \xff\"}]}", "\U0010FFFD\U0010FFFD\U0010FFFD\u01FF \xFF"},
		"what stands for it alone":  {"{\"content\":[{\"type\":\"text\",\"text\":\"\U0010FFFD\u01FF\"}]}", "\U0010FFFD\u01FF"},
		"in an item that is none":   {"{\"content\":[{\"type\":\"a\xff\"}]}", "[a\xFF, not read: it is not as the protocol has it]\n{\"type\":\"a\xFF\"}"},
		"a NUL":                     {`{"content":[{"type":"text","text":"a\u0000b"}]}`, "a\x00b"},
		"nothing at all":            {`{}`, ""},
		"content is null":           {`{"content":null}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := h.answered(test.answer)
			if got.IsError || got.Content != test.want || (len(got.Notes) > 0) != (test.want == "") {
				t.Errorf("is_error %v: %.300q %q, want %.300q", got.IsError, got.Content, got.Notes, test.want)
			}
		})
	}
	if got := h.answered(`"no answer at all"`); !got.IsError || !strings.Contains(got.Content, "gave own__bare no answer that can be read") {
		t.Errorf("%+v", got)
	}
	if got := h.answered(`{"content":[` + text + `]}`); got.Content != "the text" {
		t.Errorf("after all that it says %+v", got)
	}
}

// The cause stands at the end of what compilers and databases say.
func TestAnErrorOfTheProtocolIsToldWhole(t *testing.T) {
	server := own(t, "hostile")
	server.Secrets = []string{"s3cret-of-the-server"}
	h := newHouse(t, server)
	long := strings.Repeat("a line of it\n", 2500) + "the real cause"
	for name, test := range map[string]struct{ refusal, want string }{
		"a long message":    {`{"code":-32603,"message":` + string(raw(long)) + `}`, long},
		"with data":         {`{"code":-32602,"message":"wrong","data":{"detail": "the\u0020cause", "line": 7}}`, "wrong\nIts data: {\"detail\":\"the cause\",\"line\":7}"},
		"data that are not": {`{"code":1,"message":"no","data":null}`, "no"},
		"joined characters": {`{"code":1,"message":"नहीं क्\u200dष"}`, "नहीं क्\u200dष"},
		"with a secret":     {`{"code":1,"message":"s3cret-of-the-server","data":["s3cret-of-the-server"]}`, "[redacted]\nIts data: [\"[redacted]\"]"},
	} {
		t.Run(name, func(t *testing.T) {
			got := h.call("own__bare", args{"refusal": []byte(test.refusal)})
			if want := "The MCP server own answered with an error: " + test.want; !got.IsError || got.Content != want {
				t.Errorf("%d bytes: …%.200q, want %.200q", len(got.Content), got.Content[max(0, len(got.Content)-200):], want[max(0, len(want)-200):])
			}
		})
	}
}

func TestAStructuredResultIsSaidOnce(t *testing.T) {
	h := newHouse(t, own(t, "hostile"))
	for name, test := range map[string]struct{ answer, want string }{
		"as the text":       {`{"content":[{"type":"text","text":"{\"b\": 2, \"a\": [1.0]}"}],"structuredContent":{"a":[1.0],"b":2}}`, `{"b": 2, "a": [1.0]}`},
		"as a wrapped text": {`{"content":[{"type":"text","text":"five"}],"structuredContent":{"content":"five"}}`, "five"},
		"as a wrapped list": {`{"content":[{"type":"text","text":"{\"n\":1}"},{"type":"text","text":"2"}],"structuredContent":{"result":[{"n":1},2]}}`, "{\"n\":1}\n2"},
		"beside a comment":  {`{"content":[{"type":"text","text":"Found it."}],"structuredContent":{"id":9007199254740993}}`, "{\"id\":9007199254740993}\nFound it."},
		"with other digits": {`{"content":[{"type":"text","text":"{\"id\":9007199254740992}"}],"structuredContent":{"id":9007199254740993}}`, "{\"id\":9007199254740993}\n{\"id\":9007199254740992}"},
		"beside a bad item": {`{"content":[{"type":"image","data":"!"}],"structuredContent":{"id":1}}`, "{\"id\":1}\n[image, not read: its data are no base64 (byte 0 of them)]\n{\"type\":\"image\",\"data\":\"!\"}"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := h.answered(test.answer); got.Content != test.want {
				t.Errorf("it says %q, want %q", got.Content, test.want)
			}
		})
	}
}

func TestASecretIsTakenOutInWhateverForm(t *testing.T) {
	const token = "s3cret-of-the-server"
	server := own(t, "tools")
	server.Env["TOKEN"], server.Secrets = token, []string{token}
	h := newHouse(t, server)
	got := h.call("own__encoded", args{}).Content
	want := "{\"token\":\"[redacted]\"}\nBasic dXNlcj[redacted]\n[redacted]\n[resource file:///env, text/plain, 16 bytes, stored in the workspace as mcp/call_1-1.txt]"
	if got != want {
		t.Errorf("the model is told %q, want %q", got, want)
	}
	if file, err := os.ReadFile(filepath.Join(h.workspace, "mcp/call_1-1.txt")); err != nil || string(file) != "TOKEN=[redacted]" {
		t.Errorf("the file says %q, %v", file, err)
	}
}

// A server that puts its secret in all that it can send tells it to nobody: not
// to a model, a page, a person who watches, or the log.
func TestASecretIsToldNobodyWhereverItStands(t *testing.T) {
	const token = "s3cret-of-the-server"
	server := own(t, "leaky")
	server.Env["TOKEN"], server.Env["PRODUCT"] = token, strings.Repeat("x", 75)+token
	server.Secrets = []string{token}
	h := newHouse(t, server)
	var told strings.Builder
	for _, tool := range h.servers.Tools(t.Context()) {
		spec := tool.Spec()
		fmt.Fprintln(&told, spec.Name, spec.Description, string(spec.Parameters))
	}
	if spec := h.tool("own__leak").Spec(); spec.Fits(json.RawMessage(`{"n":1,"[redacted]":"[redacted]"}`)) != nil || spec.Fits(json.RawMessage(`{}`)) == nil {
		t.Error("what the model is told is not what its arguments are held against")
	}
	fmt.Fprintln(&told, h.call("own__leak", args{}).Content)
	watched := make(chan string, 10)
	for _, answer := range []args{
		{"progress": strings.Repeat("x", 190) + token},
		{"progress": token[:4] + "\u200b" + token[4:], "refusal": []byte(`{"code":1,"message":"` + token + `","data":"` + token + `"}`)},
		{"answer": []byte(`{"content":[{"type":"resource_link","uri":"x://` + token + `","name":"` + token + `"},{"type":"image","data":"` + token + `!"}]}`)},
	} {
		call := h.newCall("own__call", answer)
		call.Live = func(text string, _ int64) { watched <- text }
		result, err := h.tool("own__call").Run(t.Context(), call)
		fmt.Fprintln(&told, result.Content, result.Metadata.Line(), err)
		if answer["progress"] != nil {
			select {
			case text := <-watched:
				fmt.Fprint(&told, text)
			case <-time.After(10 * time.Second):
				t.Error("the progress is not shown")
			}
		}
	}
	status := h.servers.Status()[0]
	fmt.Fprintf(&told, "%+v\n%s", status, h.logs)
	if at := strings.Index(told.String(), token[:8]); at >= 0 {
		t.Errorf("it is told in …%.300q", told.String()[max(0, at-150):])
	}
	if len(status.Tools) != 2 || !strings.Contains(strings.Join(status.LeftOut, "\n"), "[redacted]: its name holds a secret of this server's configuration.") {
		t.Errorf("offered are %+v; left out are %q", status.Tools, status.LeftOut)
	}
}

// What a program writes to its standard error is for admins alone.
func TestStandardErrorReachesNoModel(t *testing.T) {
	server := own(t, "tools")
	server.Env["TOKEN"] = "the-words-on-stderr"
	h := newHouse(t, server)
	tool := h.tool("own__crash")
	said := h.call("own__fail", args{}).Content + h.call("own__nothing", args{}).Content
	for _, name := range []string{"own__crash", "own__fail"} {
		result, err := tool.Run(t.Context(), h.newCall(name, args{}))
		if err != nil {
			t.Fatal(err)
		}
		said += result.Content
	}
	said += h.servers.Missing("own__other")
	for _, tool := range h.servers.Tools(t.Context()) {
		said += tool.Spec().Description + string(tool.Spec().Parameters)
	}
	for _, never := range []string{"started with", "the-words-on-stderr", "greets on"} {
		if strings.Contains(said, never) {
			t.Errorf("a model is told %q: %s", never, said)
		}
	}
	if !strings.Contains(h.servers.Status()[0].Stderr, "the-words-on-stderr") {
		t.Error("the server wrote nothing")
	}
}

func FuzzMended(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"\ud800"}],"structuredContent":{"a":1}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"content":7}}`, `{"result":{"content":[{"type":"image","data":"="}]}}`, `{"method":"x","params":{"content":1}}`, "{\"content\"\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		got, _ := mended(append([]byte{}, message...), false)
		if string(got) == string(message) {
			return
		}
		if strings.Contains(string(got), "\n") {
			t.Errorf("%q became more than a line: %q", message, got)
		}
		if again, _ := mended(append([]byte{}, got...), false); len(again) == 0 {
			t.Errorf("%q became nothing", got)
		}
	})
}
