package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"offcut/models"
)

// temporaryPrefix begins the names of files that are still being written. No
// list shows them, and nobody else uses such names.
const temporaryPrefix = ".offcut-"

// maxFileName is the longest name of one file or folder, in bytes, as file
// systems have it.
const maxFileName = 255

// checkPath refuses what is no plain path below the workspace: an address is
// not cleaned up, because what it then means would be a guess.
func checkPath(name string) error {
	bad := func(why string) error {
		return models.Errorf(models.ErrMalformed, "bad_path", "the path %s; name the file from the workspace on, as in notes/today.md", why)
	}
	switch {
	case strings.ContainsRune(name, 0):
		return bad("holds a NUL character")
	case strings.HasPrefix(name, "/"):
		return bad("begins with a slash")
	case name != "" && !fs.ValidPath(name):
		return bad("holds an empty, . or .. part, or bytes that are no UTF-8")
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > maxFileName {
			return bad(fmt.Sprintf("holds a name of more than %d bytes", maxFileName))
		}
	}
	if strings.HasPrefix(path.Base(name), temporaryPrefix) {
		return models.Errorf(models.ErrInvalid, "reserved_name", "names that begin with %s are those of files that are being written; choose another one", temporaryPrefix)
	}
	return nil
}

// checkNewName refuses characters in the name of a new file that nobody could
// see. What a command made under such a name can be read all the same.
func checkNewName(name string) error {
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
		return models.Errorf(models.ErrInvalid, "bad_name", "the name holds a line break or another character that cannot be seen; choose another one")
	}
	return nil
}

// shown is a path within a sentence, where it changes nothing of it.
func shown(name string) string { return fmt.Sprintf("%.200q", name) }

// maxPlainName bounds a name that a browser sends, in bytes: with a number it
// still is one that file systems take.
const maxPlainName = 200

// plainName is the name under which a file that a browser sends is stored. What
// stands before a slash of either kind is the sender's own folder; characters
// that nobody could see, and bytes that are no text, become underscores.
func plainName(name string) string {
	name = strings.ReplaceAll(strings.ToValidUTF8(name, "_"), `\`, "/")
	name = strings.TrimSpace(path.Base(path.Clean("/" + name)))
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '_'
		}
		return r
	}, name)
	for strings.HasPrefix(name, temporaryPrefix) {
		name = strings.TrimPrefix(name, ".")
	}
	if name == "" || name == "/" || name == "." || name == ".." {
		return "file"
	}
	return cutName(name, maxPlainName)
}

// cutName shortens a name, and keeps its ending where that is short.
func cutName(name string, most int) string {
	if len(name) <= most {
		return name
	}
	ending := path.Ext(name)
	if len(ending) > 20 {
		ending = ""
	}
	stem := name[:most-len(ending)]
	for !utf8.ValidString(stem) {
		stem = stem[:len(stem)-1]
	}
	return stem + ending
}

// maxNumber is the highest number that a name is given.
const maxNumber = 10_000

// freeName is the name, or the first of "name (2)", "name (3)" … that nothing in
// the folder has. The number stands before the ending.
func freeName(parent *os.Root, name string) (string, error) {
	ending := path.Ext(name)
	stem := strings.TrimSuffix(name, ending)
	if stem == "" { // .bashrc has no ending
		stem, ending = name, ""
	}
	for n := 1; n <= maxNumber; n++ {
		free := name
		if n > 1 {
			free = fmt.Sprintf("%s (%d)%s", stem, n, ending)
		}
		_, err := parent.Lstat(free)
		if errors.Is(err, fs.ErrNotExist) {
			return free, nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", refusef("There are %d files named %s already. Give this one another name.", maxNumber, name)
}
