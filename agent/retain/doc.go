// Package retain keeps what tools return. It bounds what a command may hold in
// memory while it prints without end, decides what stands in the preview that
// a model is shown, keeps the rest with the session, and reads it back in
// pages and by search.
//
// Most of it is pure: Capture, the preview, the terminal and the hex dump do
// no I/O. Keeper, Recording and Reader join them to a Store.
package retain
