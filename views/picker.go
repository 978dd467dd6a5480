package views

// Picker chooses the model of a session, or of one that a first message begins.
type Picker struct {
	SessionID string   // empty: of a new chat
	Chosen    string   // the name of the model that answers
	Names     []string // those to choose from
	// Gone: the chosen one is not among them any more; nothing is answered
	// until another one is chosen.
	Gone bool
}

// choice reports whether there is something to choose.
func (v Picker) choice() bool { return len(v.Names) > 1 || v.Gone }

// pickerForm is the id of the form that the picker of a session belongs to: it
// stands within the composer, whose form it is no part of.
const pickerForm = "model-form"
