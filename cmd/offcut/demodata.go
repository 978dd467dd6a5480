package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"offcut/cmd/offcut/config"
	"offcut/cmd/offcut/demodata"
	"offcut/models"
	"offcut/models/store"
)

type demoData struct {
	Seed     uint64 `default:"1" help:"The same seed makes the same conversations."`
	Weeks    int    `default:"5" help:"Weeks that the conversations lie back, 1 to 26."`
	Messages int    `default:"0" help:"Add one long conversation of so many messages, up to 100000." placeholder:"N"`
	Password string `help:"Password of the users that are made; without it nobody can sign in as them." placeholder:"P"`
	Add      bool   `help:"Add to a data folder that has conversations already."`
}

// Run fills the data folder. It refuses one in which somebody works, or worked.
func (c demoData) Run(ctx context.Context, cfg config.Config, t terminal) (err error) {
	switch {
	case c.Weeks < 1 || c.Weeks > 26:
		return usageError{fmt.Errorf("--weeks: %d is not accepted; give a number from 1 to 26", c.Weeks)}
	case c.Messages < 0 || c.Messages > 100_000:
		return usageError{fmt.Errorf("--messages: %d is not accepted; give a number from 0 to 100000", c.Messages)}
	}
	hash, err := hashed(ctx, c.Password)
	if err != nil {
		return err
	}
	a := NewApp(cfg, slog.New(slog.DiscardHandler), io.Discard)
	defer func() { err = errors.Join(err, a.release()) }()
	if err := a.lockDataDir(); err != nil {
		return err
	}
	db, folders, err := a.open(ctx)
	if err != nil {
		return err
	}
	if err := c.accepts(ctx, db, cfg.DataDir); err != nil {
		return err
	}
	admin, err := ownerOfDemo(ctx, db)
	if err != nil {
		return err
	}
	made, err := demodata.Seed(ctx, db, demodata.Options{
		Seed: c.Seed, Days: 7 * c.Weeks, Messages: c.Messages, Owner: admin, PasswordHash: hash, Workspace: folders.Folder, Now: time.Now(),
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.out, "Made %d users and %d conversations with %d answers in %s. A part of them belongs to %s.\n",
		made.Users, made.Sessions, made.Turns, cfg.DataDir, admin.Name)
	return err
}

// accepts refuses a folder with conversations in it, unless they are to be added
// to.
func (c demoData) accepts(ctx context.Context, db *store.Store, dir string) error {
	if c.Add {
		return nil
	}
	sessions, _, err := db.Sessions(ctx, models.SessionQuery{Page: models.Page{Limit: 1}})
	if err != nil || len(sessions) == 0 {
		return err
	}
	return fmt.Errorf("the data folder %s has conversations already, and made-up ones would stand among them; "+
		"choose another folder with --data-dir, or say --add", dir)
}

// ownerOfDemo is the admin, who is made where there is nobody yet; else the first
// user.
func ownerOfDemo(ctx context.Context, db *store.Store) (models.User, error) {
	admin, err := db.UserByName(ctx, adminName)
	if !errors.Is(err, models.ErrNotFound) {
		return admin, err
	}
	if admin, err = makeAdmin(ctx, db, false); err != nil || admin.ID != "" {
		return admin, err
	}
	users, _, err := db.Users(ctx, models.Page{Limit: 1})
	if err != nil {
		return models.User{}, err
	}
	return users[0], nil // makeAdmin found somebody
}
