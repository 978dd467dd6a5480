package demodata

import (
	"fmt"
	"strings"
	"time"

	"offcut/models"
)

// pageBytes is a page of a kept output.
const pageBytes = models.MaxPageBytes

// The topics, with how often each comes against the others.
var topics = []topic{
	{name: "a red build", often: 10, turns: []func(*teller) turn{buildBreaks, whoUsesIt, mendIt}},
	{name: "an export whose totals are off", often: 8, turns: []func(*teller) turn{totalsOff, withoutTax}},
	{name: "a slow server", often: 8, turns: []func(*teller) turn{slowRequests, sameAgain}},
	{name: "a failing test", often: 8, turns: []func(*teller) turn{failingTest, fixTest}},
	{name: "documentation", often: 6, turns: []func(*teller) turn{readDocs, readMore}},
	{name: "a tracker", often: 4, turns: []func(*teller) turn{openIssues}},
	{name: "a script", often: 4, turns: []func(*teller) turn{countWithScript}},
	{name: "a runner's log", often: 1, turns: []func(*teller) turn{runnerLog}},
	{name: "a long report", often: 4, turns: []func(*teller) turn{longReport}},
	{name: "a report without end", often: 1, turns: []func(*teller) turn{endlessReport}},
	{name: "cut arguments", often: 1, turns: []func(*teller) turn{cutArguments}},
	{name: "a full disk", often: 1, turns: []func(*teller) turn{notSaved}},
	{name: "a question", often: 8, turns: []func(*teller) turn{plainQuestion}},
	{name: "发票", often: 2, turns: []func(*teller) turn{invoices}},
}

func command(text string, r result) step { return calls("run_command", args{"command": text}, r) }

func buildBreaks(t *teller) turn {
	p := one(t, packages...)
	log := t.buildLog(t.between(350, 2400), fmt.Sprintf("@harbor/%s:bundle: error TS2307: Cannot find module '@harbor/money/legacy'", p))
	steps := []step{
		calls("list_files", args{"path": "."}, result{text: "ci/\nci/build.log\nci/release.yml\nexports/\nexports/README.md\npackage.json\n", took: 12 * time.Millisecond}),
		command("cat ci/build.log", result{text: log, took: t.took(time.Second)}),
		searches("error"),
	}
	for page := range t.between(0, len(log)/pageBytes) {
		steps = append(steps, reads(int64(page*pageBytes)))
	}
	return turn{
		ask: fmt.Sprintf("The release build of %s on CI is red since this morning, on my machine it passes. The log is ci/build.log. What breaks?", p),
		steps: append(steps, says(fmt.Sprintf("**The build.** The end of the log names the step: `@harbor/%s#bundle` imports `@harbor/money/legacy`, and the package no longer exports it.\n\n"+
			"I have searched the whole log for errors and found this one only.", p))),
	}
}

func whoUsesIt(t *teller) turn {
	var b strings.Builder
	for range t.between(20, 900) {
		fmt.Fprintf(&b, "packages/%s/src/%s.ts:%d: import { toCents } from '@harbor/money/legacy'\n", one(t, packages...), one(t, "index", "totals", "tax", "cart"), t.between(1, 400))
	}
	return turn{ask: "Who else imports it?", steps: []step{
		calls("search_files", args{"pattern": "@harbor/money/legacy"}, result{text: b.String(), took: t.took(300 * time.Millisecond)}),
		says("Several packages do; `billing` and `orders` most often. They all want `toCents` alone, so that an export of that one function would do."),
	}}
}

func mendIt(t *teller) turn {
	return turn{ask: "Add the export back and say so in the README.", steps: []step{
		calls("read_file", args{"path": "packages/money/package.json"}, result{text: "{\n  \"name\": \"@harbor/money\",\n  \"exports\": {\n    \".\": \"./dist/index.js\"\n  }\n}\n", took: 4 * time.Millisecond}),
		calls("edit_file", args{"path": "packages/money/package.json", "old": "\".\": \"./dist/index.js\"", "new": "\".\": \"./dist/index.js\",\n    \"./legacy\": \"./dist/legacy.js\""},
			result{text: "Replaced 1 place in packages/money/package.json.\n", took: 6 * time.Millisecond}),
		command("npm run build --workspace @harbor/money", result{text: t.tests(40, "") + "Tasks: 1 successful\n", took: t.took(20 * time.Second)}),
		says("Done: `@harbor/money/legacy` is exported again, and the package builds."),
	}}
}

func totalsOff(t *teller) turn {
	return turn{ask: fmt.Sprintf("The %s export: the totals are off by a few euros. Which orders?", t.day.AddDate(0, -1, 0).Format("January")), steps: []step{
		command("cat exports/orders-11.json", result{text: t.orders(t.between(170, 1100)), took: t.took(time.Second)}),
		reads(int64(t.between(9000, 60000))),
		thinks("The preview leaves out most of the orders. I have to look for the field, not for the totals.", searches("\"tax_cents\":null")),
		says("Orders without `tax_cents` are counted with their gross total. In the part that I have read there are some; I have not read all of the export, so the list is not complete."),
	}}
}

func withoutTax(t *teller) turn {
	var b strings.Builder
	for range t.between(60, 300) {
		fmt.Fprintf(&b, "%d\t%d\n", 410000+t.IntN(2600), t.between(490, 30000))
	}
	return turn{ask: "Then count them all.", steps: []step{
		command("jq -r '.[] | select(.tax_cents == null) | [.id, .total_cents] | @tsv' exports/orders-11.json", result{text: b.String(), took: t.took(800 * time.Millisecond)}),
		says("Now it is all of them: the table above lists every order without tax. Their sum is the difference."),
	}}
}

func slowRequests(t *teller) turn {
	p := one(t, packages...)
	return turn{ask: fmt.Sprintf("Why does /api/%s answer so slowly since %s?", p, t.day.AddDate(0, 0, -2).Format("Monday")), steps: []step{
		busy(t.between(0, 2), command("cat log/access.log", result{text: t.accessLog(t.between(300, 2600)), took: t.took(2 * time.Second)})),
		searches(" 503 "),
		says("Most of the 503s come within a second of each other, and always for `/api/" + p + "`: the pool of its database is too small. The log does not say which query waits."),
	}}
}

func sameAgain(t *teller) turn {
	return turn{ask: "Is it the same today?", steps: []step{
		command("cat log/access.log", result{text: t.accessLog(t.between(300, 2600)), took: t.took(2 * time.Second)}),
		says("Yes. I have looked at the beginning and at the end of the log, and the pattern is the same there."),
	}}
}

func failingTest(t *teller) turn {
	return turn{ask: fmt.Sprintf("go test fails on main, in %s I think. Can you look?", one(t, packages...)), steps: []step{
		command("go test ./...", result{text: t.tests(t.between(40, 700), "TestTotalWithDiscount"), exit: 1, took: t.took(40 * time.Second)}),
		calls("read_file", args{"path": "billing/core/total.go"}, result{text: t.source(t.between(4, 190)), took: 9 * time.Millisecond}),
		says("`TestTotalWithDiscount` expects the discount before the tax, and `Total` takes it after. One of the two is wrong; the invoice template says it is the code."),
	}}
}

func fixTest(t *teller) turn {
	return turn{ask: "Fix the code then.", steps: []step{
		calls("edit_file", args{"path": "billing/core/total.go", "old": "sum += l.Cents", "new": "sum += l.Cents - l.Discount"}, result{text: "Replaced 1 place in billing/core/total.go.\n", took: 5 * time.Millisecond}),
		command("go test ./billing/...", result{text: t.tests(t.between(6, 30), ""), took: t.took(15 * time.Second)}),
		says("All tests of `billing` pass now."),
	}}
}

func readDocs(t *teller) turn {
	return turn{ask: fmt.Sprintf("How does the connection pool of %s behave when the server is down? Its documentation is at docs.harbor.example.", one(t, packages...)), steps: []step{
		busy(t.IntN(2), calls("fetch_url", args{"url": "https://docs.harbor.example/pool"}, result{text: t.document("The connection pool", t.between(30, 260)), took: t.took(3 * time.Second)})),
		searches("Behaviour on failure"),
		says("It tries again with a pause that doubles each time, and closes idle connections. I found that in several sections; I have not read the page from beginning to end."),
	}}
}

func readMore(*teller) turn {
	return turn{ask: "And is there a limit to that pause?", steps: []step{
		reads(24000), reads(28096), reads(32192), reads(36288),
		says("The sections that I have read name none."),
	}}
}

func openIssues(t *teller) turn {
	return turn{ask: fmt.Sprintf("Which issues about %s are open?", one(t, packages...)), steps: []step{
		calls("tracker__list_issues", args{"project": "HAR", "state": "open"}, result{text: t.issues(t.between(120, 420)), took: t.took(2 * time.Second)}),
		says("There are several; those shown first are the newest. The list has more pages, which I have not asked for."),
	}}
}

func countWithScript(t *teller) turn {
	return turn{ask: fmt.Sprintf("Count the requests per package and day in the access logs of week %d.", weekOf(t.day)), steps: []step{
		calls("run_script", args{"code": "const counts = {};\nfor (const line of (await tools.run_command({command: 'cat log/*.log'})).text.split('\\n')) {\n  const m = line.match(/api\\/(\\w+)/);\n  if (m) counts[m[1]] = (counts[m[1]] ?? 0) + 1;\n}\nreturn counts;"},
			result{text: t.orders(t.between(2, 260)), took: t.took(9 * time.Second)}),
		says("The table is in the result; `search` has twice as many as any other package."),
	}}
}

func runnerLog(t *teller) turn {
	return turn{ask: "What did the runner itself print in that job?", steps: []step{
		command("docker logs harbor-runner-3", result{text: t.buildLog(t.between(105_000, 130_000), "runner: disk is 97 % full"), took: t.took(8 * time.Second)}),
		searches("disk is"),
		says("At the end it says that its disk is 97 % full. More was printed than is kept, so what stood in the middle cannot be known any more."),
	}}
}

func longReport(t *teller) turn {
	part := strings.Repeat("The service was available, with the usual number of retries towards the tax office and no loss of orders. ", t.between(8, 30))
	return turn{ask: fmt.Sprintf("Write the report on the incidents of week %d, in full.", weekOf(t.day)), steps: []step{
		cut("# Incidents\n\n" + part + "In the second week the sea"), cut("rch index was rebuilt. " + part), says("\n\nNothing else happened."),
	}}
}

func endlessReport(*teller) turn {
	part := strings.Repeat("And then it was checked again, with the same result. ", 20)
	return turn{ask: "List every check of every job of the last quarter.", steps: []step{cut(part), cut(part), cut(part), cut(part)}}
}

func cutArguments(t *teller) turn {
	return turn{ask: "Write a summary of the totals into notes.md and read the tax rules.", steps: []step{
		broken("read_file", `{"path": "docs/tax.md`, &result{text: t.document("Tax rules", 6), took: 6 * time.Millisecond}),
		broken("run_command", `{"command": "cat docs/tax.md | tee no`, nil),
		says("I have read the tax rules. The command was cut off before it was complete, so it was not run."),
	}}
}

func notSaved(t *teller) turn {
	return turn{ask: "Compare the two lock files.", steps: []step{
		command("diff -u old/package-lock.json new/package-lock.json", result{text: t.orders(t.between(500, 900)), exit: 1, took: t.took(time.Second), lost: true}),
		says("The difference is larger than what I was shown, and it could not be kept: I can only speak of its beginning and end, where versions went up by a patch."),
	}}
}

func plainQuestion(t *teller) turn {
	return turn{ask: one(t, "What does exit code 137 mean?", "How do I undo my last commit without losing the changes?", "What is the difference between a 499 and a 504?"), steps: []step{
		says(one(t, "It was ended by SIGKILL (128 + 9): most often because it used more memory than it may.", "`git reset --soft HEAD~1` takes the commit back and keeps what is in it, staged.",
			"With a 499 the client went away before the answer came; a 504 is a gateway that got none in time.")),
	}}
}

func invoices(t *teller) turn {
	return turn{ask: "发票导出里缺少合计行，帮我看看是从哪一天开始的。", steps: []step{
		command("cat exports/invoices.csv", result{text: t.accessLog(t.between(280, 1200)), took: t.took(time.Second)}),
		searches("503"),
		says("从我读到的部分看，合计行是从周一开始缺失的。导出的中间部分我没有读完，所以不能排除更早的日期。"),
	}}
}

func weekOf(day time.Time) int {
	_, week := day.ISOWeek()
	return week
}
