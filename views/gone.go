package views

// Why a session is no longer there: keys of the catalogue, because each browser
// is told in its own language.
const (
	GoneDeleted   = "gone.deleted"
	GoneByAdmin   = "gone.deleted.admin"
	GoneByPolicy  = "gone.deleted.retention"
	GoneSignedOut = "gone.signedout"
)
