package store

import (
	"context"
	"encoding/json"

	"offcut/models"

	"gorm.io/gorm"
)

type groundRow struct {
	TurnID       string
	N            int
	OutputID     string
	Tool         string
	Title        string
	TotalBytes   int64
	OmittedBytes int64
	Complete     bool
	Running      bool
	Seen         string
	SeenBytes    int64
	Taken        string
	TakenBytes   int64
	Searched     bool
	Queried      bool
	Sought       string
	Earlier      bool
}

func (groundRow) TableName() string { return "grounds" }

func groundRowOf(turnID string, n int, g models.Ground) (groundRow, error) {
	seen, err := json.Marshal(orNone(g.Seen))
	if err != nil {
		return groundRow{}, err
	}
	taken, err := json.Marshal(orNone(g.Taken))
	if err != nil {
		return groundRow{}, err
	}
	sought, err := json.Marshal(orNone(g.Sought))
	return groundRow{
		TurnID: turnID, N: n, OutputID: g.OutputID, Tool: g.Tool, Title: g.Title,
		TotalBytes: g.TotalBytes, OmittedBytes: g.OmittedBytes, Complete: g.Complete, Running: g.Running,
		Seen: string(seen), SeenBytes: g.SeenBytes, Taken: string(taken), TakenBytes: g.TakenBytes,
		Searched: g.Searched, Queried: g.Queried, Sought: string(sought), Earlier: g.Earlier,
	}, err
}

func groundRowsOf(turnID string, grounds []models.Ground) ([]groundRow, error) {
	rows := make([]groundRow, len(grounds))
	for n, g := range grounds {
		var err error
		if rows[n], err = groundRowOf(turnID, n, g); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// stored is what a ground counts as, in bytes: its texts, and groundRoom for the
// row itself. It is what the migration that counts them has.
func (r groundRow) stored() int64 {
	return int64(groundRoom + len(r.Title) + len(r.Seen) + len(r.Taken) + len(r.Sought))
}

const groundRoom = 200

func (r groundRow) ground() (models.Ground, error) {
	g := models.Ground{
		OutputID: r.OutputID, Tool: r.Tool, Title: r.Title,
		TotalBytes: r.TotalBytes, OmittedBytes: r.OmittedBytes, Complete: r.Complete, Running: r.Running,
		SeenBytes: r.SeenBytes, TakenBytes: r.TakenBytes, Searched: r.Searched, Queried: r.Queried, Earlier: r.Earlier,
	}
	if err := json.Unmarshal([]byte(r.Seen), &g.Seen); err != nil {
		return g, err
	}
	if err := json.Unmarshal([]byte(r.Sought), &g.Sought); err != nil {
		return g, err
	}
	return g, json.Unmarshal([]byte(r.Taken), &g.Taken)
}

// orNone is a list that JSON writes as one also where it is empty.
func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// noteGrounds stores what a turn's answer rests on in the place of what was
// stored of it before. What the session keeps of an output is told as it is now.
func noteGrounds(tx *gorm.DB, sessionID, turnID string, grounds []models.Ground) error {
	if err := tx.Where("turn_id = ?", turnID).Delete(&groundRow{}).Error; err != nil {
		return err
	}
	ids := make([]string, len(grounds))
	for i, g := range grounds {
		ids[i] = g.OutputID
	}
	var kept []outputRow
	if err := tx.Where("session_id = ? AND id IN ?", sessionID, ids).Find(&kept).Error; err != nil {
		return err
	}
	byID := make(map[string]outputRow, len(kept))
	for _, o := range kept {
		byID[o.ID] = o
	}
	for n, g := range grounds {
		if o, ok := byID[g.OutputID]; ok {
			g.Tool, g.Title = o.Tool, o.Title
			g.TotalBytes, g.OmittedBytes, g.Complete, g.Running = o.TotalBytes, o.OmittedBytes, o.Complete, o.Running
		}
		row, err := groundRowOf(turnID, n, g)
		if err != nil {
			return err
		}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
	}
	return nil
}

// Grounds are what the answers of turns of a session rest on, in their order, by
// the turns. A turn whose answer rests on none has none.
func (s *Store) Grounds(ctx context.Context, sessionID string, turnIDs []string) (map[string][]models.Ground, error) {
	var rows []struct {
		Ground groundRow `gorm:"embedded"`
		Here   bool
	}
	err := s.read(ctx, "what the answers of session "+sessionID+" rest on", func(db *gorm.DB) error {
		// CROSS: from the grounds to their turns, not from all turns of the session.
		return db.Table("grounds").
			Select("grounds.*, EXISTS (SELECT 1 FROM outputs WHERE outputs.id = grounds.output_id AND outputs.session_id = turns.session_id AND outputs.deleted_at IS NULL) AS here").
			Joins("CROSS JOIN turns ON turns.id = grounds.turn_id AND turns.session_id = ?", sessionID).
			Where("grounds.turn_id IN ?", turnIDs).Order("grounds.turn_id, grounds.n").Scan(&rows).Error
	})
	if err != nil {
		return nil, err
	}
	grounds := map[string][]models.Ground{}
	for _, row := range rows {
		g, err := row.Ground.ground()
		if err != nil {
			return nil, err
		}
		g.Gone = !row.Here
		grounds[row.Ground.TurnID] = append(grounds[row.Ground.TurnID], g)
	}
	return grounds, nil
}
