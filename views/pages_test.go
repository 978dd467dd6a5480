package views

import (
	"context"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

func TestStatesOfAPage(t *testing.T) {
	cases := []struct {
		state, selector string
		n               int
		text            string
	}{
		{"more", ".end", 0, ""},
		{"more", "[data-testid=output-next]:not([disabled])", 1, "Next"},
		{"more", "[data-testid=output-incomplete]", 0, ""},
		{"more", ".pos", 1, "Bytes 4,096–4,110 of 1,204,331 kept"},
		{"more-incomplete", "[data-testid=output-incomplete]", 1, "The capture is incomplete: 3,611,460 bytes were not kept."},
		{"more-incomplete", ".seg.lost", 1, "3,611,460 bytes are not kept here"},
		{"more-incomplete", ".tag.warn", 1, "incomplete"},
		{"end", ".end", 1, "It is all the tool returned"},
		{"end", "[data-testid=output-next][disabled]", 1, ""},
		{"end", "[data-testid=output-last][disabled]", 1, ""},
		{"end", "[data-testid=output-incomplete]", 0, ""},
		{"end-incomplete", ".end", 1, "End of the kept text"},
		{"end-incomplete", ".lost-band.last[data-testid=output-incomplete]", 1, "3,611,460 bytes"},
		{"end-incomplete", "[data-testid=output-incomplete] a[href*='offset=6291456']", 1, "Missing at byte 6,291,456"},
		{"running", ".end", 1, "More may come"},
		{"running", ".pos", 1, "so far"},
		{"running", "[data-testid=tool-stop]", 1, ""},
		{"running", "[data-testid=output-incomplete]", 0, ""},
		{"binary", ".page-text.hex", 1, ""},
		{"binary", ".hex .ln > i", 1, "000000000000"},
		{"binary", ".tag", 1, "binary"},
		{"empty", "[data-testid=output-text]", 1, ""},
		{"refused", ".problem[role=alert]", 2, "past the end"},
	}
	for _, c := range cases {
		t.Run(c.state+" "+c.selector, func(t *testing.T) {
			want(t, parse(t, PagerFragment(pagerStates()[c.state])), c.selector, c.n, c.text)
		})
	}
}

func TestPagerInACardFetchesItsPages(t *testing.T) {
	p := cardPager()
	p.Search = Search{Query: "a&b", Regexp: true}
	doc := parse(t, PagerFragment(p))
	want(t, doc, `[data-testid=output-prev][hx-get="/s/s1/out/o71/pager?offset=3925&q=a%26b&regexp=true"][hx-swap=outerHTML]`, 1)
	want(t, doc, `form[role=search][hx-get="/s/s1/out/o71/pager"] [data-testid=output-search]`, 1)
}

func TestOutputPageLeadsEverywhere(t *testing.T) {
	doc := parse(t, OutputPage(sampleOutput()))
	want(t, doc, "[data-testid=output-hits]", 1, "hit 2 of 4")
	want(t, doc, `a[data-testid=output-hit-prev][href="/s/s1/out/o71?offset=213770&q=TS2307"]`, 1)
	want(t, doc, `.hits a[aria-current=true]`, 1, "total.ts")
	want(t, doc, `a[href="/s/s1/out/o71/raw"]`, 1)
	want(t, doc, `form[action="/s/s1/out/o71/delete"] input[name=_csrf][value=token]`, 1)
	want(t, doc, "[data-testid=output-delete]", 1)
	want(t, doc, "mark.now", 1, "TS2307")
	want(t, doc, ".cov .tick", 4)
	want(t, doc, ".cov .here", 1)
}

func TestChatPage(t *testing.T) {
	doc := parse(t, ChatPage(sampleChat()))
	want(t, doc, `main#chat[data-session=s1][data-seq="412"][data-turn=t2]`, 1)
	want(t, doc, `#log > #messages > article[data-testid=message]`, 5)
	want(t, doc, `article#a-t1[data-role=assistant][data-state=done] .part`, 2)
	want(t, doc, `article#m-m3[data-role=user][data-state=queued]`, 1, "Sent when this turn ends")
	want(t, doc, `form#composer[data-testid=composer][action="/s/s1/messages"] textarea`, 1)
	want(t, doc, `[data-testid=stop]`, 1)
	want(t, doc, `[data-testid=send]`, 1)
	want(t, doc, `[data-testid=session-item]`, 7)
	want(t, doc, `[data-testid=session-item] a[aria-current=page]`, 1)
	want(t, doc, `#dlg-delete .goes`, 1, "Messages…", "Kept outputs…")
	want(t, doc, `#dlg-delete .goes[hx-get="/s/s1/goes"]`, 1)
	want(t, doc, `form[action="/s/s1/fork"]:not(:has([name=message_id])) [data-testid=fork-session]`, 1)
	if doc.Find("#messages").Closest("[aria-live],[role=log],[role=status]").Length() > 0 {
		t.Error("each word of an answer would be spoken")
	}
}

func TestEndsOfATurn(t *testing.T) {
	doc := parse(t, ChatPage(statesChat()))
	want(t, doc, "[data-testid=turn-error][role=alert]", 1, "exceeded the output token limit", "output_limit")
	want(t, doc, "#a-t5 .note[data-testid=turn-error]:not([role])", 1, "Interrupted at 10:31. The server was restarted. What had come is kept. One tool had started, and its effects are unknown. Continue goes on from there; retry begins anew.")
	want(t, doc, "#a-t6 .stopped", 1, "Stopped")
	want(t, doc, "#f-t9 [data-testid=retry-notice]", 1, "The model’s server is busy.", "(3 of 10)")
	want(t, doc, "[data-fork-notice] a[href='/s/s1']", 1)
	want(t, doc, "#composer-problem:not([hidden])", 1, "The message is empty.")
}

func TestAnEndIsSaidOnce(t *testing.T) {
	end := TurnEnd{TurnID: "t", State: "error", Code: "turn_limit", Error: "The answer was ended after 100 requests to the model. Send a message to go on."}
	if text := end.next(t.Context()); text != "" {
		t.Errorf("said behind that: %q", text)
	}
	end.Continue = true
	if text := end.next(t.Context()); text != "Continue goes on from there as well." {
		t.Errorf("beside the button stands %q", text)
	}
	for _, v := range []MovedNote{{OutputID: "o", Subject: "make", Stopped: true}, {OutputID: "o", Subject: "make"}} {
		if text := v.text(t.Context()); strings.Contains(text, "It was stopped since.") != v.Stopped {
			t.Errorf("of a command that was stopped (%v): %s", v.Stopped, text)
		}
	}
}

func TestWhatCanBeDoneAfterAnAnswer(t *testing.T) {
	doc := parse(t, ChatPage(statesChat()))
	want(t, doc, "[data-testid=turn-error] form[action='/turns/t4/retry'] .primary[data-testid=retry]", 1, "Retry")
	want(t, doc, "[data-testid=turn-error] form[action='/turns/t4/continue'] [data-testid=continue]", 1, "Continue")
	want(t, doc, "#a-t5 form[action='/turns/t5/continue'] .primary[data-testid=continue]", 1, "Continue")
	want(t, doc, "#a-t5 form[action='/turns/t5/retry'] [data-testid=retry]", 1, "Retry from the start")
	want(t, doc, "#a-t6 .acts [data-testid=retry]", 1)
	want(t, doc, "#f-t9 form[action='/turns/t9/retry'] [data-testid=retry-now]", 1, "Retry now")
	want(t, doc, "#f-t9 form[action='/turns/t9/stop']", 1, "Stop")
	want(t, doc, "#a-t7 [data-versions=answer]", 1, "2 / 3", "Version 2 of 3", "went on from versions 1, 3")
	want(t, doc, "#a-t7 form[action='/turns/t6a/show'] button[data-testid=version-prev]:not([disabled])", 1)
	want(t, doc, "#m-m8 form:not([action]) button[data-testid=version-prev][disabled]", 1)
	want(t, doc, "#m-m8 form[action='/turns/t8a/show'] button[data-testid=version-next]", 1)
	want(t, doc, "#m-m8 a[data-testid=edit][href='/s/s2/messages/m8/edit']", 1, "Edit")

	reader := With(context.Background(), Layout{ReadOnly: true})
	var b strings.Builder
	if err := ChatPage(statesChat()).Render(reader, &b); err != nil {
		t.Fatal(err)
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	want(t, doc, "[data-testid=retry], [data-testid=continue], [data-testid=edit], [data-testid=version-prev], [data-testid=retry-now]", 0)
	want(t, doc, "#a-t7 [data-versions=answer]", 1, "2 / 3")
}

func TestAMessageIsEditedInAForm(t *testing.T) {
	edit := Edit{SessionID: "s2", MessageID: "m8", Content: "\n\nfirst", Problem: "the message is empty; write something to send"}
	doc := parse(t, ChatPage(Chat{SessionID: "s2", Log: Log{SessionID: "s2", Entries: []Entry{{Edit: &edit}}}}))
	form := "#messages form.edit[method=post][action='/s/s2/messages/m8/edit']"
	want(t, doc, form+" input[name=_csrf]", 1)
	want(t, doc, form+" [role=alert]:not([hidden])", 1, "write something to send.")
	if text := doc.Find(form + " textarea[name=content]").Text(); text != "\nfirst" {
		t.Errorf("a browser shows %q", text) // without the first line break
	}
}

func TestPagesStandUnderABasePath(t *testing.T) {
	ctx := With(context.Background(), Layout{BasePath: "/chat/", Asset: func(name string) string { return "/static/v1/" + name }})
	for name, page := range pages() {
		var b strings.Builder
		if err := page.Render(ctx, &b); err != nil {
			t.Fatal(err)
		}
		for _, attribute := range []string{` href="/`, ` src="/`, ` action="/`, `hx-get="/`, `hx-post="/`, `hx-ws:connect="/`, `data-page="/`, `data-fetch="/`} {
			for rest := b.String(); ; {
				at := strings.Index(rest, attribute)
				if at < 0 {
					break
				}
				rest = rest[at+len(attribute)-1:]
				if !strings.HasPrefix(rest, "/chat/") {
					t.Errorf("%s: %s%.40s", name, attribute, rest)
				}
			}
		}
	}
}

func TestForkSaysWhereTheOutputIs(t *testing.T) {
	doc := parse(t, ErrorPage(Failure{Status: 404, Code: "output_not_found", SessionID: "s2", Original: "s1"}))
	want(t, doc, "h1", 1, "No such output in this session.")
	want(t, doc, "a[href='/s/s1']", 1, "Open the original session")
	want(t, doc, "a[href='/s/s2']", 1, "Back to the session")
	want(t, parse(t, ErrorFragment(Failure{Status: 422, Message: "No."})), "[data-error='No.']", 1)
}

func TestAFailureLeadsNowhereThatIsNotThere(t *testing.T) {
	for _, code := range []string{"session_not_found", "not_found"} {
		want(t, parse(t, ErrorPage(Failure{Status: 404, Code: code, SessionID: "s1"})), "a[href='/s/s1']", 0)
	}
	want(t, parse(t, ErrorPage(Failure{Status: 422, OfHistory: true})), "a[href='/history']", 1, "Back to the history")
}

// What is no menu of the accessibility tree, but a group of links and buttons, is
// not announced as one.
func TestTheSessionMenuIsAnnouncedAsAGroup(t *testing.T) {
	doc := parse(t, ChatPage(Chat{SessionID: "s1"}))
	want(t, doc, "[data-menu][aria-controls='session-menu']", 1)
	want(t, doc, "[data-menu][aria-haspopup]", 0)
	want(t, doc, "#session-menu[role=group]", 1, "An export holds the versions that are shown.")
}
