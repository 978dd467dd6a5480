package store

import (
	"context"
	"time"

	"offcut/models"

	"gorm.io/gorm"
)

// tokenUseStep is how exactly the last use of a token is known: noting each
// request would make each of them a write.
const tokenUseStep = time.Minute

type tokenRow struct {
	ID       string
	UserID   string
	Name     string
	Hash     string
	Created  int64  `gorm:"column:created_at"`
	LastUsed *int64 `gorm:"column:last_used_at"`
}

func (tokenRow) TableName() string { return "api_tokens" }

type linkRow struct {
	Hash    string
	UserID  string
	Expires int64 `gorm:"column:expires_at"`
}

func (linkRow) TableName() string { return "sign_in_links" }

func (r tokenRow) token() models.APIToken {
	return models.APIToken{
		ID:         r.ID,
		UserID:     r.UserID,
		Name:       r.Name,
		Hash:       r.Hash,
		CreatedAt:  fromMicros(r.Created),
		LastUsedAt: fromMicrosOrNull(r.LastUsed),
	}
}

// CreateToken stores an API token's hash. A hash that is there already is an
// ErrConflict, and so is one token more than a user may have.
func (s *Store) CreateToken(ctx context.Context, t models.APIToken, audit ...models.AuditEntry) error {
	row := tokenRow{
		ID:       t.ID,
		UserID:   t.UserID,
		Name:     t.Name,
		Hash:     t.Hash,
		Created:  micros(t.CreatedAt),
		LastUsed: microsOrNull(t.LastUsedAt),
	}
	return s.write(ctx, "create a token for user "+t.UserID, func(tx *gorm.DB) error {
		var count int64
		if err := tx.Model(&tokenRow{}).Where("user_id = ?", t.UserID).Count(&count).Error; err != nil {
			return err
		}
		if count >= models.MaxTokensPerUser {
			return models.Errorf(models.ErrConflict, "too_many_tokens",
				"there are %d tokens already, as many as one user may have; revoke one that is no longer needed", models.Arg("count", count))
		}
		err := tx.Create(&row).Error
		switch {
		case taken(err):
			return models.Errorf(models.ErrConflict, "token_taken", "this token exists already")
		case orphaned(err):
			return noUser()
		case err != nil:
			return err
		}
		return insertAudits(tx, audit)
	})
}

// Tokens are the API tokens of a user, the newest first. There are at most
// models.MaxTokensPerUser.
func (s *Store) Tokens(ctx context.Context, userID string) ([]models.APIToken, error) {
	var rows []tokenRow
	err := s.read(ctx, "list the tokens of user "+userID, func(db *gorm.DB) error {
		return db.Where("user_id = ?", userID).Order("created_at DESC").Find(&rows).Error
	})
	return convert(rows, tokenRow.token), err
}

// DeleteToken ends an API token of a user; another's is ErrNotFound.
func (s *Store) DeleteToken(ctx context.Context, userID, id string, audit ...models.AuditEntry) error {
	return s.write(ctx, "delete token "+id, func(tx *gorm.DB) error {
		result := tx.Where("user_id = ? AND id = ?", userID, id).Delete(&tokenRow{})
		if err := changed(result, models.Errorf(models.ErrNotFound, "token_not_found", "there is no such token; it may have been revoked already")); err != nil {
			return err
		}
		return insertAudits(tx, audit)
	})
}

// UserByTokenHash finds whom a token lets act. A token that is not known, and
// one of a disabled user, are both ErrUnauthorized. The use is noted, to the
// minute.
func (s *Store) UserByTokenHash(ctx context.Context, hash string) (models.User, error) {
	refused := models.Errorf(models.ErrUnauthorized, "invalid_token", "this token is not valid; make a new one")
	var token tokenRow
	var user userRow
	err := s.read(ctx, "find a token", func(db *gorm.DB) error {
		if err := db.Where("hash = ?", hash).Take(&token).Error; err != nil {
			return orMissing(err, refused)
		}
		return orMissing(db.Where("id = ? AND disabled = 0", token.UserID).Take(&user).Error, refused)
	})
	if err != nil {
		return models.User{}, err
	}
	s.noteTokenUse(ctx, token, time.Now())
	return user.user(), nil
}

// noteTokenUse is worth no failed request: trouble with it goes to the log.
func (s *Store) noteTokenUse(ctx context.Context, token tokenRow, now time.Time) {
	if token.LastUsed != nil && now.Sub(fromMicros(*token.LastUsed)) < tokenUseStep {
		return
	}
	err := s.write(ctx, "note the use of token "+token.ID, func(tx *gorm.DB) error {
		return tx.Model(&tokenRow{}).Where("id = ?", token.ID).Update("last_used_at", micros(now)).Error
	})
	if err != nil {
		s.opts.Log.WarnContext(ctx, "the last use of a token was not stored", "error", err)
	}
}

// CreateSignInLink stores a one-use link.
func (s *Store) CreateSignInLink(ctx context.Context, l models.SignInLink) error {
	return s.write(ctx, "create a sign-in link for user "+l.UserID, func(tx *gorm.DB) error { return insertLink(tx, l) })
}

func insertLink(tx *gorm.DB, l models.SignInLink) error {
	err := tx.Create(&linkRow{Hash: l.Hash, UserID: l.UserID, Expires: micros(l.ExpiresAt)}).Error
	if orphaned(err) {
		return noUser()
	}
	return err
}

// UseSignInLink uses a link up and says whom it signs in. One that is not
// known, used, expired, or of a disabled user is ErrUnauthorized.
func (s *Store) UseSignInLink(ctx context.Context, hash string, now time.Time) (models.User, error) {
	refused := models.Errorf(models.ErrUnauthorized, "invalid_link", "this sign-in link was used already or is too old; ask for a new one")
	var user userRow
	err := s.write(ctx, "use a sign-in link", func(tx *gorm.DB) error {
		var link linkRow
		if err := tx.Where("hash = ? AND expires_at > ?", hash, micros(now)).Take(&link).Error; err != nil {
			return orMissing(err, refused)
		}
		if err := tx.Where("id = ? AND disabled = 0", link.UserID).Take(&user).Error; err != nil {
			return orMissing(err, refused)
		}
		return tx.Where("hash = ?", hash).Delete(&linkRow{}).Error
	})
	if err != nil {
		return models.User{}, err
	}
	return user.user(), nil
}
