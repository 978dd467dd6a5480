package views

import (
	"strings"
	"testing"
)

func sampleAsks() []Ask {
	return []Ask{
		{
			SessionID: "s1", TurnID: "t2", CallID: "c1", Tool: "run_command", Kind: AskUnconfined, Folder: "/srv/<w>",
			Body: AskBody{SessionID: "s1", CallID: "c1", Text: "echo \u202e<b>", Command: true, Lines: 62, End: "rm -rf important", Rest: `{"timeout_s":7}`, Bytes: 9000},
		},
		{
			SessionID: "s1", TurnID: "t2", CallID: "c1-1", Tool: "edit_file", Kind: "change",
			Body: AskBody{SessionID: "s1", CallID: "c1-1", Path: "a.txt", Removed: "one\ntwo", Added: "three"},
		},
	}
}

func TestWhatWaitsSaysWhatItIs(t *testing.T) {
	chat := sampleChat()
	for _, entry := range chat.Log.Entries {
		if entry.Answer != nil && entry.Answer.TurnID == "t2" {
			entry.Answer.Asks = sampleAsks()
		}
	}
	chat.Grants = []Grant{{Tool: "write_file"}}
	doc := parse(t, ChatPage(chat))
	want(t, doc, "title", 1, "Approval needed: Release build fails on CI")
	want(t, doc, "#q-t2 > form[data-testid=approval][method=post][action='/turns/t2/approvals']", 2)
	want(t, doc, "#ask-c1 h3", 1, "This command would run outside the sandbox")
	want(t, doc, "#ask-c1 pre b", 0)
	want(t, doc, "#ask-c1 .ctl[data-pic='U+202E']", 1)
	want(t, doc, "#ask-c1 [data-testid=show-all]", 1, "9,000 bytes")
	want(t, doc, "#ask-c1", 1, "/srv/<w>", `{"timeout_s":7}`, "the server’s own rights")
	want(t, doc, "#ask-c1 button[name=decision]", 3)
	want(t, doc, "#ask-c1-1 tr.del", 2)
	want(t, doc, "#ask-c1-1 tr.add", 1, "three")
	want(t, doc, "article#a-t2[aria-busy]", 0)
	want(t, doc, "#grants form[action='/s/s1/revoke'] input[name=tool][value=write_file]", 1)
	if html := markup(t, AsksFragment("t2", sampleAsks())); strings.Contains(html, "style=") || strings.Contains(html, "onclick") {
		t.Error("something is inline")
	}
}
