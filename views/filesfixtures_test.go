package views

const hostileName = "inv\u202egpj.exe\n<img src=x onerror=alert(1)>"

func samplePlace(path string) FilesPlace {
	return FilesPlace{Sidebar: sampleSidebar(), SessionID: "s1", SessionTitle: "Release build", Path: path}
}

func sampleFolder() Folder {
	return Folder{
		FilesPlace: samplePlace("docs/a b"), Next: "cursor", MostBytes: 64 << 20,
		Entries: []FileEntry{
			{Path: "docs/a b/deeper", Kind: FileKindFolder, ModifiedAt: morning},
			{Path: "docs/a b/" + hostileName, Kind: FileKindFile, Size: 5189332, ModifiedAt: morning},
			{Path: "docs/a b/link", Kind: FileKindLink, ModifiedAt: morning},
			{Path: "docs/a b/pipe", Kind: FileKindSpecial, ModifiedAt: morning},
		},
	}
}

func sampleFile() FileView {
	return FileView{
		FilesPlace: samplePlace("docs/page.html"), Size: 300_000, ModifiedAt: morning, Type: "text/html",
		Text: ptr("\n<img src=x onerror=\"document.title='owned'\"><script>alert(1)</script>\u202e\x1b[31m"), Cut: true,
	}
}

func sampleSent() UserMessage {
	return UserMessage{
		ID: "m1", SessionID: "s1", TurnID: "t1", State: "done", At: morning, Unseen: true,
		Files: []FileChip{{Path: "shot.png", Size: 1234, Picture: true}, {Path: hostileName, Size: 5}},
	}
}
