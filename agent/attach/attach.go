// Package attach says what a model is told and shown of the files that a person
// sent with a message: a line for each, and the pictures themselves where the
// model takes pictures and they are small enough.
package attach

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"image"
	_ "image/gif"  // so that its header is read
	_ "image/jpeg" // so that its header is read
	_ "image/png"  // so that its header is read
	"io"
	"net/http"
	"slices"
	"strings"

	_ "golang.org/x/image/webp" // so that its header is read

	"offcut/models"
)

// What of a picture is sent to a model: the bounds that the providers have in
// common.
const (
	MaxImageBytes = 5 << 20 // of the file
	MaxImageSide  = 8000    // pixels
)

// imageTypes are the pictures that providers take. SVG is a document with
// scripts and never one of them.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// sniffed is how many bytes tell the type of a file.
const sniffed = 512

// TypeOf is the media type of a file by its first bytes, whatever its name says.
func TypeOf(head []byte) string {
	kind, _, _ := strings.Cut(http.DetectContentType(head[:min(len(head), sniffed)]), ";")
	return kind
}

// Displayable reports whether browsers show a file of that type as a picture,
// and run nothing that is in it.
func Displayable(mediaType string) bool { return slices.Contains(imageTypes, mediaType) }

// Describe looks at a file of so many bytes that a message is to come with.
func Describe(path string, size int64, file io.Reader) (models.Attachment, error) {
	a := models.Attachment{Path: path, Size: size}
	head := make([]byte, sniffed)
	n, err := io.ReadFull(file, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return a, fmt.Errorf("look at an attached file: %w", err)
	}
	a.Type = TypeOf(head[:n])
	if !Displayable(a.Type) || size > MaxImageBytes {
		return a, nil
	}
	data, err := io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(head[:n]), file), MaxImageBytes+1))
	if err != nil {
		return a, fmt.Errorf("read an attached picture: %w", err)
	}
	if a.Image = sendable(data, a.Type); a.Image {
		a.SHA256 = sum(data)
	}
	return a, nil
}

// sendable reports whether a picture is what its first bytes say, and within the
// bounds. Only its header is read: a small file can hold an enormous picture.
func sendable(data []byte, mediaType string) bool {
	header, format, err := image.DecodeConfig(bytes.NewReader(data))
	return err == nil && len(data) <= MaxImageBytes && "image/"+format == mediaType && ended(data, format) &&
		header.Width > 0 && header.Height > 0 && header.Width <= MaxImageSide && header.Height <= MaxImageSide
}

// ended reports whether a picture has its end. One that was cut off would be
// refused by a provider, with the message and with every later one.
func ended(data []byte, format string) bool {
	switch format {
	case "png":
		return bytes.Contains(data[max(0, len(data)-32):], []byte("IEND"))
	case "jpeg":
		return bytes.Contains(data[len(data)/2:], []byte{0xff, 0xd9})
	case "gif":
		return bytes.HasSuffix(bytes.TrimRight(data, "\x00"), []byte{0x3b})
	case "webp":
		return uint64(binary.LittleEndian.Uint32(data[4:])) <= uint64(len(data)-8)
	}
	return false
}

func sum(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}
