package events

import "time"

// stream is what the broker holds of one session. The broker's lock guards it.
type stream struct {
	seq      int64 // of the latest event
	recent   []Event
	bytes    int // of the recent events
	touched  time.Time
	watchers map[*Subscription]struct{}
}

func (s *stream) publish(e Event, now time.Time) Event {
	s.seq++
	e.Seq = s.seq
	s.recent = append(s.recent, e)
	s.bytes += weight(e)
	s.touched = now
	s.bound()
	for w := range s.watchers {
		w.nudge()
	}
	return e
}

// bound drops the oldest events over the limits. The slice is cut in front;
// append moves the rest to a new array now and then, which keeps the cost of
// one event constant.
func (s *stream) bound() {
	drop := 0
	for len(s.recent)-drop > 1 && (len(s.recent)-drop > MaxEvents || s.bytes > MaxBytes) {
		s.bytes -= weight(s.recent[drop])
		s.recent[drop] = Event{}
		drop++
	}
	s.recent = s.recent[drop:]
}

// reaches reports whether every event after the given number is remembered.
func (s *stream) reaches(after int64) bool {
	return after <= s.seq && after >= s.seq-int64(len(s.recent))
}

// after copies at most len(into) of the events that follow the given number.
func (s *stream) after(seq int64, into []Event) int {
	first := len(s.recent) - int(s.seq-seq)
	return copy(into, s.recent[first:])
}

func (s *stream) forget() { s.recent, s.bytes = nil, 0 }

// weight is about what an event costs in memory.
func weight(e Event) int {
	const fields = 320
	return fields + len(e.Text) + len(e.HTML) + len(e.Error) + len(e.Reason)
}
