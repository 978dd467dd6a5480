package absence

import (
	"regexp"
	"strings"
)

// begun is how a sentence begins, or goes on after the name of what it is about:
// "zebra: not found".
const begun = `(?:^|[:：–—|]\s|\s-\s)(?:\W|so |and |but |then |yes, |no, )*`

// The phrases, without regard to case. An apostrophe may be a curly one.
var (
	absences = phrases(
		// English
		`\bthere(?:'s| is| are| was| were| has been| have been| seems? to be| appears? to be) (?:no|zero|0|not (?:a|an|any)|nothing|none)\b`,
		`\bthere (?:is|are|was|were)n't (?:a|an|any)\b`,
		`\b(?:do|does|did)(?: not|n't) (?:\w+ )?(?:exist|appear|occur|contain|include|mention|show up|list|have|define|hold|report)\b`,
		`\b(?:is|are|was|were|be|been)(?: not|n't) (?:\w+ )?(?:found|present|listed|mentioned|included|contained|defined|recorded|logged|reported|among|part of|in (?:the|this|that|it|there|any)|there\b)`,
		`\b(?:could|can|did|was|were)(?: not|n't) (?:able to )?(?:find|locate|see|spot|detect|discover)\b`,
		`\b(?:cannot|unable to|failed to) (?:find|locate|see|spot|detect)\b`,
		`\b(?:found|find|finds|see|saw|contains?|contained|has|have|had|shows?|showed|return(?:s|ed)|lists?|listed|reports?|reported|includes?|mentions?|prints?|printed|with|yields?|yielded|gives?|gave) (?:absolutely )?(?:no|zero|nothing|none)\b`,
		begun+`(?:no|not a single|not one) (?:\S+ ){1,5}?(?:was|were|is|are|has|have|found|appears?|exists?|match(?:es|ed)?|occurs?|contains?|mentions?|fails?|failed)\b`,
		begun+`(?:no|zero|0) (?:\S+ ){0,2}(?:errors?|warnings?|match(?:es)?|results?|occurrences?|entries|mentions?|records?|hits?|failures?|lines?)\b`,
		begun+`not found\b`,
		`\black(?:s|ed|ing)? (?:a|an|any|the|every)\b`,
		`\bno (?:such|sign|signs|trace|traces|mentions?|occurrences?|evidence|instances?|match(?:es)?|hits|records?) (?:of|for|in|was|were|is|are)\b`,
		`\bnone of\b`,
		`\bnothing (?:in|matches|matched|about|like)\b`,
		`\bnowhere (?:in|to be found)\b`,
		`\b(?:is|are|was|were) (?:completely |entirely )?(?:absent|missing|non-?existent)\b`,
		`\b(?:absent|missing) from\b`,
		`\bnever (?:appears?|appeared|occurs?|occurred|mentions?|mentioned|shows? up|showed up)\b`,
		`\bwithout (?:any|a single) (?:\S+ )?(?:errors?|warnings?|failures?|matches|mention)\b`,
		// Chinese
		`^(?:不，|不。)?没有[。！]?$`,
		`(?:没有?|并未|未能?|从未|尚无)(?:再|曾|能|任何|有)?(?:找到|发现|看到|见到|出现|包含|包括|提到|提及|列出|记录|报告|检测到|检索到|匹配|搜到|搜索到|查到|定义)`,
		`(?:没有|并无|毫无|无)(?:任何|相关的?|匹配的?|对应的?|这样的?|这个|该|此类?)[^，。；]{0,12}`,
		`(?:没有|并无|无)(?:错误|警告|报错|异常|失败|结果|匹配|记录|条目|命中)`,
		`(?:中|里|里面|内|其中)(?:都|也|均|并)?(?:没有|不含|不包含|无)`,
		`(?:并?不存在|找不到|查不到|搜不到|不包含|不含有?|未见|缺失|缺少)`,
		`不在(?:其中|里面|列表|文件|输出|日志|结果|该|这)`,
	)

	// reserves say that a sentence holds for a part, under a condition, or perhaps.
	reserves = phrases(
		`\b(?:if|whether|unless|in case|when there)\b`,
		`\b(?:may|might|perhaps|possibly|could be|could have|would|should)\b`,
		`\b(?:any ?more|no longer|at (?:that|the) time|back then)\b`, // it is told of a change
		`\b(?:unsure|not sure|uncertain|unclear|unknown|so far|as far as|not yet)\b`,
		`\b(?:cannot|can't|could not|couldn't) (?:be )?(?:say|said|tell|told|know|known|confirm|confirmed|rule|ruled|exclude|excluded|verify|verified)\b`,
		`\b(?:in|of|from|among|within) (?:what|the (?:\w+ )?(?:part|parts|portion|portions|lines|pages?|preview|excerpt|bytes|head|tail|beginning|end|section)|those)\b.*\b(?:I|we|was|were|been|shown|read|seen|saw)\b`,
		`(?:如果|若是|是否|可能|也许|或许|大概|目前|暂时|尚不|不确定|不清楚|无法(?:确定|判断|确认|得知|排除)|不能(?:确定|排除|断定))`,
		`(?:在|就)?(?:我|已|所)?(?:读|看|查看|阅读|显示|展示)(?:到|过|了|出)?的?(?:部分|内容|范围|片段|预览|行|页)`,
	)

	// gaps say that not all was read, or that something cannot be known.
	gaps = phrases(
		`\b(?:have|has|had|did|do)(?: not|n't) (?:yet |fully |actually )?(?:read|see|seen|look|looked|check|checked|review|reviewed|search|searched|go through|gone through) `,
		`\b(?:only|just) (?:\w+ )?(?:read|saw|seen|looked at|checked|shown|see|a part|part of|parts of|the (?:first|last|beginning|end|preview|head|tail))\b`,
		`\b(?:unread|incomplete|truncated|cut off|left out|not (?:all|everything|the whole)|partially|in part|preview)\b`,
		`\b(?:cannot|can't|could not|couldn't) (?:be )?(?:say|said|tell|told|know|known|confirm|confirmed|rule|ruled|exclude|excluded|verify|verified)\b`,
		`\b(?:in|of) (?:what|the (?:\w+ )?(?:part|parts|portion|lines|pages?)) (?:that )?(?:I|we) (?:have )?(?:read|saw|seen|see|was shown)\b`,
		`(?:没有?|未|尚未|并未)(?:能)?(?:全部|完整|完全)?(?:读完|看完|读取|阅读|查看|检查|看过|读过)`,
		`(?:只|仅)(?:能)?(?:读|看|查看|阅读|检查|显示)(?:到|了|过)?`,
		`(?:不完整|被截断|截断|省略|预览|未读|其余部分|剩余部分)`,
		`(?:无法|不能|难以)(?:确定|判断|确认|得知|知道|排除|断定)`,
	)

	// idioms say no, and nothing of absence.
	idioms = phrases(
		`\bno (?:(?:further|more|other|open) )?(?:need|reason|problem|doubt|matter|way|point|harm|idea|wonder|worries|questions?)\b`,
		`\bno (?:\S+ )?(?:changes?|edits?|modifications?) (?:was|were|is|are|has been|have been) (?:made|needed|required|necessary|applied|done)\b`,
		`\b(?:errors?|says|said|answer(?:s|ed)?|return(?:s|ed)|print(?:s|ed)|status|message|code|\d{3})\W+not found\b`, // what something else says
		`\bnothing (?:to|else to|more to)\b`,
		`\b(?:I|we|you) (?:do|did)(?: not|n't) have\b`,
		`\b(?:nothing|none) but\b`,
		`(?:没有|没|无)(?:问题|必要|办法|关系|意义|疑问|须|需)`,
		`(?:毫无疑问|无论|无法)`,
	)
)

// What the words of a claim are sifted with, to learn what it names.
var (
	// grammar is what holds a sentence together, and how it says that something
	// is absent.
	grammar = phrases(
		`\b(?:a|an|the|this|that|these|those|it|its|they|them|their|he|she|I|we|you|my|your|our|there|here|which|who|what|where)(?:'s|'re|'ve)?\b`,
		`\b(?:is|are|was|were|be|been|being|do|does|did|has|have|had|can|could|cannot|will|seems?|appears?|appeared)(?:n't)?\b`,
		`\b(?:no|not|none|nothing|nowhere|never|neither|nor|zero|without|any|anything|single|such|at all|absent|missing|lacks?|lacking|non-?existent|unable|failed to|able)\b`,
		`\b(?:in|on|at|of|for|from|to|with|by|about|among|within|inside|under|like|as|and|or|but|so|then|yes|also|too|either|anywhere|ever|all|whole|entire|completely|entirely|absolutely|actually)\b`,
		`\b(?:exists?|existed|occurs?|occurred|contains?|contained|includes?|included|mentions?|mentioned|mention|shows?|showed|shown|lists?|listed|define[ds]?|holds?|reports?|reported|found|finds?|locate[d]?|see|saw|seen|spot|detect(?:ed)?|discover(?:ed)?|present|recorded|logged|returns?|returned|prints?|printed|yields?|yielded|gives?|gave|match(?:es|ed)?|looked|searched|sign|signs|trace|traces|evidence|instances?|occurrences?)\b`,
		`\b(?:one|ones|first|second|third|other|others|another|more|further|else|same|last)\b`,
		`[.,:;!?()（）。，；：！？、“”"]+(?:\s|$)|[。，；：！？、（）]`,
		`(?:没有|并未|未能|未|从未|尚无|并无|毫无|不存在|找不到|查不到|搜不到|不包含|不含有|不含|缺失|缺少|没|无|不在|任何|相关的?|匹配的?|对应的?|这样的?|这个|那个|该|此|任意|找到|发现|看到|见到|出现|包含|包括|提到|提及|列出|记录|报告|检测到|检索到|搜到|搜索到|查到|定义|匹配|其中|里面|里|中|内|都|也|均|并|我|它|整个|的|了|在|为空|存在)`,
	)
	// kinds name what outputs are, and what they are made of.
	kinds = phrases(
		`\b(?:logs?|files?|outputs?|lists?|cop(?:y|ies)|results?|responses?|documents?|exports?|data|texts?|tables?|reports?|builds?|searches|search|lines?|rows?|entr(?:y|ies)|records?|fields?|keys?|names?|values?|items?|elements?|words?|strings?|hits?|things?)\b`,
		`(?:日志|文件|输出|列表|副本|结果|响应|文档|导出|数据|文本|表格|行|条目|字段|键|名称|值|内容)`,
	)
	// places are what a term stands after that says where.
	places = phrases(
		`\b(?:in|from|within|inside|of|at|on|under|by|via|with|through)\s+(?:\w+\s+){0,2}$`,
		`在\s*$`,
	)
)

func phrases(list ...string) *regexp.Regexp {
	return regexp.MustCompile("(?i)" + strings.ReplaceAll(strings.Join(list, "|"), "'", "['’]"))
}
