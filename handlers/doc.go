// Package handlers answers requests: each handler parses, authorises, calls
// and renders, and returns an error that one function turns into an answer.
//
// What a handler calls is named here as small interfaces. Package web puts the
// handlers behind addresses and middleware.
package handlers
