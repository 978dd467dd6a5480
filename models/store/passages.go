package store

import (
	"context"
	"errors"
	"time"

	"offcut/models"

	"gorm.io/gorm"
)

type passageRow struct {
	SessionID  string
	CallID     string
	OutputID   *string
	Day        string
	Tool       string
	Model      string
	Digest     int64
	Produced   int64
	Captured   int64
	Retained   int64
	Shown      int64
	Sent       *int64
	Recovered  int64
	Truncated  bool
	Incomplete bool
	Failed     bool
	Repaired   bool
	Refused    bool
	Rerun      bool
	Consulted  bool
}

func (passageRow) TableName() string { return "passages" }

// passed notes how a result that was appended has passed the layers. Triggers
// of the database sum it up.
func passed(tx *gorm.DB, m models.Message) error {
	var at callRow
	err := tx.Where("session_id = ? AND call_id = ?", m.SessionID, m.ToolCallID).Take(&at).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil // of no call that anybody made
	}
	if err != nil {
		return err
	}
	call, err := callIn(tx, at)
	if err != nil {
		return err
	}
	return passedAs(tx, m, call)
}

// passedAs is passed of a result whose call is known.
func passedAs(tx *gorm.DB, m models.Message, call models.ToolCall) error {
	row, err := passageRowOf(tx, m, call)
	if err != nil {
		return err
	}
	if err := tx.Create(&row).Error; err != nil {
		return err
	}
	if read := call.Reads(); read != "" && !m.Metadata.IsError {
		return consult(tx, m.SessionID, read)
	}
	return nil
}

func passageRowOf(tx *gorm.DB, m models.Message, call models.ToolCall) (passageRow, error) {
	meta := m.Metadata
	if meta == nil {
		meta = &models.ResultMetadata{}
	}
	gaps, err := gapsOf(tx, m.SessionID, meta.OutputID)
	if err != nil {
		return passageRow{}, err
	}
	p := models.PassageOf(m, gaps)
	// A page of a kept copy or of a file, and the first hits of a search, are what
	// was asked for, however much follows them.
	asked := meta.PageTotal != nil || p.Hidden() == 0 && (call.Reads() != "" || meta.FileHasMore != nil)
	row := passageRow{
		SessionID: m.SessionID, CallID: m.ToolCallID, Day: m.CreatedAt.UTC().Format(time.DateOnly), Digest: call.Digest(),
		Produced: p.Produced, Captured: p.Captured, Retained: p.Retained, Shown: p.Shown, Sent: p.Sent,
		Truncated: meta.Truncated && !asked,
		// That a copy lacks bytes was counted when it was made.
		Incomplete: meta.Complete != nil && !*meta.Complete && (call.Reads() == "" || meta.OutputID != ""),
		Failed:     meta.Retention == models.RetentionFailed, Repaired: meta.ArgumentsTruncated, Refused: meta.ArgumentsRefused,
	}
	if meta.OutputID != "" {
		row.OutputID = &meta.OutputID
	}
	if row.Tool, err = figureTool(tx, call.Name, meta.UnknownTool); err != nil {
		return row, err
	}
	if row.Rerun, err = askedAgain(tx, m.SessionID, row.Digest); err != nil {
		return row, err
	}
	return row, tx.Model(&turnRow{}).Where("id = ?", m.TurnID).Pluck("model", &row.Model).Error
}

// askedAgain reports whether the same was asked before, and its result was cut. In
// a version of the conversation that is not shown it was not; and once a file was
// written since, it may come to something else.
func askedAgain(tx *gorm.DB, sessionID string, digest int64) (bool, error) {
	var cut []string
	err := tx.Raw(`SELECT call_id FROM passages AS cut WHERE session_id = ? AND digest = ? AND truncated = 1
		AND NOT EXISTS (SELECT 1 FROM calls JOIN turns ON turns.id = calls.turn_id
			WHERE calls.session_id = cut.session_id AND calls.call_id = cut.call_id AND turns.shown = 0)
		AND NOT EXISTS (SELECT 1 FROM messages AS result
			JOIN messages AS later ON later.session_id = result.session_id AND later.seq > result.seq
			JOIN passages AS written ON written.session_id = later.session_id AND written.call_id = later.tool_call_id
			WHERE result.session_id = cut.session_id AND result.tool_call_id = cut.call_id AND written.tool IN ('write_file', 'edit_file'))
		LIMIT 1`, sessionID, digest).Scan(&cut).Error
	return len(cut) > 0, err
}

// gapsOf are the gaps of a kept copy; none where there is no copy.
func gapsOf(tx *gorm.DB, sessionID, outputID string) ([]models.Gap, error) {
	if outputID == "" {
		return nil, nil
	}
	var row outputRow
	err := tx.Select("gaps").Where("session_id = ? AND id = ?", sessionID, outputID).Limit(1).Find(&row).Error
	if err != nil {
		return nil, err
	}
	var gaps []models.Gap
	return gaps, fromJSON(row.Gaps, &gaps)
}

// The bounds of the names that figures are kept under.
const (
	maxFigureTools   = 500
	maxFigureToolLen = 128 // bytes; providers take names of 64
)

// figureTool is the name that the figures of a tool are kept under.
func figureTool(tx *gorm.DB, name string, unknown bool) (string, error) {
	if unknown || name == "" || len(name) > maxFigureToolLen {
		return models.OtherTools, nil
	}
	var found []int64
	if err := tx.Table("figure_tools").Where("name = ?", name).Pluck("n", &found).Error; err != nil || len(found) > 0 {
		return name, err
	}
	var count int64
	if err := tx.Raw("SELECT coalesce(max(n), 0) FROM figure_tools").Scan(&count).Error; err != nil {
		return "", err
	}
	if count >= maxFigureTools {
		return models.OtherTools, nil
	}
	return name, tx.Exec("INSERT INTO figure_tools (name) VALUES (?)", name).Error
}

// consult notes that the copy of a cut result was read, searched or queried.
func consult(tx *gorm.DB, sessionID, outputID string) error {
	return tx.Model(&passageRow{}).Where("session_id = ? AND output_id = ? AND truncated = 1 AND consulted = 0", sessionID, outputID).
		Update("consulted", true).Error
}

// recovered counts anew how many of the bytes that a result had hidden the model
// was shown later.
func recovered(tx *gorm.DB, output outputRow, outputID string) error {
	sessionID := output.SessionID
	var row passageRow
	err := tx.Select("call_id", "recovered", "retained", "shown").Where("session_id = ? AND output_id = ?", sessionID, outputID).Limit(1).Find(&row).Error
	if err != nil || row.CallID == "" {
		return err
	}
	var reads []readRow
	err = tx.Select("start_byte", "end_byte").Where("output = ? AND kind <> ?", output.Seq, models.ReadPreview).Find(&reads).Error
	if err != nil {
		return err
	}
	read := convert(reads, func(r readRow) models.Range { return models.Range{Start: r.Start, End: r.End} })
	n, err := readAgain(tx, sessionID, outputID, row, read)
	if err != nil {
		return err
	}
	if n == row.Recovered {
		return nil
	}
	return tx.Model(&passageRow{}).Where("session_id = ? AND call_id = ?", sessionID, row.CallID).Update("recovered", n).Error
}

// readAgain is how many of the bytes that a result hides are in ranges that were
// read. Which ones a script was shown of the result of a call of its own is
// known no longer: of that so many count as were read, up to all that it hides.
func readAgain(tx *gorm.DB, sessionID, outputID string, row passageRow, read []models.Range) (int64, error) {
	var results []messageRow
	err := tx.Select("id", "metadata").Where("session_id = ? AND tool_call_id = ?", sessionID, row.CallID).Limit(1).Find(&results).Error
	if err != nil {
		return 0, err
	}
	if len(results) == 0 {
		return min(models.Length(models.MergeRanges(read)), row.Retained-row.Shown), nil
	}
	m, err := results[0].message()
	if err != nil || m.Metadata == nil {
		return row.Recovered, err
	}
	gaps, err := gapsOf(tx, sessionID, outputID)
	return models.Length(models.Intersect(m.Metadata.HiddenRanges(gaps), read)), err
}

// notSent is what Sent tells of a result of which no reply has proved that it
// was sent.
const notSent int64 = -2

// Sent tells how many bytes of each result of a session the model's last request
// held: models.SentWhole where that is all of its body, and less than that where
// no request with it was proved. Results that were stored before they were
// counted are left out.
func (s *Store) Sent(ctx context.Context, sessionID string) (map[string]int64, error) {
	var rows []passageRow
	err := s.read(ctx, "what was sent of session "+sessionID, func(db *gorm.DB) error {
		return db.Select("call_id", "shown", "sent").Where("session_id = ?", sessionID).Find(&rows).Error
	})
	sent := make(map[string]int64, len(rows))
	for _, row := range rows {
		switch {
		case row.Sent == nil:
			sent[row.CallID] = notSent
		case *row.Sent == row.Shown:
			sent[row.CallID] = models.SentWhole
		default:
			sent[row.CallID] = *row.Sent
		}
	}
	return sent, err
}

// Held is how many bytes of a result's body the model's last request held, and how
// many the body shows; the same where no request with it was proved.
func (s *Store) Held(ctx context.Context, sessionID, callID string) (held, shown int64, err error) {
	var row passageRow
	err = s.read(ctx, "what was sent of call "+callID, func(db *gorm.DB) error {
		return db.Select("shown", "sent").Where("session_id = ? AND call_id = ?", sessionID, callID).Limit(1).Find(&row).Error
	})
	if row.Sent == nil {
		return row.Shown, row.Shown, err
	}
	return *row.Sent, row.Shown, err
}

// noteSent stores what a request held of results.
func noteSent(tx *gorm.DB, sessionID string, sent map[string]int64) error {
	for callID, n := range sent {
		err := tx.Exec("UPDATE passages SET sent = CASE WHEN ? < 0 THEN shown ELSE min(shown, ?) END WHERE session_id = ? AND call_id = ?",
			n, n, sessionID, callID).Error
		if err != nil {
			return err
		}
	}
	return nil
}
