package store

import (
	"context"
	"time"

	"offcut/models"
)

func (s *Store) CreateUser(ctx context.Context, u models.User) error { panic("not yet") }

func (s *Store) User(ctx context.Context, id string) (models.User, error) { panic("not yet") }

func (s *Store) UserByName(ctx context.Context, name string) (models.User, error) { panic("not yet") }

func (s *Store) Users(ctx context.Context, p models.Page) ([]models.User, string, error) {
	panic("not yet")
}

func (s *Store) SetPassword(ctx context.Context, userID, hash string) error { panic("not yet") }

func (s *Store) SetDisabled(ctx context.Context, userID string, disabled bool) error {
	panic("not yet")
}

func (s *Store) RecordSignIn(ctx context.Context, userID string, at time.Time) error {
	panic("not yet")
}

func (s *Store) CreateToken(ctx context.Context, t models.APIToken) error { panic("not yet") }

func (s *Store) UserByTokenHash(ctx context.Context, hash string) (models.User, error) {
	panic("not yet")
}

func (s *Store) CreateSignInLink(ctx context.Context, l models.SignInLink) error { panic("not yet") }

func (s *Store) UseSignInLink(ctx context.Context, hash string, now time.Time) (models.User, error) {
	panic("not yet")
}

func (s *Store) AddAudit(ctx context.Context, e models.AuditEntry) error { panic("not yet") }

func (s *Store) AddAuditOnce(ctx context.Context, e models.AuditEntry) error { panic("not yet") }

func (s *Store) Audit(ctx context.Context, p models.Page) ([]models.AuditEntry, string, error) {
	panic("not yet")
}

func (s *Store) WebSessions() *WebSessionStore { panic("not yet") }

func (s *Store) CreateSession(ctx context.Context, sess models.Session) error { panic("not yet") }

func (s *Store) Session(ctx context.Context, owner, id string) (models.Session, error) {
	panic("not yet")
}

func (s *Store) AnySession(ctx context.Context, id string) (models.Session, error) { panic("not yet") }

func (s *Store) Sessions(ctx context.Context, q models.SessionQuery) ([]models.Session, string, error) {
	panic("not yet")
}

func (s *Store) SessionStats(ctx context.Context, q models.SessionQuery) ([]models.SessionStats, string, error) {
	panic("not yet")
}

func (s *Store) UpdateSession(ctx context.Context, owner, id string, p models.SessionPatch, now time.Time) (models.Session, error) {
	panic("not yet")
}

func (s *Store) TitleSession(ctx context.Context, id, title string) (bool, error) { panic("not yet") }

func (s *Store) DeleteSession(ctx context.Context, id string) error { panic("not yet") }

func (s *Store) ForkSession(ctx context.Context, owner, id, uptoMessageID string, now time.Time) (models.Session, error) {
	panic("not yet")
}

func (s *Store) Enqueue(ctx context.Context, t models.NewTurn) (models.Turn, models.Message, bool, error) {
	panic("not yet")
}

func (s *Store) Turn(ctx context.Context, owner, id string) (models.Turn, error) { panic("not yet") }

func (s *Store) AnyTurn(ctx context.Context, id string) (models.Turn, error) { panic("not yet") }

func (s *Store) Turns(ctx context.Context, sessionID string, ids []string) ([]models.Turn, error) {
	panic("not yet")
}

func (s *Store) NextQueued(ctx context.Context, sessionID string) (models.Turn, error) {
	panic("not yet")
}

func (s *Store) QueuedSessions(ctx context.Context) ([]string, error) { panic("not yet") }

func (s *Store) UnfinishedTurns(ctx context.Context, owner string) (int, error) { panic("not yet") }

func (s *Store) StartTurn(ctx context.Context, id string, now time.Time) (models.Turn, error) {
	panic("not yet")
}

func (s *Store) SaveTurn(ctx context.Context, t models.Turn) error { panic("not yet") }

func (s *Store) FinishTurn(ctx context.Context, t models.Turn) error { panic("not yet") }

func (s *Store) RemoveQueuedTurn(ctx context.Context, id string) error { panic("not yet") }

func (s *Store) AppendMessage(ctx context.Context, m models.Message) (models.Message, error) {
	panic("not yet")
}

func (s *Store) SaveMessage(ctx context.Context, m models.Message) error { panic("not yet") }

func (s *Store) AppendResults(ctx context.Context, msgs []models.Message, reads []models.OutputRead) error {
	panic("not yet")
}

func (s *Store) Messages(ctx context.Context, q models.MessageQuery) ([]models.Message, string, error) {
	panic("not yet")
}

func (s *Store) Message(ctx context.Context, sessionID, id string) (models.Message, error) {
	panic("not yet")
}

func (s *Store) Transcript(ctx context.Context, sessionID, turnID string) ([]models.Message, error) {
	panic("not yet")
}

func (s *Store) Call(ctx context.Context, sessionID, callID string) (models.ToolCall, *models.Message, error) {
	panic("not yet")
}

func (s *Store) CallIDs(ctx context.Context, sessionID string, ids []string) (map[string]bool, error) {
	panic("not yet")
}

func (s *Store) InterruptRunning(ctx context.Context, now time.Time, result string) error {
	panic("not yet")
}

func (s *Store) CreateOutput(ctx context.Context, o models.RetainedOutput) error { panic("not yet") }

func (s *Store) WriteOutput(ctx context.Context, o models.RetainedOutput, w models.OutputWrite) error {
	panic("not yet")
}

func (s *Store) Output(ctx context.Context, sessionID, id string) (models.RetainedOutput, error) {
	panic("not yet")
}

func (s *Store) ReadOutput(ctx context.Context, sessionID, id string, stream models.OutputStream, offset int64, n int) ([]byte, error) {
	panic("not yet")
}

func (s *Store) DropOutput(ctx context.Context, sessionID, id string) error { panic("not yet") }

func (s *Store) RunningOutputs(ctx context.Context) ([]models.RetainedOutput, error) {
	panic("not yet")
}

func (s *Store) Outputs(ctx context.Context, sessionID string, p models.Page) ([]models.RetainedOutput, string, error) {
	panic("not yet")
}

func (s *Store) OutputByCall(ctx context.Context, sessionID, callID string) (models.RetainedOutput, error) {
	panic("not yet")
}

func (s *Store) DeleteOutput(ctx context.Context, sessionID, id string, now time.Time) error {
	panic("not yet")
}

func (s *Store) AddReads(ctx context.Context, reads []models.OutputRead) error { panic("not yet") }

func (s *Store) Reads(ctx context.Context, sessionID, outputID string) ([]models.OutputRead, error) {
	panic("not yet")
}

func (s *Store) StorageUsed(ctx context.Context, owner string) (int64, error) { panic("not yet") }

func (w *WebSessionStore) Bind(ctx context.Context, token, userID string) error { panic("not yet") }

func (w *WebSessionStore) DeleteForUser(ctx context.Context, userID string) error { panic("not yet") }

func (w *WebSessionStore) Delete(token string) error { panic("not yet") }

func (w *WebSessionStore) Find(token string) ([]byte, bool, error) { panic("not yet") }

func (w *WebSessionStore) Commit(token string, b []byte, expiry time.Time) error { panic("not yet") }

func (w *WebSessionStore) DeleteCtx(ctx context.Context, token string) error { panic("not yet") }

func (w *WebSessionStore) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	panic("not yet")
}

func (w *WebSessionStore) CommitCtx(ctx context.Context, token string, b []byte, expiry time.Time) error {
	panic("not yet")
}

// WebSessionStore keeps the sign-ins of browsers.
type WebSessionStore struct{}
