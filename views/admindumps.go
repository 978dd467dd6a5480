package views

import "time"

// AdminDumps is the page of the requests that providers refused.
type AdminDumps struct {
	Kept  int // as many are kept at most
	Dumps []Dump
}

// Dump is one of them.
type Dump struct {
	Name, Path, SessionID, TurnID, Model, Error string
	At                                          time.Time
	Status                                      int // 0: the error came inside a stream
	Bytes                                       int64
}

// DumpPage is the page of one of them.
type DumpPage struct {
	Dump
	Text string // the beginning of the file
}

// DumpLink leads from a turn to the file about its refused request.
type DumpLink struct{ Name, Path string }
