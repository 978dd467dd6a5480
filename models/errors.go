package models

import (
	"errors"
	"fmt"
	"time"
)

// The kinds of errors. A layer wraps one of them, and handlers alone turn a
// kind into a status code.
var (
	// ErrNotFound is what is not there, and what belongs to somebody else:
	// the two are never told apart.
	ErrNotFound = errors.New("not found")
	// ErrMalformed is a request that cannot be understood.
	ErrMalformed = errors.New("malformed")
	// ErrInvalid is a request that is understood and refused.
	ErrInvalid = errors.New("invalid")
	// ErrUnauthorized is a request without a valid sign-in.
	ErrUnauthorized = errors.New("not signed in")
	// ErrForbidden is a request by somebody without the right.
	ErrForbidden = errors.New("not allowed")
	// ErrConflict is a change that what is stored does not permit now.
	ErrConflict = errors.New("conflict")
	// ErrTooLarge is a request, upload or store over its limit.
	ErrTooLarge = errors.New("too large")
	// ErrLimited is a request refused for now: too many of them.
	ErrLimited = errors.New("too many requests")
	// ErrUnavailable is a part that cannot serve now, such as a full disk.
	ErrUnavailable = errors.New("unavailable")
)

// Error is an error that a person may read. Its message is a sentence that
// says what happened and what to do next; it never holds a path of the server
// or a secret.
type Error struct {
	// Kind is one of the sentinels of this package.
	Kind error
	// Code names the case for programs, in snake_case; it does not change.
	Code string
	// Message is the sentence for people.
	Message string
	// Details are further members of the problem document, such as the
	// nearest character boundaries of a refused offset.
	Details map[string]any
	// Args are what the message names, for the same sentence in another language,
	// which is found by Code.
	Args map[string]any
	// RetryAfter says when to try again; zero where that is not known.
	RetryAfter time.Duration
}

// Errorf makes an Error with a formatted message, in English. An argument that
// other languages need too is given a name by Arg.
func Errorf(kind error, code, format string, args ...any) *Error {
	e := &Error{Kind: kind, Code: code, Message: fmt.Sprintf(format, args...)}
	for _, arg := range args {
		if named, ok := arg.(Named); ok {
			if e.Args == nil {
				e.Args = map[string]any{}
			}
			e.Args[named.Name] = named.Value
		}
	}
	return e
}

// Named is an argument of Errorf that has a name. It is written as its value is.
type Named struct {
	Name  string
	Value any
}

// Arg names an argument of Errorf.
func Arg(name string, value any) Named { return Named{name, value} }

// Format implements fmt.Formatter.
func (n Named) Format(to fmt.State, verb rune) { fmt.Fprintf(to, fmt.FormatString(to, verb), n.Value) }

// With adds a detail and returns the error itself.
func (e *Error) With(key string, value any) *Error {
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	e.Details[key] = value
	return e
}

func (e *Error) Error() string { return e.Message }

// Told is what the error says in English, and what it takes to say it in another
// language. An argument that is an error itself is told the same way.
func (e *Error) Told() (code, english string, args map[string]any) { return e.Code, e.Message, e.Args }

// Unwrap makes errors.Is find the kind.
func (e *Error) Unwrap() error { return e.Kind }
