package demo

import (
	"regexp"
	"strconv"
	"strings"
)

// verb is a kind of request that the model understands.
type verb string

const (
	verbRun         verb = "run"
	verbScript      verb = "run a script"
	verbRead        verb = "read"
	verbWrite       verb = "write"
	verbEdit        verb = "edit"
	verbList        verb = "list"
	verbFindFiles   verb = "find in files"
	verbFindOutput  verb = "find in output"
	verbReadOutput  verb = "read output"
	verbCount       verb = "count"
	verbSay         verb = "say"
	verbUnknown     verb = ""
	defaultFileName      = "notes.txt"
)

// wish is one request, understood.
type wish struct {
	verb     verb
	commands []string // of run: all at the same time
	path     string
	text     string // to write, to find, to say, to be replaced
	with     string // the replacement
	number   int    // a line, an offset, how far to count
	slowly   bool
	last     bool // the last line was asked for
	first    bool
}

var (
	polite   = regexp.MustCompile(`(?i)^(?:please|now|then|and|can you|could you|would you|i want you to|let us|let's)[\s,]+`)
	fence    = regexp.MustCompile("(?s)```[a-zA-Z]*\\n(.*?)\\n?```")
	ticked   = regexp.MustCompile("`([^`\n]+)`")
	connect  = regexp.MustCompile(`(?i)(?:,\s*|\.\s+|\s+)(?:and\s+)?then\s+`)
	reporter = regexp.MustCompile(`(?i),?\s+(?:and|then)\s+(?:then\s+)?(?:tell|show|give|report|say|quote|explain|what|let me)\b.*$`)

	scriptVerb = regexp.MustCompile(`(?is)^(?:run|execute|write)\s+(?:a|an|the|this|that|some)?\s*(?:short\s+|small\s+)?(?:javascript|js|code mode|script)\b(?:\s+(?:script|program|code))?(?:$|[\s:,.]+(.*)$)`)
	isScript   = regexp.MustCompile(`\breturn\b|\btools\.|\bconsole\.`)
	scriptRest = regexp.MustCompile(`(?i)^(?:please|and|that|which|to|with|for)\b`)
	runVerb    = regexp.MustCompile(`(?is)^(?:run|execute)\b(?:\s+(?:the\s+)?(?:shell\s+)?commands?\b)?\s*:?\s*(.+)$`)
	readLine   = regexp.MustCompile(`(?i)^(?:read|show|open|print)(?:\s+me)?\s+line\s+(\d+)\s+(?:of|in|from)\s+(?:the\s+)?(?:file\s+)?(\S+)`)
	readFile   = regexp.MustCompile(`(?i)^(?:read|open|show(?:\s+me)?)\s+(?:the\s+)?(?:file\s+)?(\S+?)[.,]?(?:\s+(?:at|from|starting\s+at|starting\s+from)\s+(?:the\s+)?line\s+(\d+))?[\s.]*$`)
	readOutput = regexp.MustCompile(`(?i)^(?:read|show|open)(?:\s+me)?\s+(?:in\s+)?(?:the\s+)?(?:last\s+|latest\s+)?kept\s+(?:output|copy)(?:\s+(?:at|from)\s+(?:offset\s+|byte\s+)?([\d,]+))?`)
	replace    = regexp.MustCompile(`(?is)^(?:replace|change)\s+(.+)\s+(?:with|by|to)\s+(.+)\s+in\s+(?:the\s+)?(?:file\s+)?(\S+?)[.]?$`)
	find       = regexp.MustCompile(`(?is)^(?:find|search\s+for|look\s+for|search)\s+(?:the\s+)?(?:text\s+|word\s+)?(.+)\s+in\s+(.+?)[.?]?$`)
	searchFor  = regexp.MustCompile(`(?is)^search\s+(?:in\s+)?(.+)\s+for\s+(?:the\s+)?(?:text\s+|word\s+)?(.+?)[.?]?$`)
	list       = regexp.MustCompile(`(?i)^(?:list|show|what)\b.*\b(?:files|folder|directory|workspace)\b`)
	count      = regexp.MustCompile(`(?i)^count\s+(?:up\s+)?to\s+([\d,]+)(\s+slowly)?`)
	sayVerb    = regexp.MustCompile(`(?is)^(?:say|repeat|echo)\s*:?\s+(.+)$`)
	anOutput   = regexp.MustCompile(`(?i)\b(?:kept|last)\b.*\b(?:output|copy|result)s?\b|\b(?:output|copy)\b`)
)

// understand takes a message apart into the wishes that it holds, in order.
func understand(text string) []wish {
	var wishes []wish
	file := ""
	for _, part := range parts(strings.TrimSpace(text)) {
		w := understandPart(part)
		if w.verb == verbUnknown {
			continue
		}
		if pronoun(w.path) {
			w.path = file
		}
		if w.path != "" {
			file = w.path
		}
		wishes = append(wishes, w)
	}
	return wishes
}

func pronoun(path string) bool {
	switch strings.ToLower(path) {
	case "it", "that", "this":
		return true
	}
	return false
}

// parts cuts a text at each "then" outside quotes after which another request
// begins.
func parts(text string) []string {
	masked := mask(text)
	var out []string
	start := 0
	for _, at := range connect.FindAllStringIndex(masked, -1) {
		if understandPart(text[at[1]:]).verb == verbUnknown || understandPart(text[start:at[0]]).verb == verbUnknown {
			continue
		}
		out = append(out, text[start:at[0]])
		start = at[1]
	}
	return append(out, text[start:])
}

// quotes are the marks that enclose a text, opening and closing.
var quotes = map[rune]rune{'`': '`', '"': '"', '“': '”', '‘': '’', '«': '»', '„': '“'}

// mask is text with what stands in quotes made unreadable, byte for byte as
// long.
func mask(text string) string {
	out := []byte(text)
	var closing rune
	for i, r := range text {
		switch {
		case closing == 0:
			if end, opens := quotes[r]; opens && strings.ContainsRune(text[i+len(string(r)):], end) {
				closing = end
			}
		case r == closing:
			closing = 0
		default:
			for j := i; j < i+len(string(r)) && j < len(out); j++ {
				out[j] = '_'
			}
		}
	}
	return string(out)
}

// unquoted is s without the quotes around it.
func unquoted(s string) string {
	s = strings.TrimSpace(s)
	for open, end := range quotes {
		inner, opens := strings.CutPrefix(s, string(open))
		if !opens {
			continue
		}
		if inner, closes := strings.CutSuffix(inner, string(end)); closes {
			return inner
		}
	}
	if len(s) > 1 && s[0] == '\'' && s[len(s)-1] == '\'' {
		return s[1 : len(s)-1]
	}
	return s
}

func understandPart(text string) wish {
	text = strings.TrimSpace(text)
	for polite.MatchString(text) {
		text = polite.ReplaceAllString(text, "")
	}
	for _, try := range []func(string) (wish, bool){
		asScript, asRun, asOutput, asFind, asList, asEdit, asWrite, asRead, asTalk,
	} {
		if w, ok := try(text); ok {
			return w
		}
	}
	return wish{}
}

// asScript understands a program in a block of code, in quotes or as it is; one
// of our own is run where there is none.
func asScript(text string) (wish, bool) {
	m := scriptVerb.FindStringSubmatch(text)
	if m == nil {
		return wish{}, false
	}
	for _, quoted := range []*regexp.Regexp{fence, ticked} {
		if found := quoted.FindStringSubmatch(m[1]); found != nil {
			return wish{verb: verbScript, text: found[1]}, isScript.MatchString(found[1])
		}
	}
	if isScript.MatchString(m[1]) && !scriptRest.MatchString(m[1]) {
		return wish{verb: verbScript, text: m[1]}, true
	}
	return wish{verb: verbScript, text: exampleScript}, m[1] == "" || scriptRest.MatchString(m[1])
}

func asRun(text string) (wish, bool) {
	m := runVerb.FindStringSubmatch(text)
	if m == nil {
		return wish{}, false
	}
	lower := strings.ToLower(text)
	w := wish{verb: verbRun, last: strings.Contains(lower, "last line"), first: strings.Contains(lower, "first line")}
	if blocks := fence.FindAllStringSubmatch(m[1], -1); blocks != nil {
		for _, b := range blocks {
			w.commands = append(w.commands, b[1])
		}
		return w, true
	}
	if strings.HasPrefix(m[1], "`") {
		for _, t := range ticked.FindAllStringSubmatch(m[1], -1) {
			w.commands = append(w.commands, t[1])
		}
		return w, len(w.commands) > 0
	}
	w.commands = []string{unquoted(sentenceEnd(reporter.ReplaceAllString(m[1], "")))}
	return w, true
}

// sentenceEnd takes away a full stop that ends a sentence and no path.
func sentenceEnd(s string) string {
	s = strings.TrimSpace(s)
	if cut, ok := strings.CutSuffix(s, "."); ok && cut != "" && !strings.ContainsAny(cut[len(cut)-1:], " ./") {
		return cut
	}
	return s
}

func asOutput(text string) (wish, bool) {
	if m := readOutput.FindStringSubmatch(text); m != nil {
		return wish{verb: verbReadOutput, number: number(m[1])}, true
	}
	return wish{}, false
}

func asFind(text string) (wish, bool) {
	what, where := "", ""
	if m := searchFor.FindStringSubmatch(text); m != nil {
		where, what = m[1], m[2]
	} else if m := find.FindStringSubmatch(text); m != nil {
		what, where = m[1], m[2]
	} else {
		return wish{}, false
	}
	w := wish{verb: verbFindFiles, text: unquoted(what)}
	switch where = unquoted(where); {
	case anOutput.MatchString(where):
		w.verb = verbFindOutput
	case strings.Contains(where, "files") || strings.Contains(where, "workspace") || strings.Contains(where, " "):
	default:
		w.path = where
	}
	return w, true
}

func asList(text string) (wish, bool) {
	return wish{verb: verbList}, list.MatchString(text)
}

func asEdit(text string) (wish, bool) {
	m := replace.FindStringSubmatch(text)
	if m == nil {
		return wish{}, false
	}
	return wish{verb: verbEdit, text: unquoted(m[1]), with: unquoted(m[2]), path: unquoted(m[3])}, true
}

func fileName(s string) string {
	s = unquoted(strings.TrimRight(s, ",;"))
	if s == "" || strings.EqualFold(s, "file") {
		return defaultFileName
	}
	return s
}

func asRead(text string) (wish, bool) {
	if m := readLine.FindStringSubmatch(text); m != nil {
		return wish{verb: verbRead, path: fileName(sentenceEnd(m[2])), number: number(m[1])}, true
	}
	if m := readFile.FindStringSubmatch(text); m != nil {
		return wish{verb: verbRead, path: fileName(m[1]), number: number(m[2])}, true
	}
	return wish{}, false
}

func asTalk(text string) (wish, bool) {
	if m := count.FindStringSubmatch(text); m != nil {
		return wish{verb: verbCount, number: number(m[1]), slowly: m[2] != ""}, true
	}
	if m := sayVerb.FindStringSubmatch(text); m != nil {
		return wish{verb: verbSay, text: unquoted(m[1])}, true
	}
	return wish{}, false
}

// number reads digits, with or without commas between them; none are 0.
func number(s string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		return 0
	}
	return n
}
