package store

import (
	"database/sql"
	"testing"

	"offcut/models"
)

// pageBytes is what a page of a kept output has at most.
const pageBytes = 4096

func benchOutput(b *testing.B) (*Store, int64) {
	b.Helper()
	s := openNew(b)
	addSession(b, s, "ann", "s", start)
	text := randomText(8 << 20)
	keep(b, s, "s", "o", text)
	must(b, s.Compact(b.Context()))
	return s, int64(len(text))
}

// page reads what a request for a page reads.
func page(b *testing.B, s *Store, offset int64) {
	b.Helper()
	got(s.Output(b.Context(), "s", "o"))(b)
	got(s.ReadOutput(b.Context(), "s", "o", models.StreamText, offset, pageBytes))(b)
}

// BenchmarkPage compares the last page with the first, without a cache. The
// goal is a ratio of at most 1.2.
func BenchmarkPage(b *testing.B) {
	s, length := benchOutput(b)
	for _, at := range []struct {
		name   string
		offset int64
	}{{"start", 0}, {"middle", length/2 + 100}, {"end", length - pageBytes}} {
		b.Run(at.name, func(b *testing.B) {
			for b.Loop() {
				s.cache.forgetSession("s")
				page(b, s, at.offset)
			}
		})
	}
}

// BenchmarkWholeCopy compares reading a copy of 8 MiB by pages with one pass
// over the same rows in SQL. The goal is a ratio of at most 2.
func BenchmarkWholeCopy(b *testing.B) {
	s, length := benchOutput(b)
	b.Run("pages", func(b *testing.B) {
		b.SetBytes(length)
		for b.Loop() {
			s.cache.forgetSession("s")
			for offset := int64(0); offset < length; offset += pageBytes {
				page(b, s, offset)
			}
		}
	})
	b.Run("rows", func(b *testing.B) {
		b.SetBytes(length)
		for b.Loop() {
			readRows(b, s, length)
		}
	})
}

// readRows is one pass over the rows of the output with database/sql alone.
func readRows(b *testing.B, s *Store, length int64) {
	b.Helper()
	rows, err := got(s.readers.DB())(b).QueryContext(b.Context(),
		"SELECT bytes FROM pieces WHERE output = (SELECT seq FROM outputs WHERE session_id = 's' AND id = 'o') AND stream = 1 ORDER BY n")
	must(b, err)
	defer func() { _ = rows.Close() }()
	total := int64(0)
	for rows.Next() {
		var piece sql.RawBytes
		must(b, rows.Scan(&piece))
		total += int64(len(piece))
	}
	must(b, rows.Err())
	if total != length {
		b.Fatalf("%d bytes in the rows, want %d", total, length)
	}
}

// BenchmarkOpenSession compares the newest messages of a long session with
// those of a short one. The goal is a ratio of at most 1.5.
func BenchmarkOpenSession(b *testing.B) {
	s := openNew(b)
	for _, size := range []struct {
		name     string
		messages int
	}{{"20", 20}, {"10000", 10_000}} {
		addSession(b, s, "ann", size.name, start)
		fill(b, s, run(b, s, size.name, "hello", start), size.messages)
		b.Run(size.name, func(b *testing.B) {
			for b.Loop() {
				_, _, err := s.Messages(b.Context(), models.MessageQuery{SessionID: size.name, Newest: true, Page: models.Page{Limit: 20}})
				must(b, err)
			}
		})
	}
}
