package absence

import (
	"regexp"
	"strings"
)

var (
	links    = regexp.MustCompile(`!?\[([^\]\n]*)\]\([^)\n]*\)`)
	emphasis = regexp.MustCompile(`\*{1,3}([^\s*](?:[^*]*[^\s*])?)\*{1,3}|__([^\s_](?:[^_]*[^\s_])?)__`)
	cells    = regexp.MustCompile(`\s*\|\s*`)
)

// plain is a sentence of Markdown as people read it on the screen, but for what is
// code: that stays told apart.
func plain(sentence string) string {
	sentence = links.ReplaceAllString(sentence, "$1")
	sentence = emphasis.ReplaceAllString(sentence, "$1$2")
	return cells.ReplaceAllString(strings.Trim(sentence, " |"), " · ")
}

// bare is a sentence without the marks of emphasis and of links: they are no words.
var bare = strings.NewReplacer("*", "", "__", "", "[", "")

// simplified is a text with the traditional forms of the characters in the phrases
// as their simplified ones, which is how the phrases are written.
func simplified(text string) string { return traditional.Replace(text) }

var traditional = strings.NewReplacer(
	"沒", "没", "無", "无", "並", "并", "從", "从", "裡", "里", "裏", "里", "內", "内", "檢", "检", "測", "测", "現", "现",
	"見", "见", "記", "记", "錄", "录", "報", "报", "義", "义", "條", "条", "結", "结", "錯", "错", "誤", "误", "異", "异", "敗", "败", "這", "这",
	"該", "该", "對", "对", "應", "应", "關", "关", "個", "个", "樣", "样", "過", "过", "為", "为", "讀", "读", "閱", "阅", "顯", "显", "範", "范",
	"圍", "围", "斷", "断", "確", "确", "認", "认", "難", "难", "預", "预", "覽", "览", "餘", "余", "僅", "仅", "問", "问", "題", "题", "須", "须", "論", "论",
	"辦", "办", "係", "系", "發", "发", "輸", "输", "誌", "志", "檔", "档", "單", "单", "規", "规", "總", "总",
)
