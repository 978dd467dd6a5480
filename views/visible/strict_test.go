package visible_test

import (
	"strings"
	"testing"

	"offcut/views/visible"
)

func TestNothingThatIsDecidedAboutIsUnseen(t *testing.T) {
	for text, picture := range map[string]string{
		"a\u200bb": "U+200B", "a\u00a0b": "U+A0", "a\u202eb": "U+202E", "a\ufeffb": "U+FEFF", "a\u3164b": "U+3164",
		"a\ufe0fb": "U+FE0F", "a\U000e0041b": "U+E0041", "a\u2028b": "U+2028", "a\u00adb": "U+AD", "a\x1bb": "ESC",
	} {
		if got := visible.Strictly(text); strings.Count(got, `data-pic="`+picture+`"`) != 1 {
			t.Errorf("%q becomes %q, without %s", text, got, picture)
		}
	}
	if got := visible.Strictly("echo 'ä 中' <b>\n\tx"); got != "echo &#39;ä 中&#39; &lt;b&gt;\n\tx" {
		t.Errorf("plain text becomes %q", got)
	}
}
