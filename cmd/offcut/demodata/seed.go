package demodata

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"offcut/models"
	"offcut/models/store"
)

// Options say what is made.
type Options struct {
	Seed uint64
	Days int // that the conversations lie back, at most
	// Messages of one more conversation, which is long; 0: there is none.
	Messages int
	// Owner owns a third of the conversations, and the long one: whoever looks at
	// them.
	Owner models.User
	// PasswordHash lets people sign in as the users that are made; empty: nobody
	// can.
	PasswordHash string
	Workspace    func(sessionID string) (string, error)
	Now          time.Time
}

// Made is what was made.
type Made struct{ Users, Sessions, Turns, Messages int }

// people are the users that are made.
var people = []string{"mei", "jonas", "priya", "tomas"}

// Seed plays the conversations into a database. The same seed makes the same
// conversations; ids differ.
func Seed(ctx context.Context, db *store.Store, o Options) (made Made, err error) {
	source := rand.New(rand.NewPCG(o.Seed, uint64(o.Days)))
	users, err := addPeople(ctx, db, o)
	if err != nil {
		return made, err
	}
	made.Users = len(users)
	c := &clock{at: o.Now.AddDate(0, 0, -o.Days)}
	h, err := newHouse(db, o.Workspace, c, func(most time.Duration) time.Duration { return most })
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, h.close(context.WithoutCancel(ctx))) }()
	owners := append(users, o.Owner, o.Owner)
	for _, at := range starts(source, o) {
		c.reach(at)
		t := &teller{Rand: source, day: c.Now()}
		turns, err := h.session(ctx, t, one(t, owners...))
		if err != nil {
			return made, err
		}
		made.Sessions, made.Turns = made.Sessions+1, made.Turns+turns
	}
	if o.Messages > 0 {
		made.Sessions, made.Messages = made.Sessions+1, o.Messages
		err = addLong(ctx, db, &teller{Rand: source, day: o.Now.AddDate(0, 0, -o.Days)}, o)
	}
	return made, err
}

// addPeople adds the users that are not there yet.
func addPeople(ctx context.Context, db *store.Store, o Options) (users []models.User, err error) {
	for _, name := range people {
		u, err := db.UserByName(ctx, name)
		if errors.Is(err, models.ErrNotFound) {
			u = models.User{ID: models.NewID(models.PrefixUser), Name: name, Role: models.RoleUser, PasswordHash: o.PasswordHash, CreatedAt: o.Now.AddDate(0, 0, -o.Days)}
			err = db.CreateUser(ctx, u)
		}
		if err != nil {
			return nil, fmt.Errorf("user %s: %w", name, err)
		}
		users = append(users, u)
	}
	return users, nil
}

// starts are when the conversations begin, in order: on working days between
// eight and six, on others now and then.
func starts(source *rand.Rand, o Options) (all []time.Time) {
	for back := o.Days - 1; back >= 0; back-- {
		day := o.Now.AddDate(0, 0, -back).UTC().Truncate(24 * time.Hour)
		n := source.IntN(2)
		if weekday := day.Weekday(); weekday != time.Saturday && weekday != time.Sunday {
			n = 5 + source.IntN(4)
		}
		for range n {
			at := day.Add(8*time.Hour + time.Duration(source.IntN(10*60*60))*time.Second)
			if at.Before(o.Now.Add(-15 * time.Minute)) {
				all = append(all, at)
			}
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// session plays one conversation.
func (h *house) session(ctx context.Context, t *teller, owner models.User) (turns int, err error) {
	now := h.clock.Now()
	sess := models.Session{ID: models.NewID(models.PrefixSession), OwnerID: owner.ID, CreatedAt: now, UpdatedAt: now}
	if err := h.store.CreateSession(ctx, sess); err != nil {
		return 0, err
	}
	about, as := chosen(t), one(t, cast...)
	for _, tell := range about.turns[:t.between(1, len(about.turns))] {
		if err := h.play(ctx, sess, as, tell(t)); err != nil {
			return turns, fmt.Errorf("%s: %w", about.name, err)
		}
		turns++
		h.clock.pass(time.Duration(t.between(20, 240)) * time.Second) // to read and to write
	}
	patch := models.SessionPatch{}
	switch t.IntN(12) {
	case 0:
		patch.Archived = models.Ptr(true)
	case 1:
		patch.Pinned = models.Ptr(true)
	default:
		return turns, nil
	}
	_, err = h.store.UpdateSession(ctx, owner.ID, sess.ID, patch, h.clock.Now())
	return turns, err
}

// chosen is one of the topics, the frequent ones more often.
func chosen(t *teller) topic {
	sum := 0
	for _, each := range topics {
		sum += each.often
	}
	n := t.IntN(sum)
	for _, each := range topics {
		if n -= each.often; n < 0 {
			return each
		}
	}
	return topics[0] // never: n is below the sum
}
