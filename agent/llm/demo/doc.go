// Package demo is the model that is built in, for a program that was told of
// no other: an OpenAI-compatible endpoint on a loopback port of the process.
// It follows a script and says so. The client, the streams, the tools and the
// store that it is reached through are the real ones, and what it quotes is
// what the tools returned.
package demo
