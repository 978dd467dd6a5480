// Package llm holds what every provider's client shares: the transport that
// asks a busy or failing server again before it has answered. The clients
// themselves are the packages below it.
package llm
