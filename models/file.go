package models

import "time"

// MaxUploadBytes bounds one file that a person or a program puts into a
// workspace: 64 MiB.
const MaxUploadBytes = 64 << 20

// MaxAttachments bounds the files that one message comes with.
const MaxAttachments = 20

// FileKind is what stands under a name in a workspace.
type FileKind string

// The kinds. A link is one only in a list: to open it opens what it leads to.
const (
	KindFile    FileKind = "file"
	KindFolder  FileKind = "folder"
	KindLink    FileKind = "link"
	KindSpecial FileKind = "special" // a pipe, a socket or a device: it is never read
)

// FileInfo is a file or folder of a workspace.
type FileInfo struct {
	Path       string // from the workspace on; "" is the workspace itself
	Kind       FileKind
	Size       int64 // of a file, in bytes
	ModifiedAt time.Time
}

// Attachment is a file of the workspace that a message came with, as it was
// then.
type Attachment struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	// Type is the media type, told from the content and never from the name.
	Type string `json:"type"`
	// Image: it can be shown to a model that takes images.
	Image bool `json:"image,omitempty"`
	// SHA256 is that of an image's bytes, in hexadecimal: what a model is shown
	// later is what came with the message, or nothing.
	SHA256 string `json:"sha256,omitempty"`
}

// Image is a picture as a model is sent it.
type Image struct {
	Type string // image/png, image/jpeg, image/gif or image/webp
	Data []byte
}
