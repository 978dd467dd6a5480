package views

import "testing"

func TestToolsBeyondTheFirstNoticesAreCounted(t *testing.T) {
	v := sampleTruncation()
	want(t, parse(t, AdminTruncationPage(v)), "[data-testid=truncation-more]", 0, "")
	for _, name := range []string{"a", "b", "c"} {
		v.ByTool = append(v.ByTool, Cuts{Name: name, Calls: 10, Truncated: 9, NoticeAt: 0.2})
	}
	doc := parse(t, AdminTruncationPage(v))
	want(t, doc, "[data-testid=truncation-notice]", 3, "")
	want(t, doc, "[data-testid=truncation-more] a[href='#limits-h']", 1, "2 more tools are over their thresholds.")
}
