package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"offcut/models"
	"offcut/models/store"
)

// adminName is the user that the first start makes.
const adminName = "admin"

// firstAdmin makes the admin of a server that has nobody yet, and returns the
// link to sign in with. The link is empty where there is another way: a token
// that is set, a password, an earlier sign-in.
func firstAdmin(ctx context.Context, db *store.Store, token, address string) (string, error) {
	admin, err := db.UserByName(ctx, adminName)
	if errors.Is(err, models.ErrNotFound) {
		if admin, err = makeAdmin(ctx, db, token != ""); err != nil || admin.ID == "" {
			return "", err
		}
	}
	if err != nil {
		return "", fmt.Errorf("first admin: %w", err)
	}
	if token != "" || admin.PasswordHash != "" || admin.LastSignInAt != nil || admin.Disabled {
		return "", nil
	}
	return newSignInLink(ctx, db, admin, address)
}

// makeAdmin makes the admin where nobody is there, or where a token needs
// them; else it returns no user.
func makeAdmin(ctx context.Context, db *store.Store, needed bool) (models.User, error) {
	if !needed {
		users, _, err := db.Users(ctx, models.Page{Limit: 1})
		if err != nil || len(users) > 0 {
			return models.User{}, err
		}
	}
	admin := models.User{ID: models.NewID(models.PrefixUser), Name: adminName, Role: models.RoleAdmin, CreatedAt: time.Now()}
	if err := db.CreateUser(ctx, admin); err != nil {
		return models.User{}, fmt.Errorf("first admin: %w", err)
	}
	return admin, nil
}
