package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"time"

	"offcut/cmd/offcut/config"
	"offcut/models"
	"offcut/models/store"
)

type tokenCreate struct {
	User string `required:"" help:"Whom the token lets act." placeholder:"NAME"`
	Name string `default:"command line" help:"What the token is for."`
}

// Run makes a token and prints it last.
func (c tokenCreate) Run(ctx context.Context, cfg config.Config, t terminal) error {
	return withStore(ctx, cfg, func(db *store.Store) error {
		user, err := db.UserByName(ctx, c.User)
		if err != nil {
			return fmt.Errorf("user %s: %w", c.User, err)
		}
		secret, hash := models.NewSecret(models.TokenPrefix)
		token := models.APIToken{ID: models.NewID(models.PrefixToken), UserID: user.ID, Name: c.Name, Hash: hash, CreatedAt: time.Now()}
		if err := db.CreateToken(ctx, token, deed(models.AuditTokenCreate, user.ID, models.Deedf("token_made_for", "made an API token for %s", models.Arg("name", user.Name)))); err != nil {
			return err
		}
		_, err = fmt.Fprintf(t.out, "This token lets programs act as %s. It is shown this once:\n%s\n", c.User, secret)
		return err
	})
}

// newSignInLink stores a link that signs user in once, and returns its
// address.
func newSignInLink(ctx context.Context, db *store.Store, user models.User, address string) (string, error) {
	secret, hash := models.NewSecret("")
	link := models.SignInLink{Hash: hash, UserID: user.ID, ExpiresAt: time.Now().Add(models.SignInLinkAge)}
	if err := db.CreateSignInLink(ctx, link); err != nil {
		return "", err
	}
	return address + "/login?token=" + url.QueryEscape(secret), nil
}

// publicAddress is the address that people open, of a server that listens at
// addr.
func publicAddress(cfg config.Config, addr string) string {
	if cfg.PublicURL != "" {
		return cfg.PublicURL + cfg.BasePath
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "http://" + addr + cfg.BasePath
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost" // every address of the machine: this one works on it
	}
	return "http://" + net.JoinHostPort(host, port) + cfg.BasePath
}
