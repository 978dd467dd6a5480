package models

import "slices"

// Settings are what a user chose for their own pages. The zero value is what
// somebody has who never chose.
type Settings struct {
	// Language is a tag of the catalogue; empty: what the browser wishes.
	Language string
	Theme    Theme
	// PreviewLines are how many lines of a tool's output are shown before its
	// card is opened: one of PreviewLineChoices.
	PreviewLines int
	// Thoughts: the model's reasoning is shown unfolded.
	Thoughts bool
	// Notify: the browser tells when an answer in a hidden tab has ended or
	// waits for an approval.
	Notify bool
	// Unmarked: answers that say that something is absent, although the model has
	// not read all that it could have, are not marked.
	Unmarked bool
}

// Theme is how the pages are coloured.
type Theme string

// The themes. Of somebody who never chose it is what their browser remembers.
const (
	ThemeUnset  Theme = ""
	ThemeSystem Theme = "system"
	ThemeLight  Theme = "light"
	ThemeDark   Theme = "dark"
)

// PreviewLineChoices are the numbers of lines to choose from.
var PreviewLineChoices = []int{0, 10, 50}

// Validate refuses what is none of the choices. The languages are the
// interface's to know.
func (s Settings) Validate() error {
	if !slices.Contains([]Theme{ThemeUnset, ThemeSystem, ThemeLight, ThemeDark}, s.Theme) {
		return Errorf(ErrInvalid, "unknown_theme", "a theme is system, light or dark")
	}
	if !slices.Contains(PreviewLineChoices, s.PreviewLines) {
		return Errorf(ErrInvalid, "unknown_preview", "the lines of a preview are one of %v", PreviewLineChoices)
	}
	return nil
}
