package handlers

import "sync"

// livePerUser is how many live connections one user has at a time, each with a
// goroutine and some looks into the database every few seconds: pages that are
// open in browsers are far fewer.
const livePerUser = 50

// live counts the live connections of each user.
type live struct {
	mu     sync.Mutex
	byUser map[string]int
}

// join counts one more connection of a user, until leave is called; false, and
// nothing to leave, where they have as many as they may.
func (l *live) join(userID string) (leave func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byUser == nil {
		l.byUser = map[string]int{}
	}
	if l.byUser[userID] >= livePerUser {
		return func() {}, false
	}
	l.byUser[userID]++
	return func() { l.leave(userID) }, true
}

func (l *live) leave(userID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byUser[userID]--; l.byUser[userID] == 0 {
		delete(l.byUser, userID)
	}
}
