package eval

import (
	"path/filepath"
	"strings"
)

func (c *checker) fixture(f *Fixture) {
	names := onceOnly{checker: c, seen: map[string]bool{}}
	names.files(f.Files)
	names.commands(f.Commands)
	names.tools(f.Tools)
	names.pages(f.Pages)
}

// onceOnly checks what a fixture lists, and that each name of a kind is there once.
type onceOnly struct {
	*checker
	seen map[string]bool
}

func (c onceOnly) name(where at, kind, name string) {
	if c.seen[kind+" "+name] {
		c.wrongAt(where, "%q is there twice", name)
	}
	c.seen[kind+" "+name] = true
}

func (c onceOnly) files(files []File) {
	for i := range files {
		file, where := &files[i], at{"fixture", "files", i}
		if first, _, _ := strings.Cut(filepath.Clean(file.Path), "/"); !filepath.IsLocal(file.Path) || first == "." || first == commandFolder {
			c.wrongAt(where.then("path"), "%q is not accepted; it is a path within the workspace, and not in its folder %s", file.Path, commandFolder)
		}
		c.name(where.then("path"), "file", filepath.Clean(file.Path))
		c.content(where, &file.Content)
	}
}

func (c onceOnly) commands(commands []Command) {
	for i, command := range commands {
		where := at{"fixture", "commands", i}
		if !commandName.MatchString(command.Name) {
			c.wrongAt(where.then("name"), "%q is not accepted; it is small letters, digits, _ and -", command.Name)
		}
		c.name(where.then("name"), "command", command.Name)
		switch n := len(command.Script); {
		case n == 0:
			c.wrongAt(where, "script is missing")
		case n > maxScriptBytes:
			c.wrongAt(where.then("script"), "it has more than %d bytes", maxScriptBytes)
		}
	}
}

func (c onceOnly) tools(tools []Tool) {
	for i := range tools {
		tool, where := &tools[i], at{"fixture", "tools", i}
		if !toolName.MatchString(tool.Name) {
			c.wrongAt(where.then("name"), "%q is not accepted; it is small letters, digits and _", tool.Name)
		}
		c.name(where.then("name"), "tool", tool.Name)
		if len(tool.Replies) == 0 {
			c.wrongAt(where, "it has no replies")
		}
		for j := range tool.Replies {
			c.content(where.then("replies", j), &tool.Replies[j].Content)
		}
	}
}

func (c onceOnly) pages(pages []Page) {
	for i := range pages {
		page, where := &pages[i], at{"fixture", "pages", i}
		if !strings.HasPrefix(page.Path, "/") || strings.ContainsAny(page.Path, " {}") {
			c.wrongAt(where.then("path"), "%q is not accepted; it begins with a slash and has neither spaces nor braces", page.Path)
		}
		if page.Type == "" {
			page.Type = plainText
		}
		c.name(where.then("path"), "page", page.Path)
		c.content(where, &page.Content)
	}
}

func (c *checker) content(where at, content *Content) {
	if (content.Text != "") == (len(content.Parts) > 0) {
		c.wrongAt(where, "it has either text or parts")
	}
	for i := range content.Parts {
		part, where := &content.Parts[i], where.then("parts", i)
		switch {
		case (part.Text != "") == (part.Line != ""):
			c.wrongAt(where, "a part has either text or line")
		case part.Text != "" && part.Repeat != 0, part.Line != "" && part.Repeat < 1, part.Repeat > maxRepeat:
			c.wrongAt(where, "a line has repeat, from 1 to %d, and a text has none", maxRepeat)
		case part.Line != "":
			var err error
			if part.line, err = parseTemplate(part.Line); err != nil {
				c.wrongAt(where.then("line"), "it is no template: %v", err)
			}
		}
	}
	if len(c.wrong) > 0 {
		return // it may not be ready to be made
	}
	if err := content.try(); err != nil {
		c.wrongAt(where, "%v", err)
	}
}
