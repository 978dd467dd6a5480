package portable

import (
	"fmt"
	"slices"

	"offcut/models"
)

// The bounds of what is told of one output, in bytes: more than the program itself
// writes.
const (
	maxGroundTitle = 1 << 10
	maxGroundBytes = 1 << 50 // of a length
)

// readAnswers reads what the answers of the messages' turns rest on. A file
// without it is whole: those answers rest on nothing that is known.
func (f *File) readAnswers(data []byte, wrong *faults) {
	var file struct {
		Answers each `json:"answers"`
	}
	turns := map[string]bool{} // true: its answer was read
	for _, m := range f.Messages {
		turns[m.TurnID] = false
	}
	n := 0
	file.Answers.take = func(one []byte) bool {
		var a Answer
		where := fmt.Sprintf("answers[%d]", n)
		n++
		decode(one, &a, where, wrong)
		if read, known := turns[a.TurnID]; read || !known {
			wrong.add(where+".turn_id", models.Errorf(models.ErrInvalid, "fault_answer", "names no turn of the file, or one for the second time"))
			return wrong.count < maxFaults
		}
		turns[a.TurnID] = true
		checkGrounds(where+".rests_on", a.RestsOn, wrong)
		f.answers = append(f.answers, a)
		return true
	}
	decode(data, &file, "", wrong)
}

func checkGrounds(where string, grounds []models.Ground, wrong *faults) {
	if len(grounds) > models.MaxGrounds {
		wrong.add(where, tooMany(models.MaxGrounds))
		return
	}
	for i := range grounds {
		checkGround(fmt.Sprintf("%s[%d]", where, i), &grounds[i], wrong)
	}
}

// checkGround refuses what the program would never have written, puts ranges into
// their order, and takes of the searches those for plain text.
func checkGround(where string, g *models.Ground, wrong *faults) {
	if len(g.OutputID) > maxNames || !models.PlainID(g.OutputID) {
		wrong.add(where+".output_id", notPlain())
	}
	if len(g.Tool) > maxNames {
		wrong.add(where+".tool", tooLong())
	}
	if len(g.Title) > maxGroundTitle {
		wrong.add(where+".title", longerThan(maxGroundTitle))
	}
	for member, n := range map[string]int64{"total_bytes": g.TotalBytes, "omitted_bytes": g.OmittedBytes, "seen_bytes": g.SeenBytes, "taken_bytes": g.TakenBytes} {
		if n < 0 || n > maxGroundBytes {
			wrong.add(where+"."+member, noSize())
		}
	}
	for member, ranges := range map[string]*[]models.Range{"seen": &g.Seen, "taken": &g.Taken} {
		if len(*ranges) > models.MaxGroundRanges {
			wrong.add(where+"."+member, tooMany(models.MaxGroundRanges))
		}
		for _, r := range *ranges {
			if r.Start < 0 || r.End < r.Start || r.End > maxGroundBytes {
				wrong.add(where+"."+member, noSize())
				break
			}
		}
		*ranges = models.MergeRanges(*ranges)
	}
	if len(g.Sought) > models.MaxSought {
		wrong.add(where+".sought", tooMany(models.MaxSought))
	}
	for _, s := range g.Sought {
		if len(s.Pattern) > models.MaxPatternBytes {
			wrong.add(where+".sought", longerThan(models.MaxPatternBytes))
			break
		}
	}
	// An expression is somebody's program, which would run at each view of the
	// answer. What is not taken counts as not sought: a mark too many, and none
	// too few.
	g.Sought = slices.DeleteFunc(g.Sought, func(s models.Sought) bool { return s.Regexp })
}

// Rests are what the answers of Turns rest on, by their places among those. Where
// a turn has several parts, it is what the last of them rests on.
func (f File) Rests() map[int][]models.Ground {
	byTurn := map[string][]models.Ground{}
	for _, a := range f.answers {
		byTurn[a.TurnID] = a.RestsOn
	}
	rests := map[int][]models.Ground{}
	f.parts(func(turn int, part Message) {
		if grounds := byTurn[part.TurnID]; len(grounds) > 0 {
			rests[turn] = grounds
		}
	})
	return rests
}
