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

// CreateToken stores an API token's hash. A hash that is there already is an
// ErrConflict.
func (s *Store) CreateToken(ctx context.Context, t models.APIToken) error {
	row := tokenRow{
		ID:       t.ID,
		UserID:   t.UserID,
		Name:     t.Name,
		Hash:     t.Hash,
		Created:  micros(t.CreatedAt),
		LastUsed: microsOrNull(t.LastUsedAt),
	}
	return s.write(ctx, "create a token for user "+t.UserID, func(tx *gorm.DB) error {
		err := tx.Create(&row).Error
		switch {
		case taken(err):
			return models.Errorf(models.ErrConflict, "token_taken", "this token exists already")
		case orphaned(err):
			return noUser()
		}
		return err
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
	row := linkRow{Hash: l.Hash, UserID: l.UserID, Expires: micros(l.ExpiresAt)}
	return s.write(ctx, "create a sign-in link for user "+l.UserID, func(tx *gorm.DB) error {
		err := tx.Create(&row).Error
		if orphaned(err) {
			return noUser()
		}
		return err
	})
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
