package views

import (
	"testing"
	"time"

	"offcut/views/i18n"

	"github.com/google/go-cmp/cmp"
)

func TestNumbersAsPeopleReadThem(t *testing.T) {
	ctx := t.Context()
	zh := i18n.With(ctx, "zh")
	cases := []struct{ name, got, want string }{
		{"exact", exact(5213908), "5,213,908"},
		{"exact, small", exact(0) + " " + exact(999) + " " + exact(1000), "0 999 1,000"},
		{"exact, negative", exact(-1234), "−1,234"},
		{"rounded bytes", rounded(287), "287 B"},
		{"rounded kilobytes", rounded(1204) + " " + rounded(412000), "1.20 kB 412 kB"},
		{"rounded megabytes", rounded(5189332) + " " + rounded(8388608), "5.19 MB 8.39 MB"},
		{"rounded up to the next unit", rounded(999999), "1.00 MB"},
		{"a small share is seen", share(1, 8388608), "<0.1"},
		{"a share with its decimal", share(24576, 5213908), "0.5"},
		{"a share without", share(40, 100), "40"},
		{"nearly all is not all", share(9999, 10000) + " " + share(996, 1000), ">99.9 99"},
		{"all", share(10, 10), "100"},
		{"milliseconds", took(ctx, 12*time.Millisecond), "12 ms"},
		{"seconds", took(ctx, 310*time.Millisecond) + " " + took(ctx, 9*time.Second) + " " + took(ctx, 41*time.Second), "0.3 s 9 s 41 s"},
		{"minutes", took(ctx, 125*time.Second), "2m 05s"},
		{"hours", took(ctx, 3*time.Hour+4*time.Minute), "3h 04m"},
		{"in Chinese", took(zh, 12*time.Millisecond) + ", " + took(zh, 9*time.Second) + ", " + took(zh, 125*time.Second), "12 毫秒, 9 秒, 2分05秒"},
		{"not known", took(ctx, -1), ""},
		{"a sentence", sentence("It failed") + " " + sentence("It failed.") + " " + sentence("Why?"), "It failed. It failed. Why?"},
		{"a sentence in Chinese", sentence("失败。") + sentence("原话：“不。”"), "失败。原话：“不。”"},
		{"a sentence that quotes", sentence("It says: “no”") + " " + sentence("It says: “No.”"), "It says: “no”. It says: “No.”"},
		{"initials", initials("billing-dev") + initials("mara") + initials("") + initials("李雷"), "BDM李"},
	}
	for _, c := range cases {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestCoverageIsAsLongAsWhatWasPrinted(t *testing.T) {
	c := Coverage{Total: 800, Read: []Range{{0, 100}, {600, 800}}, Gaps: []Gap{{At: 500, MarkerBytes: 10, Omitted: 200}}, Hits: []int64{400, 550}, Here: Range{500, 600}}
	if diff := cmp.Diff([]bar{{"0%", "10%"}, {"80%", "20%"}}, c.reads()); diff != "" {
		t.Errorf("what was read (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]bar{{"50%", "20%"}}, c.losses()); diff != "" {
		t.Errorf("what was lost (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]bar{{"40%", "0.1%"}, {"75%", "0.1%"}}, c.ticks()); diff != "" {
		t.Errorf("hits (-want +got):\n%s", diff)
	}
}

func TestReadAcrossAGapIsDrawnInPieces(t *testing.T) {
	c := Coverage{Total: 800, Read: []Range{{400, 600}}, Gaps: []Gap{{At: 500, Omitted: 200}}}
	if diff := cmp.Diff([]bar{{"40%", "10%"}, {"70%", "10%"}}, c.reads()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGroupsOfSessions(t *testing.T) {
	var got []string
	for _, group := range sampleSidebar().Groups {
		for _, item := range group.Items {
			got = append(got, string(group.Age)+" "+item.ID)
		}
	}
	want := []string{"pinned s1", "pinned s2", "today s3", "today s4", "yesterday s5", "week s6", "older s7"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDiffRows(t *testing.T) {
	rows, more := diffRows("--- a/x\n+++ b/x\n@@ -3,2 +3,3 @@ f()\n one\n-two\n+2\n+3\n\\ No newline at end of file\n")
	want := []diffRow{
		{Class: "hunk", Text: "@@ -3,2 +3,3 @@ f()"},
		{Old: "3", New: "3", Text: "one"},
		{Class: "del", Old: "4", Sign: "−", Text: "two"},
		{Class: "add", New: "4", Sign: "+", Text: "2"},
		{Class: "add", New: "5", Sign: "+", Text: "3"},
		{Class: "hunk", Text: `\ No newline at end of file`},
	}
	if diff := cmp.Diff(want, rows); diff != "" || more != 0 {
		t.Errorf("%d more; (-want +got):\n%s", more, diff)
	}
}

func TestSaidIsShownAsItWasWritten(t *testing.T) {
	cases := []struct{ said, want string }{
		{"a `b<c` d\ne\n\n\n f", "<p>a <code>b&lt;c</code> d\ne</p><p> f</p>"},
		{"```\n`x`\n```", "<p class=\"raw\">```\n`x`\n```</p>"},
		{"<script>\r\n", "<p>&lt;script&gt;</p>"},
	}
	for _, c := range cases {
		if got := saidHTML(c.said); got != c.want {
			t.Errorf("%q: got %q, want %q", c.said, got, c.want)
		}
	}
}
