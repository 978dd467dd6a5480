package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"offcut/cmd/offcut/config"
	"offcut/handlers/password"
	"offcut/models"
	"offcut/models/store"
)

// withStore opens the database for one command. A server may be running on it.
func withStore(ctx context.Context, cfg config.Config, do func(*store.Store) error) error {
	if err := makeDataDir(cfg.DataDir); err != nil {
		return err
	}
	db, err := store.Open(ctx, cfg.DataDir, store.Options{})
	if err != nil {
		return err
	}
	return errors.Join(do(db), db.Close())
}

type userAdd struct {
	Name     string `arg:"" help:"Name to sign in with."`
	Role     string `default:"user" enum:"admin,user" help:"admin or user."`
	Password string `help:"Password; without it a sign-in link that works once is printed." placeholder:"P"`
}

// Run adds the user.
func (c userAdd) Run(ctx context.Context, cfg config.Config, t terminal) error {
	if err := models.ValidateUserName(c.Name); err != nil {
		return err
	}
	hash, err := hashed(ctx, c.Password)
	if err != nil {
		return err
	}
	return withStore(ctx, cfg, func(db *store.Store) error {
		user := models.User{ID: models.NewID(models.PrefixUser), Name: c.Name, Role: models.UserRole(c.Role), PasswordHash: hash, CreatedAt: time.Now()}
		if err := db.CreateUser(ctx, user, deed(models.AuditUserAdd, user.ID, models.Deedf("user_added", "added %s as %s", models.Arg("name", c.Name), models.Arg("role", c.Role)))); err != nil {
			return err
		}
		if hash != "" {
			_, err := fmt.Fprintf(t.out, "Added %s.\n", c.Name)
			return err
		}
		link, err := newSignInLink(ctx, db, user, servedAt(cfg))
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(t.out, "Added %s. This link signs in once, within %.0f hours:\n%s\n", c.Name, models.SignInLinkAge.Hours(), link)
		return err
	})
}

// hashed is the hash of a password that may be set; of an empty one, which
// means none, it is empty.
func hashed(ctx context.Context, secret string) (string, error) {
	if secret == "" {
		return "", nil
	}
	if err := models.ValidatePassword(secret); err != nil {
		return "", err
	}
	return password.Hash(ctx, secret)
}

// deed is a line of the audit log about what was done on the command line.
func deed(action, target string, did models.Deed) models.AuditEntry {
	return did.Of(models.AuditEntry{At: time.Now(), ActorName: models.AuditActorCommandLine, Action: action, Target: target})
}

type userList struct{}

// Run lists the users.
func (userList) Run(ctx context.Context, cfg config.Config, t terminal) error {
	return withStore(ctx, cfg, func(db *store.Store) error {
		table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "NAME\tROLE\tSTATE\tADDED\tLAST SIGN-IN")
		page := models.Page{Limit: models.MaxPageLimit}
		for {
			users, next, err := db.Users(ctx, page)
			if err != nil {
				return err
			}
			for _, u := range users {
				_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", u.Name, u.Role, stateOf(u), day(&u.CreatedAt), day(u.LastSignInAt))
			}
			if next == "" {
				return table.Flush()
			}
			page.Cursor = next
		}
	})
}

func stateOf(u models.User) string {
	if u.Disabled {
		return "disabled"
	}
	return "enabled"
}

func day(at *time.Time) string {
	if at == nil {
		return "never"
	}
	return at.Local().Format(time.DateOnly)
}

type userPasswd struct {
	Name     string `arg:"" help:"Whose password."`
	Password string `help:"The password; without it, it is asked for, or read from standard input." placeholder:"P"`
}

// Run sets the password.
func (c userPasswd) Run(ctx context.Context, cfg config.Config, t terminal) error {
	return withStore(ctx, cfg, func(db *store.Store) error {
		user, err := db.UserByName(ctx, c.Name)
		if err != nil {
			return fmt.Errorf("user %s: %w", c.Name, err)
		}
		secret := c.Password
		if secret == "" {
			if secret, err = askPassword(t); err != nil {
				return err
			}
		}
		if err := models.ValidatePassword(secret); err != nil {
			return err
		}
		hash, err := hashed(ctx, secret)
		if err != nil {
			return err
		}
		if err := db.SetPassword(ctx, user.ID, hash, deed(models.AuditUserPassword, user.ID, models.Deedf("password_set", "set the password of %s", models.Arg("name", user.Name)))); err != nil {
			return err
		}
		_, err = fmt.Fprintf(t.out, "The password of %s is set. They are signed out everywhere.\n", c.Name)
		return err
	})
}

// askPassword reads a password without showing it, or one line where nobody
// sits before a terminal.
func askPassword(t terminal) (string, error) {
	if fd := int(t.in.Fd()); term.IsTerminal(fd) {
		_, _ = fmt.Fprint(t.err, "New password: ")
		secret, err := term.ReadPassword(fd)
		_, _ = fmt.Fprintln(t.err)
		if err != nil {
			return "", fmt.Errorf("read the password: %w", err)
		}
		return string(secret), nil
	}
	line, err := bufio.NewReader(t.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

type userDisable struct {
	Name string `arg:"" help:"Whom to let in no longer."`
	Undo bool   `help:"Let them in again."`
}

// Run disables the user, or enables them again.
func (c userDisable) Run(ctx context.Context, cfg config.Config, t terminal) error {
	return withStore(ctx, cfg, func(db *store.Store) error {
		user, err := db.UserByName(ctx, c.Name)
		if err != nil {
			return fmt.Errorf("user %s: %w", c.Name, err)
		}
		state, action, did := "enabled", models.AuditUserEnable, models.Deedf("user_enabled", "enabled %s", models.Arg("name", user.Name))
		if !c.Undo {
			state, action, did = "disabled", models.AuditUserDisable, models.Deedf("user_disabled", "disabled %s", models.Arg("name", user.Name))
		}
		if err := db.SetDisabled(ctx, user.ID, !c.Undo, deed(action, user.ID, did)); err != nil {
			return err
		}
		_, err = fmt.Fprintf(t.out, "%s is %s.\n", c.Name, state)
		return err
	})
}

// makeDataDir makes the data folder for its owner alone.
func makeDataDir(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	var at *fs.PathError
	if errors.As(err, &at) {
		return fmt.Errorf("OFFCUT_DATA_DIR: %q cannot be made a folder: %s: %w; it is the path of a folder that this user may write in", dir, at.Path, at.Err)
	}
	return err
}
