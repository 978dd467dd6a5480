package retain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"offcut/models"
)

// Recover ends the copies that a crash left running, at startup: what had been
// printed when they were last written, never complete. One that cannot be
// ended does not keep the others from it.
func (k *Keeper) Recover(ctx context.Context) error {
	running, err := k.store.RunningOutputs(ctx)
	if err != nil {
		return fmt.Errorf("list running outputs: %w", err)
	}
	var failed []error
	for _, o := range running {
		if err := k.recover(ctx, o, 0); err != nil {
			failed = append(failed, fmt.Errorf("end output %q: %w", o.ID, err))
		}
	}
	return errors.Join(failed...)
}

// recover ends a copy with what is stored of it. printed is how much came in
// all, where that is known.
func (k *Keeper) recover(ctx context.Context, o models.RetainedOutput, printed int64) error {
	w := models.OutputWrite{SetSpill: true}
	data, err := io.ReadAll(k.stream(ctx, o, models.StreamSpill))
	if err != nil {
		return err
	}
	// Without a spill the head is all that there is.
	if s, text, raw, err := decodeSpill(data); err == nil && (s.Binary || s.TextFrom == o.TotalBytes) {
		w.Text, w.Raw = text, raw
		o.Binary, o.Gaps = s.Binary, s.Gaps
		o.TotalBytes, o.RawBytes = s.Total, s.RawTotal
		o.CapturedBytes, o.OmittedBytes, o.ReplacedBytes = s.Captured, s.Omitted, s.Replaced
	}
	if lost := printed - o.CapturedBytes; lost > 0 {
		o.CapturedBytes += lost
		o.OmittedBytes += lost
	}
	if o.Binary {
		hash := sha256.New()
		if _, err := io.Copy(hash, k.stream(ctx, o, models.StreamRaw)); err != nil {
			return err
		}
		hash.Write(w.Raw)
		o.SHA256 = hex.EncodeToString(hash.Sum(nil))
	}
	ended := time.Now().UTC()
	o.Running, o.Complete, o.EndedAt = false, false, &ended
	if o.Background && o.End == nil {
		o.End = &models.CommandEnd{State: models.StateInterrupted}
	}
	return k.store.WriteOutput(ctx, o, w)
}

func (k *Keeper) stream(ctx context.Context, o models.RetainedOutput, stream models.OutputStream) io.Reader {
	return &streamReader{ctx: ctx, store: k.store, output: o, stream: stream}
}
