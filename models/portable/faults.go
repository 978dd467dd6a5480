package portable

import (
	"cmp"
	"errors"

	"offcut/models"
)

// Fault is what is wrong at one place of a file.
type Fault struct {
	// Place is where, such as messages[3].role.
	Place string `json:"place"`
	// Reason is a part of a sentence: is …, has ….
	Reason string `json:"reason"`
}

// maxFaults is how many faults are named; all are counted.
const maxFaults = 20

// faults collects what is wrong with a file.
type faults struct {
	named []Fault
	first *models.Error // the reason of the first
	count int
}

func (f *faults) add(place string, reason *models.Error) {
	f.count++
	if f.first == nil {
		f.first = reason
	}
	if len(f.named) < maxFaults {
		f.named = append(f.named, Fault{place, reason.Message})
	}
}

// err is nil where nothing is wrong.
func (f *faults) err() error {
	if f.count == 0 {
		return nil
	}
	return Bad(f.named[0].Place, f.first, f.count).With("faults", f.named)
}

// Bad is the refusal of a file with so many faults: the first of them is at
// place; empty: it is the whole file.
func Bad(place string, reason *models.Error, count int) *models.Error {
	place = cmp.Or(place, "the file")
	return models.Errorf(models.ErrInvalid, "bad_file", "nothing was imported: %s %s; faults in the file: %d",
		models.Arg("place", place), models.Arg("reason", reason), models.Arg("count", count)).
		With("place", place).With("reason", reason.Message).With("count", count)
}

// refused is why a text cannot be stored.
func refused(err error) *models.Error {
	why := models.Errorf(models.ErrInvalid, "fault_invalid", "it is not valid")
	_ = errors.As(err, &why)
	return models.Errorf(models.ErrInvalid, "fault_refused", "cannot be taken: %s", models.Arg("why", why))
}

// misplaced is the fault of a member that belongs to messages of another role.
func misplaced(m Message) *models.Error {
	return models.Errorf(models.ErrInvalid, "fault_misplaced", "stands with a message of role %.40q", models.Arg("role", m.Role))
}

func tooLong() *models.Error { return longerThan(maxNames) }

func longerThan(most int) *models.Error {
	return models.Errorf(models.ErrInvalid, "fault_long", "has more than %d bytes", models.Arg("most", most))
}

func tooMany(most int) *models.Error {
	return models.Errorf(models.ErrInvalid, "fault_many", "has more than %d, which is all that can be imported", models.Arg("most", most))
}

func noSize() *models.Error {
	return models.Errorf(models.ErrInvalid, "fault_size", "is no number of bytes, or no range of them")
}

func notPlain() *models.Error {
	return models.Errorf(models.ErrInvalid, "fault_id", "is no id: one has at most %d letters, digits, _ and -", models.Arg("most", maxNames))
}
