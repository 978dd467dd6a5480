package views

import (
	"strings"
	"testing"
)

func TestAFolderShowsNamesAsTheyAre(t *testing.T) {
	doc := parse(t, FolderPage(sampleFolder()))
	want(t, doc, "[data-testid=file-row]", 4)
	want(t, doc, "[data-kind=file] th a .ctl[data-pic='U+202E']", 1)
	want(t, doc, "[data-kind=file] th a .ctl[data-pic=LF]", 1)
	want(t, doc, "[data-kind=file] th img", 0)
	want(t, doc, "[data-kind=file] a[download][href^='/s/s1/files/raw?path=docs%2Fa+b%2Finv%E2%80%AE']", 1)
	want(t, doc, "[data-kind=folder] a[href='/s/s1/files?path=docs%2Fa+b%2Fdeeper']", 1, "deeper")
	want(t, doc, "[data-kind=special] th a", 0)
	want(t, doc, ".trail a", 2)
	want(t, doc, ".trail li[aria-current=page]", 1, "a b")
	want(t, doc, "[data-testid=files-next][href='/s/s1/files?cursor=cursor&path=docs%2Fa+b']", 1)
	want(t, doc, "form[enctype='multipart/form-data'][action='/s/s1/files/upload?path=docs%2Fa+b'] input[name=_csrf]", 1)
}

func TestAFileIsShownAsItsSource(t *testing.T) {
	doc := parse(t, FilePage(sampleFile()))
	want(t, doc, "[data-testid=file-text] img, [data-testid=file-text] script", 0)
	want(t, doc, "[data-testid=file-text] .ctl[data-pic=ESC]", 1)
	if text := doc.Find("[data-testid=file-text]").Text(); text != *sampleFile().Text {
		t.Errorf("a browser shows %q", text)
	}
	want(t, doc, "[data-testid=file-cut]", 1, "300,000 bytes")

	coloured := sampleFile()
	coloured.Path, coloured.Text = "main.go", ptr("package main // <b>\n")
	doc = parse(t, FilePage(coloured))
	want(t, doc, "[data-testid=file-text] .kn", 1, "package")
	if text := doc.Find("[data-testid=file-text]").Text(); text != *coloured.Text {
		t.Errorf("a browser shows %q", text)
	}
}

func TestAMessageShowsTheFilesThatItCameWith(t *testing.T) {
	doc := parse(t, UserArticle(sampleSent()))
	want(t, doc, "[data-testid=attachment]", 2)
	want(t, doc, "[data-testid=attachment] img[src='/s/s1/files/raw?path=shot.png&show=true']", 1)
	want(t, doc, "[data-testid=images-unseen]", 1, "takes no images")
	want(t, doc, ".said[hidden]", 1)
	if strings.Contains(markup(t, UserArticle(sampleSent())), "<img src=x") {
		t.Error("a name became markup")
	}
}
