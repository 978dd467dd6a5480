package store

import (
	"context"
	"strings"
	"time"

	"offcut/models"

	"gorm.io/gorm"
)

type userRow struct {
	ID           string
	Name         string
	NameKey      string
	Role         string
	PasswordHash string
	Disabled     bool
	Created      int64  `gorm:"column:created_at"`
	LastSignIn   *int64 `gorm:"column:last_sign_in_at"`
	Language     string
	Theme        string
	PreviewLines int
	Thoughts     bool
	Notify       bool
	Unmarked     bool
}

func (userRow) TableName() string { return "users" }

func (r userRow) user() models.User {
	return models.User{
		ID:           r.ID,
		Name:         r.Name,
		Role:         models.UserRole(r.Role),
		PasswordHash: r.PasswordHash,
		Disabled:     r.Disabled,
		CreatedAt:    fromMicros(r.Created),
		LastSignInAt: fromMicrosOrNull(r.LastSignIn),
		Settings: models.Settings{
			Language:     r.Language,
			Theme:        models.Theme(r.Theme),
			PreviewLines: r.PreviewLines,
			Thoughts:     r.Thoughts,
			Notify:       r.Notify,
			Unmarked:     r.Unmarked,
		},
	}
}

// nameKey is what must be unique of a name.
func nameKey(name string) string { return strings.ToLower(name) }

// CreateUser adds a user, who has no settings yet, and writes the lines of the
// audit log. A name that differs from another's only in upper and lower case, or
// that looks like another's, is taken: ErrConflict.
func (s *Store) CreateUser(ctx context.Context, u models.User, audit ...models.AuditEntry) error {
	row := userRow{
		ID:           u.ID,
		Name:         u.Name,
		NameKey:      nameKey(u.Name),
		Role:         string(u.Role),
		PasswordHash: u.PasswordHash,
		Disabled:     u.Disabled,
		Created:      micros(u.CreatedAt),
		LastSignIn:   microsOrNull(u.LastSignInAt),
	}
	return s.write(ctx, "create user "+u.Name, func(tx *gorm.DB) error {
		if err := notTakenFor(tx, u.Name); err != nil {
			return err
		}
		err := tx.Create(&row).Error
		if taken(err) {
			return models.Errorf(models.ErrConflict, "name_taken", "there is a user named %q already; choose another name", models.Arg("name", u.Name))
		}
		if err != nil {
			return err
		}
		return insertAudits(tx, audit)
	})
}

// notTakenFor refuses a name that somebody would take for another's. Users are
// few, and seldom added.
func notTakenFor(tx *gorm.DB, name string) error {
	var names []string
	if err := tx.Model(&userRow{}).Pluck("name", &names).Error; err != nil {
		return err
	}
	shape := models.NameShape(name)
	for _, other := range names {
		if models.NameShape(other) == shape && nameKey(other) != nameKey(name) {
			return models.Errorf(models.ErrConflict, "name_looks_alike",
				"%q looks like the name of another user, %q, but has other letters; choose another name", name, models.Arg("other", other))
		}
	}
	return nil
}

// User finds a user by id, disabled ones too.
func (s *Store) User(ctx context.Context, id string) (models.User, error) {
	return s.userWhere(ctx, "user "+id, "id = ?", id)
}

// UserByName finds a user by name, in whatever case it is written.
func (s *Store) UserByName(ctx context.Context, name string) (models.User, error) {
	return s.userWhere(ctx, "user by name", "name_key = ?", nameKey(name))
}

func (s *Store) userWhere(ctx context.Context, doing, condition string, arg string) (models.User, error) {
	var row userRow
	err := s.read(ctx, doing, func(db *gorm.DB) error {
		return orMissing(db.Where(condition, arg).Take(&row).Error, noUser())
	})
	if err != nil {
		return models.User{}, err
	}
	return row.user(), nil
}

// Users lists the users by name.
func (s *Store) Users(ctx context.Context, p models.Page) ([]models.User, string, error) {
	after := ""
	if err := decodeCursor("users", p.Cursor, &after); err != nil {
		return nil, "", err
	}
	limit := p.Clamped()
	var rows []userRow
	err := s.read(ctx, "list users", func(db *gorm.DB) error {
		return db.Where("name_key > ?", after).Order("name_key").Limit(limit + 1).Find(&rows).Error
	})
	if err != nil {
		return nil, "", err
	}
	rows, next := cutPage(rows, limit, func(last userRow) string { return encodeCursor("users", last.NameKey) })
	return convert(rows, userRow.user), next, nil
}

// RecordSignIn notes when a user last signed in.
func (s *Store) RecordSignIn(ctx context.Context, userID string, at time.Time) error {
	return s.write(ctx, "record the sign-in of user "+userID, func(tx *gorm.DB) error {
		return changed(tx.Model(&userRow{}).Where("id = ?", userID).Update("last_sign_in_at", micros(at)), noUser())
	})
}

// convert makes the words of the product out of rows. It never returns nil, so
// that an empty list is an empty list in JSON too.
func convert[Row, T any](rows []Row, one func(Row) T) []T {
	list := make([]T, 0, len(rows))
	for _, row := range rows {
		list = append(list, one(row))
	}
	return list
}
