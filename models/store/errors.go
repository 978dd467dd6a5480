package store

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"offcut/models"

	"github.com/mattn/go-sqlite3"
	"gorm.io/gorm"
)

// describe says of an error what was being done. Trouble with the database
// itself becomes an ErrUnavailable with a sentence for people; the cause stays
// in the chain, for the log.
func describe(doing string, err error) error {
	if err == nil {
		return nil
	}
	if sentence := trouble(err); sentence != nil {
		return fmt.Errorf("%s: %w (%w)", doing, sentence, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// closedPool is the text of database/sql's error for a closed pool, which it
// does not export.
const closedPool = "sql: database is closed"

// trouble names what keeps the database from serving, or nil.
func trouble(err error) *models.Error {
	if errors.Is(err, sql.ErrConnDone) || strings.HasSuffix(err.Error(), closedPool) {
		return models.Errorf(models.ErrUnavailable, "storage_closed", "the server is shutting down; try again in a moment")
	}
	var failure sqlite3.Error
	if !errors.As(err, &failure) {
		return nil
	}
	switch failure.Code {
	case sqlite3.ErrFull:
		return models.Errorf(models.ErrUnavailable, "storage_full", "the server's disk is full; ask the admin to free some space")
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return models.Errorf(models.ErrUnavailable, "storage_busy", "the database is locked by another program; try again in a moment")
	case sqlite3.ErrReadonly, sqlite3.ErrPerm, sqlite3.ErrAuth:
		return models.Errorf(models.ErrUnavailable, "storage_read_only", "the database cannot be written; ask the admin to look at its permissions")
	case sqlite3.ErrIoErr, sqlite3.ErrCantOpen, sqlite3.ErrCorrupt, sqlite3.ErrNotADB, sqlite3.ErrNomem:
		return models.Errorf(models.ErrUnavailable, "storage_failed", "the database cannot be reached; ask the admin to look at the server's log")
	}
	return nil
}

// taken reports whether err is a value that must be unique and is not.
func taken(err error) bool {
	var failure sqlite3.Error
	return errors.As(err, &failure) &&
		(failure.ExtendedCode == sqlite3.ErrConstraintUnique || failure.ExtendedCode == sqlite3.ErrConstraintPrimaryKey)
}

// orphaned reports whether err is a row whose parent is not there.
func orphaned(err error) bool {
	var failure sqlite3.Error
	return errors.As(err, &failure) && failure.ExtendedCode == sqlite3.ErrConstraintForeignKey
}

// orMissing puts missing in the place of "no such row".
func orMissing(err error, missing *models.Error) error {
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return missing
	}
	return err
}

// changed is the error of a change that has to touch a row: missing where it
// touched none.
func changed(result *gorm.DB, missing *models.Error) error {
	if result.Error != nil {
		return result.Error
	}
	if result.RowsAffected == 0 {
		return missing
	}
	return nil
}

func noUser() *models.Error {
	return models.Errorf(models.ErrNotFound, "user_not_found", "there is no such user")
}

func noSession() *models.Error {
	return models.Errorf(models.ErrNotFound, "session_not_found", "there is no such session")
}

func noTurn() *models.Error {
	return models.Errorf(models.ErrNotFound, "turn_not_found", "there is no such turn")
}

func noMessage() *models.Error {
	return models.Errorf(models.ErrNotFound, "message_not_found", "there is no such message in this session")
}

func noCall() *models.Error {
	return models.Errorf(models.ErrNotFound, "call_not_found", "there is no such tool call in this session")
}

func noOutput() *models.Error {
	return models.Errorf(models.ErrNotFound, "output_not_found", "no such output in this session")
}
