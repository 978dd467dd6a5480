package store

import (
	"errors"

	"offcut/models"

	"gorm.io/gorm"
)

// place is where a new turn comes to stand, and what it asks there.
type place struct {
	parent  string // the turn before it
	repeats string // the turn whose question it asks again
	content string
	hidden  bool // content is for the model alone

	attachments *string // the files that it comes with, as they are stored
}

// placeOf finds the place of a new turn.
func placeOf(tx *gorm.DB, t models.NewTurn) (place, error) {
	if t.Replaces != "" {
		return placeOfVersion(tx, t)
	}
	last, err := lastShown(tx, t.SessionID)
	if err != nil {
		return place{}, err
	}
	if t.Continues != "" {
		err = continues(last, t.Continues)
	}
	if err != nil {
		return place{}, err
	}
	at := place{parent: last.ID, content: t.Content, hidden: t.Continues != ""}
	if len(t.Attachments) > 0 {
		at.attachments, err = toJSON(t.Attachments)
	}
	return at, err
}

// placeOfVersion is the place of the turn that is replaced.
func placeOfVersion(tx *gorm.DB, t models.NewTurn) (place, error) {
	var replaced turnRow
	if err := tx.Where("session_id = ? AND id = ?", t.SessionID, t.Replaces).Take(&replaced).Error; err != nil {
		return place{}, orMissing(err, noTurn())
	}
	if err := idle(tx, t.SessionID); err != nil {
		return place{}, err
	}
	at := place{parent: replaced.ParentID, content: t.Content}
	var asked messageRow
	err := tx.Where("session_id = ? AND seq >= ?", t.SessionID, firstSeq(replaced.Seq)).Order("seq").Take(&asked).Error
	at.attachments = asked.Attachments
	if !t.Again {
		return at, err
	}
	at.content, at.hidden, at.repeats = asked.Content, asked.IsMeta, replaced.Repeats
	if at.repeats == "" {
		at.repeats = replaced.ID
	}
	return at, err
}

// lastShown is the last turn of the conversation; the zero row where there is
// none.
func lastShown(tx *gorm.DB, sessionID string) (turnRow, error) {
	var row turnRow
	err := tx.Where("session_id = ? AND shown = 1", sessionID).Order("seq DESC").Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return turnRow{}, nil
	}
	return row, err
}

// continues is the error of going on with a turn, where last is the last one of
// the conversation.
func continues(last turnRow, id string) error {
	switch state := models.State(last.State); {
	case last.ID != id:
		return models.Errorf(models.ErrConflict, "turn_not_last", "only the last answer of a conversation can be continued; retry this one instead")
	case !state.Final():
		return models.Errorf(models.ErrConflict, "turn_unfinished", "this answer has not ended; there is nothing to continue yet")
	case state == models.StateDone:
		return models.Errorf(models.ErrConflict, "turn_complete", "this answer is complete; send a message to go on")
	case last.Started == nil:
		return models.Errorf(models.ErrConflict, "turn_never_began", "this message was removed before it was answered; retry it instead")
	}
	return nil
}
