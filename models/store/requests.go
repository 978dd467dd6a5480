package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"offcut/models"

	"gorm.io/gorm"
)

type requestRow struct {
	SessionID    string `gorm:"primaryKey"`
	Number       int64  `gorm:"primaryKey"`
	TurnID       string
	Model        string
	Instructions int64
	Tools        int64
	Reasoning    bool
	Messages     int
	Pruned       int
	Hidden       int
	Estimate     int64
	Tokens       int64
	Summary      bool
	At           int64
	Shown        bool `gorm:"->"` // of its turn
}

func (requestRow) TableName() string { return "requests" }

func (r requestRow) request() models.SentRequest {
	return models.SentRequest{
		SessionID: r.SessionID, Number: r.Number, TurnID: r.TurnID, Model: r.Model, Reasoning: r.Reasoning, Messages: r.Messages,
		Pruned: r.Pruned, Hidden: r.Hidden, Estimate: r.Estimate, Tokens: r.Tokens, Summary: r.Summary, At: fromMicros(r.At), Shown: r.Shown,
	}
}

// SaveRequest stores what a model is sent, as the session's next request, and
// returns its number. The first same places hold what the last stored request
// holds there; parts are the messages behind them.
func (s *Store) SaveRequest(ctx context.Context, r models.SentRequest, same int, parts []models.SentPart) (number int64, err error) {
	err = s.write(ctx, "save a request of session "+r.SessionID, func(tx *gorm.DB) error {
		row, err := requestRowOf(tx, r)
		if err != nil {
			return err
		}
		number = row.Number
		if err := tx.Omit("Shown").Create(&row).Error; err != nil {
			return err
		}
		return savePlaces(tx, r.SessionID, number, same, parts)
	})
	if orphaned(err) {
		return 0, noSession()
	}
	return number, err
}

func requestRowOf(tx *gorm.DB, r models.SentRequest) (requestRow, error) {
	row := requestRow{
		SessionID: r.SessionID, TurnID: r.TurnID, Model: r.Model, Reasoning: r.Reasoning, Messages: r.Messages,
		Pruned: r.Pruned, Hidden: r.Hidden, Estimate: r.Estimate, Summary: r.Summary, At: micros(r.At),
	}
	err := tx.Raw("SELECT coalesce(max(number), 0) + 1 FROM requests WHERE session_id = ?", r.SessionID).Scan(&row.Number).Error
	if err != nil {
		return row, err
	}
	if row.Instructions, err = sentText(tx, r.SessionID, r.System); err != nil {
		return row, err
	}
	tools, err := toJSON(r.Tools)
	if err != nil {
		return row, err
	}
	row.Tools, err = sentText(tx, r.SessionID, *tools)
	return row, err
}

// sentText is the id of a text of a session, which is stored where it is new.
func sentText(tx *gorm.DB, sessionID, content string) (int64, error) {
	digest := sha256.Sum256([]byte(content))
	var found []int64
	err := tx.Raw("SELECT id FROM sent_texts WHERE session_id = ? AND digest = ?", sessionID, digest[:]).Scan(&found).Error
	if err != nil || len(found) > 0 {
		return first(found), err
	}
	var id int64
	return id, tx.Raw("INSERT INTO sent_texts (session_id, digest, content) VALUES (?, ?, ?) RETURNING id", sessionID, digest[:], content).Scan(&id).Error
}

func first(ids []int64) int64 {
	if len(ids) == 0 {
		return 0
	}
	return ids[0]
}

// SaveRequestTokens notes how many tokens the provider counted in a request.
func (s *Store) SaveRequestTokens(ctx context.Context, sessionID string, number, tokens int64) error {
	return s.write(ctx, fmt.Sprintf("save the tokens of request %d of session %s", number, sessionID), func(tx *gorm.DB) error {
		return tx.Model(&requestRow{}).Where("session_id = ? AND number = ?", sessionID, number).Update("tokens", tokens).Error
	})
}

// withTurn is a query of requests that also tells whether their turns are shown.
func withTurn(db *gorm.DB) *gorm.DB {
	return db.Table("requests").Select("requests.*, coalesce(turns.shown, 0) AS shown").
		Joins("LEFT JOIN turns ON turns.id = requests.turn_id")
}

// Requests are what models were sent in a session up to a number, newest first and
// at most most, without instructions and tools. 0 is the last.
func (s *Store) Requests(ctx context.Context, sessionID string, upto int64, most int) ([]models.SentRequest, error) {
	var rows []requestRow
	err := s.read(ctx, "requests of session "+sessionID, func(db *gorm.DB) error {
		return withTurn(db).Where("requests.session_id = ? AND (? = 0 OR requests.number <= ?)", sessionID, upto, upto).Order("requests.number DESC").Limit(most).Find(&rows).Error
	})
	return convert(rows, requestRow.request), err
}

// Request is a request of a session by its number, with instructions and tools.
// 0 is the last one of the conversation that is shown, or else the last of all;
// none that asks for a summary.
func (s *Store) Request(ctx context.Context, sessionID string, number int64) (models.SentRequest, error) {
	var row requestRow
	var r models.SentRequest
	err := s.read(ctx, "a request of session "+sessionID, func(db *gorm.DB) error {
		var err error
		if row, err = findRequest(db, sessionID, number); err != nil {
			return err
		}
		r, err = withTexts(db, row)
		return err
	})
	return r, err
}

func findRequest(db *gorm.DB, sessionID string, number int64) (row requestRow, err error) {
	of := func() *gorm.DB { return withTurn(db).Where("requests.session_id = ?", sessionID) }
	if number > 0 {
		err = of().Where("requests.number = ?", number).Take(&row).Error
		return row, orMissing(err, noRequest())
	}
	said := func() *gorm.DB { return of().Where("requests.summary = 0").Order("requests.number DESC") }
	err = said().Where("turns.shown = 1").Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = said().Take(&row).Error
	}
	return row, orMissing(err, noRequest())
}

func noRequest() *models.Error {
	return models.Errorf(models.ErrNotFound, "request_not_found", "there is no such request to a model in this session")
}

// withTexts fills in the instructions and the tools.
func withTexts(db *gorm.DB, row requestRow) (models.SentRequest, error) {
	r := row.request()
	var texts []struct {
		ID      int64
		Content string
	}
	err := db.Table("sent_texts").Where("id IN ?", []int64{row.Instructions, row.Tools}).Find(&texts).Error
	if err != nil {
		return r, err
	}
	for _, text := range texts {
		if text.ID == row.Instructions {
			r.System = text.Content
		}
		if text.ID == row.Tools {
			if err := json.Unmarshal([]byte(text.Content), &r.Tools); err != nil {
				return r, fmt.Errorf("tools of request %d: %w", row.Number, err)
			}
		}
	}
	return r, nil
}
