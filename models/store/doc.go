// Package store keeps Offcut's data in one SQLite database: users, sessions,
// turns, messages, and kept outputs in pieces. It satisfies the small
// interfaces that the packages above declare for themselves.
//
// One connection writes and a pool of others reads. Exported methods open the
// transaction; unexported functions run the SQL inside it. Errors that a person
// may read are *models.Error and hold no path of the server.
package store
