package store

import (
	"fmt"

	"offcut/models"
)

type outputRow struct {
	Seq           int64 `gorm:"primaryKey"`
	ID            string
	SessionID     string
	OwnerID       string
	TurnID        string
	CallID        string
	Tool          string
	Title         string
	Running       bool
	TotalBytes    int64
	Complete      bool
	CapturedBytes int64
	OmittedBytes  int64
	ReplacedBytes int64
	Binary        bool
	SHA256        string `gorm:"column:sha256"`
	RawBytes      int64
	Original      string
	Gaps          *string
	Created       int64  `gorm:"column:created_at"`
	Ended         *int64 `gorm:"column:ended_at"`
	Deleted       *int64 `gorm:"column:deleted_at"`
	Background    bool
	CommandEnd    *string
	// What is stored of each stream, in bytes. stored_bytes, their sum, is the
	// database's own column.
	TextStored  int64
	RawStored   int64
	SpillStored int64
}

func (outputRow) TableName() string { return "outputs" }

func (r outputRow) stored() int64 { return r.TextStored + r.RawStored + r.SpillStored }

func (r outputRow) output() (models.RetainedOutput, error) {
	o := models.RetainedOutput{
		ID:            r.ID,
		SessionID:     r.SessionID,
		TurnID:        r.TurnID,
		CallID:        r.CallID,
		Tool:          r.Tool,
		Title:         r.Title,
		Running:       r.Running,
		TotalBytes:    r.TotalBytes,
		Complete:      r.Complete,
		CapturedBytes: r.CapturedBytes,
		OmittedBytes:  r.OmittedBytes,
		ReplacedBytes: r.ReplacedBytes,
		Binary:        r.Binary,
		SHA256:        r.SHA256,
		RawBytes:      r.RawBytes,
		Original:      r.Original,
		CreatedAt:     fromMicros(r.Created),
		EndedAt:       fromMicrosOrNull(r.Ended),
		DeletedAt:     fromMicrosOrNull(r.Deleted),
		Background:    r.Background,
	}
	if err := fromJSON(r.CommandEnd, &o.End); err != nil {
		return o, fmt.Errorf("end of the command of output %s: %w", r.ID, err)
	}
	if err := fromJSON(r.Gaps, &o.Gaps); err != nil {
		return o, fmt.Errorf("gaps of output %s: %w", r.ID, err)
	}
	return o, nil
}

// describeBy takes over from o what may change of an output while it is
// written.
func (r *outputRow) describeBy(o models.RetainedOutput) error {
	r.Title = o.Title
	r.Running = o.Running
	r.TotalBytes = o.TotalBytes
	r.Complete = o.Complete
	r.CapturedBytes = o.CapturedBytes
	r.OmittedBytes = o.OmittedBytes
	r.ReplacedBytes = o.ReplacedBytes
	r.Binary = o.Binary
	r.SHA256 = o.SHA256
	r.RawBytes = o.RawBytes
	r.Original = o.Original
	r.Ended = microsOrNull(o.EndedAt)
	r.Background = o.Background
	r.Gaps, r.CommandEnd = nil, nil
	var err error
	if len(o.Gaps) > 0 {
		if r.Gaps, err = toJSON(o.Gaps); err != nil {
			return err
		}
	}
	if o.End != nil {
		r.CommandEnd, err = toJSON(o.End)
	}
	return err
}
