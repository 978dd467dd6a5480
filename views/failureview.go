package views

import (
	"context"
	"unicode"
	"unicode/utf8"
)

// outputNotFound is the code of a kept output that is not in a session.
const outputNotFound = "output_not_found"

// leadsBack reports whether there is a session to go back to. Where that is what
// is not there, the code says no more than that, or that it is a session; what
// else a session lacks has a code of its own.
func (v Failure) leadsBack() bool {
	return v.SessionID != "" && v.Code != "not_found" && v.Code != "session_not_found"
}

func (v Failure) heading(ctx context.Context) string {
	if v.Code == outputNotFound {
		return t(ctx, "failure.output")
	}
	switch v.Status {
	case 400:
		return t(ctx, "failure.400")
	case 401:
		return t(ctx, "failure.401")
	case 403:
		return t(ctx, "failure.403")
	case 404:
		return t(ctx, "failure.404")
	case 413:
		return t(ctx, "failure.413")
	case 429:
		return t(ctx, "failure.429")
	}
	if v.Status >= 500 {
		return t(ctx, "failure.500")
	}
	return t(ctx, "failure.refused")
}

// text is the sentence under the heading.
func (v Failure) text(ctx context.Context) string {
	if v.Code == outputNotFound {
		return t(ctx, "failure.output.text")
	}
	return sentence(Capital(v.Message))
}

// Capital is text that begins with a capital letter, as a sentence of its own does.
func Capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// sentence is what a script says of the failure.
func (v Failure) sentence(ctx context.Context) string {
	if text := v.text(ctx); text != "" {
		return text
	}
	return v.heading(ctx)
}
