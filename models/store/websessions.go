package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"offcut/models"

	"gorm.io/gorm"
)

// bindWait is how long the sign-in of a request is kept before the request
// has ended and stored its data.
const bindWait = time.Hour

// WebSessionStore keeps the sign-ins of browsers for scs: it is its Store and
// CtxStore. Tokens are stored as their hash, so that who reads the database
// cannot sign in; leave scs's own HashTokenInStore off.
type WebSessionStore struct{ s *Store }

// WebSessions is the store of the browsers' sign-ins.
func (s *Store) WebSessions() *WebSessionStore { return &WebSessionStore{s} }

type webSessionRow struct {
	TokenHash string
	UserID    string
	Data      []byte
	Expires   int64 `gorm:"column:expires_at"`
}

func (webSessionRow) TableName() string { return "web_sessions" }

func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Bind begins the sign-in of a token, before its data is stored. user is as they
// were when they signed in: where their password was changed or they were disabled
// since, it is ErrUnauthorized. Call it with the token that scs renewed.
func (w *WebSessionStore) Bind(ctx context.Context, token string, user models.User) error {
	row := webSessionRow{TokenHash: hashToken(token), UserID: user.ID, Expires: micros(time.Now().Add(bindWait))}
	return w.s.write(ctx, "bind a web session to user "+user.ID, func(tx *gorm.DB) error {
		var now userRow
		if err := tx.Where("id = ?", user.ID).Take(&now).Error; err != nil {
			return orMissing(err, noUser())
		}
		if now.Disabled || now.PasswordHash != user.PasswordHash {
			return models.Errorf(models.ErrUnauthorized, "signed_out", "this account was changed just now; sign in again")
		}
		return tx.Create(&row).Error
	})
}

// DeleteForUser signs a user out everywhere.
func (w *WebSessionStore) DeleteForUser(ctx context.Context, userID string) error {
	return w.s.write(ctx, "sign out user "+userID, func(tx *gorm.DB) error { return signOut(tx, userID) })
}

// FindCtx returns the data of a token; false where it is not known or expired.
func (w *WebSessionStore) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	var row webSessionRow
	err := w.s.read(ctx, "find a web session", func(db *gorm.DB) error {
		return db.Where("token_hash = ? AND data IS NOT NULL AND expires_at > ?", hashToken(token), micros(time.Now())).Take(&row).Error
	})
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, false, nil
	}
	return row.Data, err == nil, err
}

// CommitCtx stores the data of a token until expiry. One that was not bound, or
// was signed out meanwhile, is passed over: a request that began before does not
// bring a sign-in back.
func (w *WebSessionStore) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	if data == nil {
		data = []byte{} // NULL means: bound, and without data yet
	}
	return w.s.write(ctx, "store a web session", func(tx *gorm.DB) error {
		return tx.Model(&webSessionRow{}).Where("token_hash = ?", hashToken(token)).
			Updates(map[string]any{"data": data, "expires_at": micros(expiry)}).Error
	})
}

// DeleteCtx forgets a token; one that is not known is no error.
func (w *WebSessionStore) DeleteCtx(ctx context.Context, token string) error {
	return w.s.write(ctx, "delete a web session", func(tx *gorm.DB) error {
		return tx.Where("token_hash = ?", hashToken(token)).Delete(&webSessionRow{}).Error
	})
}

// Find is FindCtx without a context.
func (w *WebSessionStore) Find(token string) ([]byte, bool, error) {
	return w.FindCtx(context.Background(), token)
}

// Commit is CommitCtx without a context.
func (w *WebSessionStore) Commit(token string, data []byte, expiry time.Time) error {
	return w.CommitCtx(context.Background(), token, data, expiry)
}

// Delete is DeleteCtx without a context.
func (w *WebSessionStore) Delete(token string) error {
	return w.DeleteCtx(context.Background(), token)
}

// deleteExpired forgets sign-ins and sign-in links that are over.
func deleteExpired(tx *gorm.DB, now time.Time) error {
	return errors.Join(
		tx.Where("expires_at <= ?", micros(now)).Delete(&webSessionRow{}).Error,
		tx.Where("expires_at <= ?", micros(now)).Delete(&linkRow{}).Error,
	)
}
