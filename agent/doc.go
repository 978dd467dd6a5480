// Package agent is the agent itself: the loop that asks a model, runs the
// tools it calls and hands the results back, and the few types that models and
// tools are written against. It knows no provider, no database and no browser;
// packages below it satisfy its interfaces.
package agent
