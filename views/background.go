package views

// Behind are the commands of a session that run in the background.
type Behind struct {
	SessionID string
	Commands  []MovedNote
}
