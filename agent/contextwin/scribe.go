package contextwin

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"offcut/agent"
	"offcut/models"
)

// summaryTask is what the instructions say after their heading.
//
//go:embed summary.md
var summaryTask string

// summaryHead begins a summary as the conversation's model is sent it.
const summaryHead = agent.SummaryHead + "\n\n"

// What a summary may cost.
const (
	// mostPieces is how many requests one summary takes at most, save those that
	// are sent once more.
	mostPieces = 8
	// leastInput is the smallest piece that is worth a request, in tokens.
	leastInput = 500
	// inputShare is how much of the room a piece fills: the estimate of its
	// tokens may be wrong by a third.
	inputShare = 0.75
)

// scribe has a model summarise a stretch of history, piece by piece where it
// would not fit one request.
type scribe struct {
	model   agent.Model
	request agent.Request // what each of its requests begins with
	log     *slog.Logger
	input   int // tokens that a request may take
	most    int // bytes of a summary

	wrote string       // the model that wrote it; empty where the program did
	used  models.Usage // of all requests
	// passing: the model failed for a reason that will pass. What the program
	// says in its place serves for this turn; the next asks again.
	passing bool
}

// summarise returns a summary of the history, which may begin with an earlier
// one. Where the model fails, it is what the program can say of it. It returns
// early, with anything, when ctx ends.
func (s *scribe) summarise(ctx context.Context, history []models.Message) string {
	earlier := ""
	if first := history[0]; first.IsMeta && first.ID == "" {
		earlier, _, _ = strings.Cut(strings.TrimPrefix(first.Content, summaryHead), listHead) // the list is made anew
		history = history[1:]
	}
	bytes := max(leastInput, int(inputShare*float64(s.input))) * agent.BytesPerToken
	bytes = max(leastInput, bytes-len(summaryTask)-s.most)
	soFar, pieces := earlier, transcript(history, bytes, mostPieces)
	if len(history) == 0 { // nothing to add to it: it is to become shorter
		soFar, pieces = "", packed(strings.SplitAfter(earlier, "\n"), bytes)
	}
	text, err := s.write(ctx, soFar, pieces)
	if err == nil {
		return text
	}
	if ctx.Err() == nil {
		s.log.Warn("a summary could not be made by the model; the program lists what was asked", "error", err)
	}
	s.wrote, s.passing = "", passes(err)
	return plain(earlier, history, s.most)
}

// write goes through the pieces, each with the summary of those before.
func (s *scribe) write(ctx context.Context, soFar string, pieces []string) (string, error) {
	if len(pieces) > mostPieces {
		return "", errors.New("it is too long even in short form")
	}
	for _, piece := range pieces {
		next, err := s.ask(ctx, soFar, piece)
		if overflowed(err) {
			next, err = s.halves(ctx, soFar, piece)
		}
		if err != nil {
			return "", err
		}
		soFar = next
	}
	return soFar, nil
}

// halves goes through a piece that the provider found too long in two.
func (s *scribe) halves(ctx context.Context, soFar, piece string) (string, error) {
	for _, half := range packed(strings.SplitAfter(piece, "\n"), len(piece)/2+1) {
		next, err := s.ask(ctx, soFar, half)
		if err != nil {
			return "", err
		}
		soFar = next
	}
	return soFar, nil
}

// passes: the provider was busy or down.
func passes(err error) bool {
	var failed *agent.ModelError
	if !errors.As(err, &failed) {
		return false
	}
	return failed.Broken || failed.Code == models.CodeRateLimited || failed.Code == models.CodeProviderError || failed.Code == models.CodeStreamBroken
}

func overflowed(err error) bool {
	var refused *agent.ModelError
	return errors.As(err, &refused) && refused.Code == models.CodeContextOverflow
}

// bytesPerWord is about how long a word is, with what stands around it.
const bytesPerWord = 7

// ask sends one request. What a reply says is taken also where its end was cut.
func (s *scribe) ask(ctx context.Context, soFar, piece string) (string, error) {
	req := s.request
	req.System = agent.SummaryTask + "\n\n" + strings.Replace(strings.TrimSpace(summaryTask), "{{words}}", strconv.Itoa(s.most/bytesPerWord), 1)
	text := "Messages:\n" + piece
	if soFar != "" {
		text = "Summary so far:\n" + soFar + "\n\n" + text
	}
	req.Messages = []models.Message{{Role: models.RolePerson, Content: text, State: models.StateDone}}
	reply, err := s.model.Stream(ctx, req, func(agent.Delta) {})
	s.used = s.used.Add(reply.Usage)
	if err != nil {
		return "", err
	}
	said := strings.TrimSpace(reply.Content)
	if said == "" {
		return "", errors.New("the model wrote nothing")
	}
	s.wrote = cmp.Or(reply.Model, req.Model)
	return clipped(said, s.most), nil
}

// plain is what a program can say of a conversation: the first line of all that
// the user wrote, the newest of it where that is too much.
func plain(soFar string, history []models.Message, most int) string {
	const head = "No model could summarise this part. The user wrote in it, oldest first:\n"
	soFar = clipped(soFar, most/2)
	if soFar != "" {
		soFar += "\n\n"
	}
	left := most - len(soFar) - len(head)
	var lines []string
	for _, m := range slices.Backward(history) {
		if m.Role != models.RolePerson || m.IsMeta {
			continue
		}
		line := "- " + models.TitleFrom(m.Content) + "\n"
		if left -= len(line); left < 0 {
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return soFar + head + strings.TrimSuffix(strings.Join(lines, ""), "\n")
}
