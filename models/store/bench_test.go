package store

import (
	"testing"
	"time"

	"offcut/models"
)

func benchOutput(b *testing.B) (*Store, int64) {
	b.Helper()
	s := openNew(b)
	addSession(b, s, "ann", "s", start)
	text := randomText(8 << 20)
	keep(b, s, "s", "o", text)
	must(b, s.Compact(b.Context()))
	return s, int64(len(text))
}

// page reads what a request for a page reads. It does without the helpers of
// the tests, which cost as much as a page.
func page(b *testing.B, s *Store, offset int64) {
	if _, err := s.Output(b.Context(), "s", "o"); err != nil {
		b.Fatal(err)
	}
	read, err := s.ReadOutput(b.Context(), "s", "o", models.StreamText, offset, models.MaxPageBytes)
	if err != nil || len(read) != models.MaxPageBytes {
		b.Fatalf("%d bytes at %d: %v", len(read), offset, err)
	}
}

// compare times a against b by turns and reports the ratio of their fastest
// times, which other work on the machine disturbs least.
func compare(b *testing.B, times func(), against func()) {
	b.Helper()
	fastest := [2]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		for i, run := range []func(){times, against} {
			began := time.Now()
			run()
			fastest[i] = min(fastest[i], time.Since(began))
		}
	}
	b.ReportMetric(float64(fastest[0])/float64(fastest[1]), "ratio")
}

// BenchmarkPageAtEndToStart reads a page at the end and one at the start of a
// copy of 8 MiB, without the cache. The goal is a ratio of at most 1.2.
func BenchmarkPageAtEndToStart(b *testing.B) {
	s, length := benchOutput(b)
	at := func(offset int64) func() {
		return func() {
			s.cache.forgetSession("s")
			page(b, s, offset)
		}
	}
	compare(b, at(length-models.MaxPageBytes), at(0))
}

// BenchmarkPagesToRows reads a copy of 8 MiB by pages, and in one pass over the
// same rows in SQL. The goal is a ratio of at most 2.
func BenchmarkPagesToRows(b *testing.B) {
	s, length := benchOutput(b)
	byPages := func() {
		s.cache.forgetSession("s")
		for offset := int64(0); offset < length; offset += models.MaxPageBytes {
			page(b, s, offset)
		}
	}
	compare(b, byPages, func() { readRows(b, s, length) })
}

// readRows is one pass over the rows of the output with database/sql alone,
// into bytes that may be kept, as those of a page may.
func readRows(b *testing.B, s *Store, length int64) {
	b.Helper()
	rows, err := got(s.readers.DB())(b).QueryContext(b.Context(),
		"SELECT bytes FROM pieces WHERE output = (SELECT seq FROM outputs WHERE session_id = 's' AND id = 'o') AND stream = 1 ORDER BY n")
	must(b, err)
	defer func() { _ = rows.Close() }()
	total := int64(0)
	for rows.Next() {
		var piece []byte
		must(b, rows.Scan(&piece))
		total += int64(len(piece))
	}
	must(b, rows.Err())
	if total != length {
		b.Fatalf("%d bytes in the rows, want %d", total, length)
	}
}

// BenchmarkOpenLongToShortSession reads the newest messages of a session of
// 10,000 messages, and of one of 20. The goal is a ratio of at most 1.5.
func BenchmarkOpenLongToShortSession(b *testing.B) {
	s := openNew(b)
	newest := func(id string, messages int) func() {
		addSession(b, s, "ann", id, start)
		fill(b, s, run(b, s, id, "hello", start), messages)
		return func() {
			_, _, err := s.Messages(b.Context(), models.MessageQuery{SessionID: id, Newest: true, Page: models.Page{Limit: 20}})
			must(b, err)
		}
	}
	compare(b, newest("long", 10_000), newest("short", 20))
}

// BenchmarkLastToFirstPageOfAReader reads a page as the model does, which is
// noted: after it has read a copy of 8 MiB page by page, and at the start. What
// was read before costs a page nothing: the goal is a ratio of at most 1.2.
func BenchmarkLastToFirstPageOfAReader(b *testing.B) {
	s, length := benchOutput(b)
	keep(b, s, "s", "fresh", nil)
	turn := run(b, s, "s", "read it", start)
	note := func(output string, offset int64) {
		shows(b, s, turn, models.OutputRead{
			OutputID: output, TurnID: turn.ID, Kind: models.ReadPage, Range: models.Range{Start: offset, End: offset + models.MaxPageBytes},
		})
	}
	for offset := int64(0); offset < length; offset += models.MaxPageBytes {
		page(b, s, offset)
		note("o", offset)
	}
	compare(b,
		func() { page(b, s, length-models.MaxPageBytes); note("o", length-models.MaxPageBytes) },
		func() { page(b, s, 0); note("fresh", 0) })
}
