package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"offcut/agent"
)

//go:embed search_files.md
var searchFilesDescription string

const (
	// defaultMatches and maxMatches bound how many matches are returned.
	defaultMatches = 100
	maxMatches     = 1000
	// searchTime bounds one search or listing.
	searchTime = 20 * time.Second
	// maxPatternBytes bounds a regular expression, whose cost grows with it.
	maxPatternBytes = 4 << 10
)

type searchFilesArgs struct {
	Pattern string `json:"pattern" jsonschema:"a regular expression in RE2 syntax"`
	Path    string `json:"path,omitempty" jsonschema:"the folder or file to search, relative to the workspace"`
	Glob    string `json:"glob,omitempty" jsonschema:"search only files that fit this glob"`
	Max     int64  `json:"max,omitempty" jsonschema:"the most matches to return"`
}

type searchFiles struct{ folders folders }

func newSearchFiles(f folders) agent.Tool {
	t := searchFiles{f}
	return newTyped(agent.ToolSpec{Name: "search_files", Description: searchFilesDescription}, t.run,
		standard("path", "."), standard("glob", "*"),
		within("max", 1, maxMatches), standard("max", defaultMatches))
}

func (t searchFiles) run(ctx context.Context, call agent.Call, args searchFilesArgs) (agent.ToolResult, error) {
	pattern, err := compile(args.Pattern)
	if err != nil {
		return agent.ToolResult{}, err
	}
	glob, err := globPattern(args.Glob)
	if err != nil {
		return agent.ToolResult{}, err
	}
	found, info, at, err := t.folders.open(call, args.Path)
	if err != nil {
		return agent.ToolResult{}, err
	}
	_ = found.Close()

	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	s := search{folders: t.folders, pattern: pattern, list: bounded{entries: int(args.Max), bytes: pageBudget(call)}}
	if !info.IsDir() {
		if err := s.file(ctx, at); err != nil && !errors.Is(err, errEnough) {
			return agent.ToolResult{}, err
		}
		return s.result(&walk{}), nil
	}
	w := walk{folders: t.folders, place: at}
	err = w.run(ctx, func(e entry) error {
		if !e.kind.IsRegular() || !fitsGlob(glob, e.inside) {
			return nil
		}
		return s.file(ctx, e.place)
	})
	if err != nil {
		return agent.ToolResult{}, err
	}
	return s.result(&w), nil
}

func compile(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > maxPatternBytes {
		return nil, refusef("The pattern has %d bytes; at most %d are possible.", len(pattern), maxPatternBytes)
	}
	if pattern == "" {
		return nil, refusef("The pattern is empty.")
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return nil, refusef("The pattern is no valid regular expression in RE2 syntax: %s.", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return compiled, nil
}

// fitsGlob compares a glob without a slash with the name alone.
func fitsGlob(glob, inside string) bool {
	if !strings.Contains(glob, "/") {
		inside = path.Base(inside)
	}
	return doublestar.MatchUnvalidated(glob, inside)
}

// search collects the matches of one call.
type search struct {
	folders folders
	pattern *regexp.Regexp
	list    bounded

	searched, matching int64
	skipped            struct{ binary, sensitive, unreadable int64 }
	inPieces           bool // a line was too long to be searched whole
	more               bool // there are matches beyond those in the list
	late               bool
}

// file searches one file. It ends the walk once the list is full.
func (s *search) file(ctx context.Context, p place) error {
	if s.folders.allowed(p, path.Join(p.folder, p.name)) != nil {
		s.skipped.sensitive++
		return nil
	}
	file, _, err := s.folders.openPlace(p)
	if err != nil {
		s.skipped.unreadable++
		return nil
	}
	defer func() { _ = file.Close() }()
	lines, ok := newLineReader(file)
	if !ok {
		s.skipped.binary++
		return nil
	}
	s.searched++
	before := s.list.total
	for lines.next() {
		if lines.pieces%64 == 0 && ctx.Err() != nil {
			s.late = true
			return errEnough
		}
		if where := s.pattern.FindIndex(lines.text); where != nil {
			if !s.list.add(lines.show(p.shown, where)) {
				s.more = true
				return errEnough
			}
		}
	}
	s.inPieces = s.inPieces || lines.inPieces
	if s.list.total > before {
		s.matching++
	}
	if lines.err != nil {
		s.skipped.unreadable++
	}
	return nil
}

func (s *search) result(w *walk) agent.ToolResult {
	var notes []string
	switch {
	case s.more:
		notes = append(notes, "(there are more matches; use a narrower pattern, path or glob)")
	case s.list.total == 0:
		notes = append(notes, "(no match)")
	}
	notes = append(notes, s.summary())
	if s.inPieces {
		notes = append(notes, fmt.Sprintf("(lines longer than %d bytes were searched in pieces: a match across two of them is not found)", maxSearchedLine))
	}
	if s.late && w.unfinished == "" {
		notes = append(notes, "(not everything was searched: the time for one call was over)")
	}
	notes = append(notes, w.leftOut()...)
	return s.list.result(notes, s.more || s.late || w.unfinished != "")
}

func (s *search) summary() string {
	said := "(" + counted(s.searched, "file", "files") + " searched"
	for _, skipped := range []struct {
		n    int64
		what string
	}{{s.skipped.binary, "binary"}, {s.skipped.sensitive, "with keys, credentials or environment settings"}, {s.skipped.unreadable, "unreadable"}} {
		if skipped.n > 0 {
			said += fmt.Sprintf("; %d skipped: %s", skipped.n, skipped.what)
		}
	}
	return said + ")"
}
