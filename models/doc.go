// Package models holds the words of Offcut as plain structs: users, sessions,
// messages, turns, tool calls, retained outputs, and the kinds of errors that
// every layer shares. It imports nothing but the standard library, so that
// each other package can depend on it.
package models
