// Package demodata fills a data folder with conversations that look like those of
// a team over some weeks, for demonstrations and for trying things out.
//
// The conversations are played, not written down: a scripted model asks for tools
// in the program's own loop, scripted tools return what they would, and all that
// lies between is the program: what is shown, kept, read again, counted and sent
// is as it would be. Only the clock is set.
package demodata
