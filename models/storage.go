package models

// StorageSizes are the sizes of the database's files, in bytes.
type StorageSizes struct {
	Database int64
	Log      int64 // the write-ahead log
	Free     int64 // of Database: room that deletions left, and that is given back soon
}
