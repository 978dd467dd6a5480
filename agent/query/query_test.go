package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"offcut/agent/apart"
	"offcut/models"
)

func TestMain(m *testing.M) {
	apart.Reexec()
	os.Exit(m.Run())
}

// patient is how long a query may take on a machine that does much else.
const patient = 2 * time.Minute

// one is a store with one kept copy.
type one struct {
	output models.RetainedOutput
	text   string
}

func (o one) Text(context.Context, string, string) (models.RetainedOutput, io.Reader, error) {
	o.output.TotalBytes = int64(len(o.text))
	return o.output, strings.NewReader(o.text), nil
}

func of(text string) one {
	return one{models.RetainedOutput{Complete: true, Tool: "run_command"}, text}
}

func TestAFilterGivesItsValuesOnePerLine(t *testing.T) {
	for name, test := range map[string]struct {
		copy         one
		filter, want string
	}{
		"a field":                   {of(`{"a":{"b":"x\ny"}}`), ".a.b", `"x\ny"`},
		"several values":            {of(`[{"id":1},{"id":2}]`), ".[].id", "1\n2"},
		"JSON lines":                {of("{\"a\":1}\n\n{\"a\":2}\n"), ".a", "1\n2"},
		"no value":                  {of(`[]`), ".[]", ""},
		"numbers keep themselves":   {of(`[12345678901234567890, 1.10, 1e400, 0.1234567890123456789]`), ".[]", "12345678901234567890\n1.10\n1e400\n0.1234567890123456789"},
		"large numbers are counted": {of(`[9007199254740993]`), ".[0] + 1", "9007199254740994"},
		"a byte order mark":         {of("\uFEFF[1]"), ".[0]", "1"},
		"what was fetched":          {one{models.RetainedOutput{Complete: true, Tool: "fetch_url"}, "GET https://x\n200 OK\n\n{\"a\":7}"}, ".a", "7"},
		"wide characters":           {of(`{"名":"😀"}`), ".[\"名\"]", `"😀"`},
		"no environment":            {of(`1`), "env, $ENV", "{}\n{}"},
		"an early end":              {of("1\n2"), "if . == 1 then . else halt end", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OPENAI_API_KEY", "secret")
			got, err := New(test.copy).Query(t.Context(), "ann", "s1", "o1", test.filter)
			if err != nil || strings.TrimSuffix(string(got), "\n") != test.want {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestWhatGivesNoAnswerIsSaidWithItsPlace(t *testing.T) {
	incomplete := one{models.RetainedOutput{Gaps: []models.Gap{{At: 8, MarkerBytes: 5, Omitted: 99}}}, "{\"a\":1}\n[gap]\n{\"a\":2}"}
	for name, test := range map[string]struct {
		copy         one
		filter, code string
		says         string
		details      map[string]any
	}{
		"no JSON":                {of("hello"), ".", "not_json", "at byte 0, in line 1, where 'h' was found", map[string]any{"offset": int64(0), "line": int64(1)}},
		"no JSON later":          {of("{\"a\":1}\n{\"é\":2}\nWARN x\n"), ".", "not_json", "at byte 17, in line 3, where 'W' was found", map[string]any{"offset": int64(17), "line": int64(3)}},
		"behind a mark":          {of("\uFEFF[1,]"), ".", "not_json", "at byte 6, in line 1, where ']' was found", nil},
		"within":                 {of("[1,\n 2,\n x]"), ".", "not_json", "at byte 9, in line 3, where 'x' was found", nil},
		"an early end":           {of("[1,\n2"), ".", "not_json", "at byte 5, in line 2, where it ends too early", nil},
		"nothing":                {of(" \n"), ".", "not_json", "it is empty", nil},
		"too deep":               {of(strings.Repeat("[", 20_000)), ".", "not_json", "at byte 10000", nil},
		"an incomplete copy":     {incomplete, ".", "output_incomplete", "at byte 8, in line 2, where 99 bytes are missing", map[string]any{"offset": int64(8), "line": int64(2)}},
		"a stopped command":      {one{text: "[1]"}, ".", "output_incomplete", "ends at byte 3", nil},
		"a running command":      {one{models.RetainedOutput{Running: true}, "[1"}, ".", "output_running", "still runs", nil},
		"binary":                 {one{models.RetainedOutput{Complete: true, Binary: true}, ""}, ".", "not_json", "binary", nil},
		"no filter":              {of("1"), "", "empty_filter", "empty", nil},
		"a long filter":          {of("1"), strings.Repeat(".", 5000), "filter_too_long", "4096", nil},
		"a wrong filter":         {of("1"), ".a | | .b", "invalid_filter", `at its byte 5, unexpected token "|"`, map[string]any{"filter_offset": int64(5)}},
		"an unfinished filter":   {of("1"), ".a[", "invalid_filter", "unexpected EOF", nil},
		"an unknown function":    {of("1"), ". | foo(1)", "invalid_filter", "at its byte 4, function not defined: foo/1", map[string]any{"filter_offset": int64(4)}},
		"a filter that fails":    {of("{\"a\":1}\n{\"a\":[]}"), ".a[]", "filter_failed", "in line 1: cannot iterate over: number (1)", nil},
		"an error of its own":    {of("1"), `error("no")`, "filter_failed", "no", nil},
		"other input":            {of("1"), "input", "invalid_filter", "not allowed", nil},
		"the name of a file":     {of("1"), "input_filename", "invalid_filter", "not defined", nil},
		"a file as a module":     {of("1"), `include "/etc/passwd"; .`, "invalid_filter", "module", nil},
		"a file as data":         {of("1"), `import "/etc/passwd" as $x; $x`, "invalid_filter", "module", nil},
		"a filter without end":   {of("1"), "def f: f; f", "query_too_slow", "given up", nil},
		"memory without end":     {of("1"), "[range(1e9)] | length", "query_too_large", "memory", nil},
		"a text without end":     {of("1"), `"x" * 500000000 | length`, "query_too_large", "memory", nil},
		"recursion without end":  {of("1"), "def f: [f]; f", "query_too_large", "memory", nil},
		"an answer without end":  {of("1"), `repeat("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")`, "query_too_large", "gives more than", nil},
		"a costly expression":    {of(`"` + strings.Repeat("a", 1<<20) + `"`), `last(range(1e9) | tostring | test("(a|b|ab)*c"; "g"))`, "query_too_slow", "given up", nil},
		"an error of great size": {of(`"` + strings.Repeat("a", 1<<20) + `"`), "error", "filter_failed", "…", nil},
	} {
		t.Run(name, func(t *testing.T) {
			q := New(test.copy)
			q.limits.Time, q.limits.Wait, q.limits.Memory = time.Minute, patient, 192<<20
			if test.code == "query_too_slow" {
				q.limits.Time = time.Second
			}
			got, err := q.Query(t.Context(), "ann", "s1", "o1", test.filter)
			var refused *models.Error
			if !errors.As(err, &refused) || !errors.Is(err, models.ErrInvalid) || refused.Code != test.code || !strings.Contains(refused.Message, test.says) || len(refused.Message) > 1000 {
				t.Fatalf("%.100q, %.1000v", got, err)
			}
			if test.details != nil && fmt.Sprint(refused.Details) != fmt.Sprint(test.details) {
				t.Errorf("details %v", refused.Details)
			}
		})
	}
}

func TestALargeCopyIsQueriedWithinTheBounds(t *testing.T) {
	const size = 8 << 20
	row := `{"":1},`
	array := "[" + strings.Repeat(row, size/len(row)-2) + `{"last":"here"}]`
	var lines strings.Builder
	for i := 0; lines.Len() < size-100; i++ {
		fmt.Fprintf(&lines, "{\"id\":%d,\"text\":\"%s\"}\n", i, strings.Repeat("x", 60))
	}
	for name, test := range map[string]struct{ text, filter, want string }{
		"small objects": {array, ".[-1].last", `"here"`},
		"empty arrays":  {"[" + strings.Repeat("[],", size/3-2) + "[]]", "length", fmt.Sprint(size/3 - 1)},
		"lines":         {lines.String(), "select(.id == 90000).id", "90000"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := New(of(test.text)).Query(t.Context(), "ann", "s1", "o1", test.filter)
			if err != nil || strings.TrimSpace(string(got)) != test.want {
				t.Errorf("%.100q, %v", got, err)
			}
		})
	}
}

func TestAQueryEndsWithWhoAsked(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, stop)
	if _, err := New(of("1")).Query(ctx, "ann", "s1", "o1", "def f: f; f"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestOneUserHasOneQueryAtATime(t *testing.T) {
	q := New(of("1"))
	leave, err := q.running.Enter(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	if _, err := q.Query(t.Context(), "bob", "s1", "o1", "."); err != nil {
		t.Error(err)
	}
	waits, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	if _, err := q.Query(waits, "ann", "s1", "o1", "."); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the second query did not wait: %v", err)
	}
}
