package models

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
)

// Layer is a place on a tool result's way where bytes of it can be left behind.
type Layer string

// The layers, in the order in which a result goes through them. The display
// leads off from the history: a page shows what is stored, whatever of it the
// model is sent.
const (
	LayerCapture   Layer = "capture"   // what of the tool's output is held in memory
	LayerRetention Layer = "retention" // what of that can be read again later
	LayerPreview   Layer = "preview"   // what of that stands in the result's body
	LayerHistory   Layer = "history"   // what of that is stored as the result
	LayerPruning   Layer = "pruning"   // what of that the request holds, after pruning and compaction
	LayerTransport Layer = "transport" // what of that the provider was sent
	LayerDisplay   Layer = "display"   // what of the history the page shows
)

// Passage is how many bytes of one tool result each layer let through. What one
// layer lets through is what comes to the next, so that one figure stands for
// both.
//
// Counted is the result as text, which is what a model would have had to read:
// a byte that is no UTF-8 counts as the character that stands for it, and a
// binary output as its hex dump. Marker lines do not count. What a call within a
// script shows, it shows to the script: no request holds it.
type Passage struct {
	Produced int64 // by the tool
	Captured int64
	// Retained is what can be read again: the kept copy, or the body where it is
	// all there is.
	Retained int64
	Shown    int64 // in the body
	// Sent is what of the body the model's last request held; nil before a reply
	// has proved that one was sent.
	Sent *int64
}

// LayerBytes are the bytes that came to a layer, and those that it let through.
type LayerBytes struct {
	Layer Layer `json:"layer"`
	In    int64 `json:"in"`
	Out   int64 `json:"out"`
}

// Hidden is what the layer left behind.
func (l LayerBytes) Hidden() int64 { return l.In - l.Out }

// Layers are the figures of all layers, in their order. History and display let
// everything through: a result is stored as it was shown, and a page shows it
// whole. So does the transport, which sends the request as it was made. A result
// that was not sent yet counts as if nothing was taken from it.
func (p Passage) Layers() []LayerBytes {
	sent := p.Shown
	if p.Sent != nil {
		sent = *p.Sent
	}
	return []LayerBytes{
		{LayerCapture, p.Produced, p.Captured},
		{LayerRetention, p.Captured, p.Retained},
		{LayerPreview, p.Retained, p.Shown},
		{LayerHistory, p.Shown, p.Shown},
		{LayerPruning, p.Shown, sent},
		{LayerTransport, sent, sent},
		{LayerDisplay, p.Shown, p.Shown},
	}
}

// Hidden is what of the result the model was not shown at once.
func (p Passage) Hidden() int64 { return p.Produced - p.Shown }

// PassageOf is the passage of a result that is about to be stored: as whoever
// made it counted, or else as its metadata say, of which one result of a crash
// or of a stop consists. gaps are those of its kept copy.
func PassageOf(m Message, gaps []Gap) Passage {
	meta := m.Metadata
	switch {
	case meta == nil:
		return Whole(int64(len(m.Content)))
	case meta.Passage != nil:
		return *meta.Passage
	case meta.OutputID == "":
		return Whole(int64(len(m.Content)))
	}
	p := Passage{Retained: meta.copyBytes(gaps)}
	p.Captured = p.Retained
	if meta.OmittedBytes != nil {
		p.Captured += *meta.OmittedBytes
	}
	p.Produced = p.Captured
	p.Shown = p.Retained - Length(meta.HiddenRanges(gaps))
	return p
}

// Whole is the passage of a result of which nothing was left behind.
func Whole(n int64) Passage { return Passage{Produced: n, Captured: n, Retained: n, Shown: n} }

// copyBytes is the length of the kept copy without its own marker lines.
func (m ResultMetadata) copyBytes(gaps []Gap) int64 {
	return Length(Subtract(m.copyRange(), markers(gaps)))
}

func (m ResultMetadata) copyRange() []Range {
	if m.TotalBytes == nil {
		return nil
	}
	return []Range{{End: *m.TotalBytes}}
}

// HiddenRanges are the bytes of the kept copy that the result's body does not
// show, its own marker lines left out.
func (m ResultMetadata) HiddenRanges(gaps []Gap) []Range {
	return Subtract(Subtract(m.copyRange(), m.Shown), markers(gaps))
}

func markers(gaps []Gap) []Range {
	ranges := make([]Range, 0, len(gaps))
	for _, g := range gaps {
		ranges = append(ranges, Range{Start: g.At, End: g.At + g.MarkerBytes})
	}
	return ranges
}

// Digest is a number that calls share which ask for the same: of one tool, with
// the same arguments, however they are written and however long they may take. A
// command whose output goes through filters asks for that output.
func (c ToolCall) Digest() int64 {
	arguments := []byte(c.Arguments)
	var object map[string]any
	if json.Unmarshal(arguments, &object) == nil {
		delete(object, "timeout_s")
		delete(object, "background")
		if command, ok := object["command"].(string); ok {
			object["command"] = unfiltered(command)
		}
		if canonical, err := json.Marshal(object); err == nil {
			arguments = canonical
		}
	}
	sum := sha256.Sum256(append([]byte(c.Name+"\x00"), arguments...))
	return int64(binary.BigEndian.Uint64(sum[:8])) // wraps around: any number will do
}

// Reads names the kept output that a call asks to read, search or query; empty
// of other calls.
func (c ToolCall) Reads() string {
	var arguments struct {
		OutputID string `json:"output_id"`
	}
	if json.Unmarshal([]byte(c.Arguments), &arguments) != nil {
		return ""
	}
	return arguments.OutputID
}

// Proof is what a reply proves of the request that it answers.
type Proof struct {
	// Reads are the ranges of kept outputs that the model was shown.
	Reads []OutputRead
	// Sent is how many bytes the bodies of results had in it, by their calls;
	// SentWhole of one that nothing was taken from. Only what is new or has
	// changed is told.
	Sent map[string]int64
	// Grounds are what the answer rests on now, where SetGrounds: else that is
	// what it was.
	Grounds    []Ground
	SetGrounds bool
}

// SentWhole says that a result was sent as it is stored.
const SentWhole int64 = -1
