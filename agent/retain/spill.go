package retain

import (
	"encoding/binary"
	"encoding/json"
	"errors"

	"offcut/models"
)

// A spill is what a running command printed beyond the growing head of its
// copy: the rest of the copy as it would be, had the command ended now. It is
// the text, the original bytes, and behind them this header as JSON with its
// length in four bytes.
type spill struct {
	Text     int64        `json:"text"`      // length of the text
	Raw      int64        `json:"raw"`       // length of the original bytes
	TextFrom int64        `json:"text_from"` // where the text goes on in the copy
	RawFrom  int64        `json:"raw_from"`
	Total    int64        `json:"total"` // figures of the whole copy
	RawTotal int64        `json:"raw_total"`
	Captured int64        `json:"captured"`
	Omitted  int64        `json:"omitted"`
	Replaced int64        `json:"replaced"`
	Binary   bool         `json:"binary"`
	Gaps     []models.Gap `json:"gaps,omitempty"`
}

// spillRoom is enough for the header of a spill, with its two gaps.
const spillRoom = 1 << 10

const spillLengthBytes = 4

// encode adds the original bytes and the header to the text, in its buffer
// where there is room.
func (s spill) encode(text, raw []byte) ([]byte, error) {
	s.Text, s.Raw = int64(len(text)), int64(len(raw))
	header, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	data := append(append(text, raw...), header...)
	return binary.BigEndian.AppendUint32(data, uint32(len(header))), nil
}

var errSpill = errors.New("what was printed beyond the head is damaged")

// decodeSpill is the reverse of encode.
func decodeSpill(data []byte) (s spill, text, raw []byte, err error) {
	end := len(data) - spillLengthBytes
	if end < 0 {
		return s, nil, nil, errSpill
	}
	start := end - int(binary.BigEndian.Uint32(data[end:]))
	if start < 0 {
		return s, nil, nil, errSpill
	}
	if err := json.Unmarshal(data[start:end], &s); err != nil {
		return s, nil, nil, errSpill
	}
	if s.Text < 0 || s.Raw < 0 || s.Text+s.Raw != int64(start) {
		return s, nil, nil, errSpill
	}
	return s, data[:s.Text], data[s.Text:start], nil
}
