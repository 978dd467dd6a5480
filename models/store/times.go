package store

import "time"

// micros is a time as it is stored.
func micros(t time.Time) int64 { return t.UnixMicro() }

// fromMicros is a stored time.
func fromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }

func microsOrNull(t *time.Time) *int64 {
	if t == nil {
		return nil
	}
	us := micros(*t)
	return &us
}

func fromMicrosOrNull(us *int64) *time.Time {
	if us == nil {
		return nil
	}
	t := fromMicros(*us)
	return &t
}
