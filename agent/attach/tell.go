package attach

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"offcut/agent"
	"offcut/models"
)

// What of pictures one request holds at most: about what providers take, the
// newest first.
const (
	maxImages     = 20
	maxTotalBytes = 20 << 20
)

// windowShare is the share of a model's window that pictures may take.
const windowShare = 4 // a quarter

// Reader opens a file of the workspace by its path.
type Reader func(path string) (io.ReadCloser, error)

// Model is what has to be known of the model that is told.
type Model struct {
	Images        bool // it takes pictures
	ContextTokens int  // 0: not known
}

func (m Model) mostImages() int {
	switch {
	case !m.Images:
		return 0
	case m.ContextTokens == 0:
		return maxImages
	}
	return min(maxImages, max(1, m.ContextTokens/windowShare/agent.ImageTokens))
}

// Tell is a history, on copies, in which the messages with files name them, and
// the newest pictures are with their messages. A picture that was changed or
// removed since is named and not shown: what a model sees is what came with the
// message.
func Tell(history []models.Message, m Model, read Reader) []models.Message {
	told := slices.Clone(history)
	most, bytes := m.mostImages(), int64(maxTotalBytes)
	for i, message := range slices.Backward(history) {
		if len(message.Attachments) == 0 {
			continue
		}
		lines := make([]string, len(message.Attachments))
		var images []models.Image
		for n, a := range message.Attachments {
			lines[n] = fmt.Sprintf("- %q (%s, %d bytes)", a.Path, a.Type, a.Size)
			if !Displayable(a.Type) {
				continue
			}
			image, why := shown(a, m, most, bytes, read)
			if why != "" {
				lines[n] += ": a picture, not shown to you because " + why
				continue
			}
			lines[n] += ": shown to you with this message"
			images = append(images, image)
			most, bytes = most-1, bytes-int64(len(image.Data))
		}
		told[i].Content = strings.TrimSpace(message.Content + "\n\n" + noteHead + strings.Join(lines, "\n") + "]")
		told[i].Images = images
	}
	return told
}

const noteHead = "[Files that the user sent with this message. They lie in the workspace:\n"

// shown is a picture as it is sent; else why it is not.
func shown(a models.Attachment, m Model, most int, bytes int64, read Reader) (models.Image, string) {
	switch {
	case !m.Images:
		return models.Image{}, "this model takes no images"
	case !a.Image:
		return models.Image{}, fmt.Sprintf("it is damaged, or larger than %d bytes or %d pixels a side", MaxImageBytes, MaxImageSide)
	case most <= 0 || a.Size > bytes:
		return models.Image{}, "newer ones have taken its place"
	}
	file, err := read(a.Path)
	if err != nil {
		return models.Image{}, "it is not there any more"
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, MaxImageBytes+1))
	if err != nil || sum(data) != a.SHA256 {
		return models.Image{}, "it was changed since"
	}
	return models.Image{Type: a.Type, Data: data}, ""
}
