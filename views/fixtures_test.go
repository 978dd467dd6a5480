package views

import (
	"strings"
	"time"

	"offcut/views/markdown"
)

var morning = time.Date(2026, 11, 30, 10, 31, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

func sampleSidebar() Sidebar {
	day := 24 * time.Hour
	items := []SessionItem{
		{ID: "s1", Title: "Release build fails on CI", Pinned: true, Running: true, Current: true, UpdatedAt: morning},
		{ID: "s2", Title: "November export: totals off", Pinned: true, UpdatedAt: morning.Add(-40 * day)},
		{ID: "s3", Title: "Every state of a turn", UpdatedAt: morning.Add(-time.Hour)},
		{ID: "s4", Title: "发票导出缺少合计行", UpdatedAt: morning.Add(-2 * time.Hour)},
		{ID: "s5", Title: "", UpdatedAt: morning.Add(-20 * time.Hour)},
		{ID: "s6", Title: "Find the 499s in 3 GB of access log", UpdatedAt: morning.Add(-3 * day)},
		{ID: "s7", Title: "Flaky test in cart_test.go", UpdatedAt: morning.Add(-30 * day)},
	}
	return Sidebar{Groups: GroupSessions(items, morning), More: "/sessions?cursor=x"}
}

const buildHead = "\x1b[90m2026-11-30T05:12:08Z\x1b[0m Run npm ci && npm run release\n" +
	"\x1b[90m2026-11-30T05:12:33Z\x1b[0m \x1b[1mturbo 2.3.1\x1b[0m  14 packages in scope\n" +
	"\x1b[90m2026-11-30T05:12:34Z\x1b[0m \x1b[36m@harbor/money:build:\x1b[0m tsc -p tsconfig.build.json\n" +
	"\x1b[90m2026-11-30T05:12:38Z\x1b[0m \x1b[36m@harbor/money:build:\x1b[0m \x1b[32mdone\x1b[0m in 4.1s, 31 files\n"

const buildTail = "\x1b[90m2026-11-30T05:41:52Z\x1b[0m \x1b[35m@harbor/billing:bundle:\x1b[0m \x1b[31merror TS2307\x1b[0m: Cannot find module\n" +
	"    '@harbor/money/legacy' or its corresponding type declarations.\n" +
	"\x1b[90m2026-11-30T05:41:53Z\x1b[0m Error: Process completed with exit code 2.\n"

func buildCoverage() *Coverage {
	return &Coverage{Total: 5213908, Read: []Range{{0, 8184}, {5197516, 5213908}}}
}

func cutCard() ToolCard {
	return ToolCard{
		SessionID: "s1", CallID: "c71", Tool: "run_command", State: CardOK, Subject: "cat ci/build.log",
		Took: 310 * time.Millisecond, Exit: ptr(0), LeftOut: 5189332, Coverage: buildCoverage(), Open: true,
		Body: &CardBody{
			SessionID: "s1", CallID: "c71", Tool: "run_command", Subject: "cat ci/build.log", Sandbox: ptr(true), SandboxKind: "bubblewrap",
			Truncated: true, OutputID: "o71", Seen: 24576, Total: 5213908, Coverage: buildCoverage(),
			Pieces: []PreviewPiece{
				{Kind: PieceText, Text: buildHead, Start: 0, End: 8184},
				{Kind: PieceCut, Start: 8184, End: 5197516, Bytes: 5189332},
				{Kind: PieceText, Text: buildTail, Start: 5197516, End: 5213908},
			},
			Pager: ptr(cardPager()),
		},
	}
}

func cardPager() Pager {
	text := "2026-11-30T05:12:52Z @harbor/orders:build: tsc -p tsconfig.build.json\n" +
		"2026-11-30T05:12:57Z @harbor/orders:build: src/cursor.ts(18,7): warning: 'after' is deprecated\n" +
		"2026-11-30T05:13:02Z @harbor/money:test: PASS src/round.test.ts (38 tests)\n" +
		"2026-11-30T05:13:09Z @harbor/tax:test: retrying fixture server on :4831 (1 of 3)\n"
	return Pager{
		SessionID: "s1", OutputID: "o71", CallID: "c71", Title: "cat ci/build.log", Offset: 8021, End: 8021 + int64(len(text)),
		Total: 5213908, Text: text, HasMore: true, Complete: true, Prev: 3925, Next: 8021 + int64(len(text)), Last: 5209812,
		Read: []Range{{0, 8184}, {5197516, 5213908}}, InCard: true,
	}
}

func lostCard() ToolCard {
	coverage := &Coverage{Total: 8388608, Read: []Range{{0, 8190}, {8372222, 8388608}}, Gaps: []Gap{{At: 6291456, MarkerBytes: 40, Omitted: 3611460}}}
	return ToolCard{
		SessionID: "s1", CallID: "c76", Tool: "run_command", State: CardOK, Subject: "docker logs harbor-runner-3",
		Took: 6200 * time.Millisecond, Exit: ptr(0), LeftOut: 8364032, Coverage: coverage, Incomplete: true, Open: true,
		Body: &CardBody{
			SessionID: "s1", CallID: "c76", Tool: "run_command", Subject: "docker logs harbor-runner-3", Sandbox: ptr(true),
			Incomplete: true, OutputID: "o76", Seen: 24576, Total: 8388608, Coverage: coverage,
			Pieces: []PreviewPiece{
				{Kind: PieceText, Text: "runner 2.321.0  job release-4471 started\n", Start: 0, End: 8190},
				{Kind: PieceCut, Start: 8190, End: 6291456, Bytes: 6283266},
				{Kind: PieceLost, Start: 6291456, End: 6291496, Bytes: 3611460},
				{Kind: PieceCut, Start: 6291496, End: 8372222, Bytes: 2080726},
				{Kind: PieceText, Text: "job release-4471 finished: failure (exit 2) after 29m45s\n", Start: 8372222, End: 8388608},
			},
		},
	}
}

func errorCard() ToolCard {
	return ToolCard{
		SessionID: "s1", CallID: "c75", Tool: "run_command", State: CardError, Subject: "npx tsc -p packages/money", Took: 3100 * time.Millisecond,
		Exit: ptr(2), Open: true,
		Body: &CardBody{
			SessionID: "s1", CallID: "c75", Tool: "run_command", Subject: "npx tsc -p packages/money", Sandbox: ptr(false), Seen: 287, Total: 287,
			Pieces: []PreviewPiece{{
				Kind: PieceText, Stream: "stderr", Whole: true, Bytes: 287,
				Text: "packages/money/src/legacy.ts:14:22 - \x1b[31merror TS2345\x1b[0m: Argument of type 'bigint' is not\nassignable to parameter of type 'number'.\n",
			}},
		},
	}
}

const sampleDiff = "--- a/packages/money/src/legacy.ts\n+++ b/packages/money/src/legacy.ts\n@@ -11,4 +11,6 @@ in toLegacyAmount()\n export function toLegacyAmount(amount: Amount): string {\n-  return formatCents(amount.cents);\n+  if (amount.cents > BigInt(Number.MAX_SAFE_INTEGER)) {\n+    throw new RangeError(\"amount too large\"); }\n+  return formatCents(Number(amount.cents));\n }\n"

func diffCard() ToolCard {
	return ToolCard{
		SessionID: "s1", CallID: "c74", Tool: "edit_file", State: CardOK, Subject: "packages/money/src/legacy.ts", Took: 7 * time.Millisecond,
		Fact: Fact{Kind: FactChange, N: 3, M: 1}, Open: true,
		Body: &CardBody{SessionID: "s1", CallID: "c74", Tool: "edit_file", Subject: "packages/money/src/legacy.ts", Diff: sampleDiff},
	}
}

func liveCard() ToolCard {
	return ToolCard{
		SessionID: "s1", CallID: "c77", Tool: "run_command", State: CardRunning, Subject: "npm run release -- --filter=...@harbor/billing",
		StartedAt: time.Now().Add(-41 * time.Second), Open: true,
		Live: &Live{Tail: "\x1b[1mturbo 2.3.1\x1b[0m  6 packages in scope\n\x1b[36m@harbor/money:build:\x1b[0m   \x1b[32mdone\x1b[0m in 4.0s\nprogress  10 %\rprogress  52 %", Bytes: 18402},
	}
}

func unsavedCard() ToolCard {
	return ToolCard{
		SessionID: "s1", CallID: "c78", Tool: "run_command", State: CardOK, Subject: "cat orders.csv", Took: 120 * time.Millisecond, Exit: ptr(0), Incomplete: true, Open: true,
		Body: &CardBody{
			SessionID: "s1", CallID: "c78", Tool: "run_command", Subject: "cat orders.csv", Incomplete: true, Truncated: true, Seen: 24576, Total: 2310044,
			Unsaved: true, SaveError: "the disk is full.",
			Pieces: []PreviewPiece{
				{Kind: PieceText, Text: "id,order,total_cents,currency\n1,ORD-10001,4990,EUR\n"},
				{Kind: PieceLost, Bytes: 2285468},
			},
		},
	}
}

func closedCards() []ToolCard {
	return []ToolCard{
		{SessionID: "s1", CallID: "c70", Tool: "list_files", State: CardOK, Subject: "ci/ exports/", Took: 12 * time.Millisecond, Fact: Fact{Kind: FactFiles, N: 23}},
		{SessionID: "s1", CallID: "c72", Tool: "run_command", State: CardOK, Subject: `curl -sS "$EXPORT_URL/orders?month=2026-11" --max-time 30 --retry 2`, Took: 2400 * time.Millisecond, Exit: ptr(0), LeftOut: 1293826, Coverage: &Coverage{Total: 1318402}},
		{SessionID: "s1", CallID: "c73", Tool: "run_command", State: CardInterrupted, Subject: "sleep 60", Took: 21 * time.Second},
		{SessionID: "s1", CallID: "c79", Tool: "run_command", State: CardStopped, Subject: "yes", Took: -1},
		{SessionID: "s1", CallID: "c7a", Tool: "run_command", State: CardError, Subject: "sleep 600", Took: 2 * time.Minute, TimedOut: true},
		{SessionID: "s1", CallID: "c7b", Tool: "jira__search", State: CardWaiting, Subject: "{}", Took: -1},
	}
}

const sampleAnswer = "**The build.** The end of the log names the step: `@harbor/billing#bundle` imports `@harbor/money/legacy`, and the package no longer exports it.\n\n" +
	"```json\n\"exports\": {\n  \".\": \"./dist/index.js\",\n  \"./format\": 12\n}\n```\n\n| file | lines |\n|---|--:|\n| a.ts | 12 |\n| b.ts | 1,204 |\n\n- one\n- two\n\nI have not read the middle of the build log."

func sampleChat() Chat {
	answer := Answer{
		TurnID: "t1", State: "done", At: morning,
		Parts: []Part{
			{MessageID: "a1", HTML: markdown.Render("I start with the log as it is."), Cards: append(closedCards(), cutCard())},
			{MessageID: "a2", Reasoning: "The preview ends at byte 8,184.\n\nFirst the search.", HTML: markdown.Render(sampleAnswer)},
		},
		End: TurnEnd{TurnID: "t1", State: "done", At: morning, Model: "qwen3-coder:30b", Tokens: 18204, Took: 9 * time.Second, Rests: sampleRests()},
	}
	running := Answer{
		TurnID: "t2", State: "running", At: morning.Add(5 * time.Minute),
		Parts: []Part{
			{MessageID: "a3", Cards: []ToolCard{diffCard(), errorCard()}},
			{MessageID: "a4", Cards: []ToolCard{lostCard(), liveCard()}},
			{MessageID: "a5", HTML: markdown.Render("While it runs:"), Tail: "the three slow queries share"},
		},
		End: TurnEnd{TurnID: "t2", State: "running", At: time.Now().Add(-50 * time.Second)},
	}
	return Chat{
		Picker:    Picker{SessionID: "s1", Chosen: "qwen3-coder:30b", Names: []string{"qwen3-coder:30b", "hosted-model"}},
		SessionID: "s1", Title: "Release build fails on CI", Seq: 412, RunningTurn: "t2", Sidebar: sampleSidebar(),
		Log: Log{SessionID: "s1", Older: "cur", Seq: 412, RunningTurn: "t2", Entries: []Entry{
			{User: &UserMessage{ID: "m1", TurnID: "t1", State: "done", At: morning, Content: "The release build on CI is red since this morning, on my machine it passes. The log is `ci/build.log`. What breaks?\n\nAnd is the November order export complete?"}},
			{Answer: &answer},
			{User: &UserMessage{ID: "m2", TurnID: "t2", State: "done", At: morning.Add(5 * time.Minute), Content: "Put the export back and check money alone."}},
			{Answer: &running},
			{User: &UserMessage{ID: "m3", TurnID: "t3", State: "queued", At: morning.Add(6 * time.Minute), Content: "And write the new total into exports/README.md."}},
		}},
	}
}

func statesChat() Chat {
	end := func(id, state, sentence, code string) Entry {
		return Entry{Answer: &Answer{
			TurnID: id, State: state, At: morning,
			Parts: []Part{{MessageID: "p" + id, HTML: markdown.Render("What had come.")}},
			End:   TurnEnd{TurnID: id, State: state, At: morning, Error: sentence, Code: code, OpenCalls: 1, Model: "gpt-4.1", Continue: true},
		}}
	}
	retry := Entry{Answer: &Answer{TurnID: "t9", State: "running", At: morning, End: TurnEnd{
		TurnID: "t9", State: "running", At: morning,
		Retry: &RetryNotice{TurnID: "t9", Until: time.Now().Add(12 * time.Second), Attempt: 3, Most: 10, Reason: "The model’s server is busy."},
	}}}
	return Chat{
		Picker:    Picker{SessionID: "s3", Chosen: "<gone>", Names: []string{"qwen3-coder:30b"}, Gone: true},
		SessionID: "s2", Title: "Every state of a turn", ForkedFrom: "s1", Sidebar: sampleSidebar(), Problem: "The message is empty.",
		Log: Log{SessionID: "s2", Entries: []Entry{
			{User: &UserMessage{ID: "m9", TurnID: "t1", State: "done", At: morning, Content: strings.Repeat("a long line of a log\n", 400)}},
			end("t4", "error", "The response repeatedly exceeded the output token limit. Ask for a smaller piece.", "output_limit"),
			end("t5", "interrupted", "The server was restarted.", ""),
			end("t6", "stopped", "", ""),
			retry,
			{Answer: &Answer{TurnID: "t7", State: "done", At: morning, Parts: []Part{{MessageID: "p7", Cards: []ToolCard{unsavedCard()}}}, End: TurnEnd{TurnID: "t7", State: "done", Versions: &Versions{At: 2, Of: 3, Prev: "t6a", Next: "t7b", Elsewhere: []int{1, 3}}}}},
			{User: &UserMessage{ID: "m8", TurnID: "t8", SessionID: "s2", State: "stopped", At: morning, Content: "never mind", Versions: &Versions{At: 1, Of: 2, Next: "t8a"}}},
		}},
	}
}

func sampleOutput() Output {
	text := "05:31:40Z @harbor/billing:types: tsc --noEmit -p tsconfig.json\n" +
		"05:31:44Z @harbor/billing:types: src/invoice/total.ts(9,28): error TS2307: Cannot find module '@harbor/money/legacy'\n" +
		"05:31:52Z @harbor/web:bundle: vite v6.0.1 building for production...\n" +
		"05:32:01Z @harbor/web:bundle: src/pages/Invoice.tsx (31:14): error TS2307: Cannot find module\n" +
		"05:32:02Z @harbor/web:bundle: 价格格式化: 1 个警告 (src/locale/zh.ts)\n"
	offset := int64(3405824)
	first := offset + int64(strings.Index(text, "TS2307"))
	last := offset + int64(strings.LastIndex(text, "TS2307"))
	read := offset + int64(strings.Index(text, "05:31:52Z"))
	return Output{
		SessionTitle: "Release build fails on CI", Sidebar: sampleSidebar(), CapturedBytes: 5213908, CreatedAt: morning, Took: 300 * time.Millisecond,
		Reads: []ReadNote{{"preview", Range{0, 8184}, morning}, {"page", Range{read, read + 4096}, morning}, {"preview", Range{5197516, 5213908}, morning}},
		Pager: Pager{
			SessionID: "s1", OutputID: "o71", CallID: "c71", Title: "cat ci/build.log", Offset: offset, End: offset + int64(len(text)), Total: 5213908,
			Text: text, HasMore: true, Complete: true, Prev: offset - 4096, Next: offset + int64(len(text)), Last: 5209812,
			Read: []Range{{0, 8184}, {read, read + 4096}, {5197516, 5213908}},
			Search: Search{Query: "TS2307", Hits: []Hit{
				{213770, 12, "warning: TS2307 is suppressed in legacy.test"},
				{first, 99, "total.ts(9,28): error TS2307: Cannot find"},
				{last, 101, "Invoice.tsx (31:14): error TS2307: Cannot"},
				{5211904, 4000, "error TS2307: Cannot find module '@harbor"},
			}},
		},
	}
}

// hardText is what HTML parsers would change, and what would deceive a reader.
const hardText = "\n\n\ttab\r\nlone\rcr \x00nul \x1b[31mred\x1b[0m \u202eevil\u202c é 😀 </div><script>x</script>&amp;&lt; \f\v\b\x7f\u0085\ufeff\u2028\u00a0\n\n  \n"

// pagerStates are the states of a page that a pager shows.
func pagerStates() map[string]Pager {
	base := Pager{SessionID: "s1", OutputID: "o1", CallID: "c1", Title: "make", Prev: -1, Next: -1, CheckedAt: morning, Complete: true}
	with := func(change func(*Pager)) Pager {
		p := base
		change(&p)
		if p.End == 0 {
			p.End = p.Offset + int64(len(p.Text))
		}
		return p
	}
	gap := []Gap{{At: 6291456, MarkerBytes: 38, Omitted: 3611460}}
	return map[string]Pager{
		"more": with(func(p *Pager) {
			p.Offset, p.Total, p.Text, p.HasMore, p.Prev, p.Next = 4096, 1204331, "PASS a\nPASS b\n", true, 0, 8192
			p.Read = []Range{{0, 4103}}
		}),
		"more-incomplete": with(func(p *Pager) {
			p.Offset, p.Total, p.HasMore, p.Prev, p.Next, p.Complete, p.Gaps, p.OmittedBytes = 6291436, 8388608, true, 6287340, 6291600, false, gap, 3611460
			p.Text = "heartbeat rss 2.98 G\n[3,611,460 bytes are not kept here]\n\nheartbeat rss 3.40\n"
			p.Gaps = []Gap{{At: 6291457, MarkerBytes: 37, Omitted: 3611460}}
		}),
		"end": with(func(p *Pager) {
			p.Offset, p.Total, p.Text, p.Prev = 1204300, 1204331, "Error: Process completed w/ 2.\n", 1200128
		}),
		"end-incomplete": with(func(p *Pager) {
			p.Offset, p.Total, p.Text, p.Prev, p.Complete, p.Gaps, p.OmittedBytes = 8388564, 8388608, "job release-4471 finished: failure (exit 2)\n", 8384468, false, gap, 3611460
		}),
		"running": with(func(p *Pager) {
			p.Offset, p.Total, p.Text, p.Running, p.Complete = 0, 40, "@harbor/orders:test: WARN open handle\n", true, false
		}),
		"binary": with(func(p *Pager) {
			p.Total, p.Text, p.Binary, p.RawBytes, p.SHA256, p.HasMore, p.Next = 4900000, "000000000000  1f 8b 08 00 3c 0a 2b 6a  00 03 ec bd 7b 73 db c6  |....<.+j....{s..|\n", true, 1048576, "9f2c41d0", true, 4096
		}),
		"bytes": with(func(p *Pager) {
			p.Text = hardText
			p.Total, p.Read = int64(len(hardText)), []Range{{3, 20}, {30, 41}}
			p.Search = Search{Query: "e", Hits: []Hit{{Offset: int64(strings.Index(hardText, "evil"))}}}
		}),
		"empty": with(func(p *Pager) { p.Offset, p.Total, p.Prev = 100, 100, 0 }),
		"refused": with(func(p *Pager) {
			p.Total, p.Text, p.Problem = 5, "hello", "Byte 99 is past the end: the copy has 5 bytes."
			p.Search = Search{Query: "a(", Regexp: true, Problem: "The pattern is not a regular expression: missing closing )."}
		}),
	}
}
