package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"offcut/models"

	"github.com/PuerkitoBio/goquery"
)

// sent stores a request that holds all of a session.
func (s *server) sent(session string) {
	s.t.Helper()
	ctx := s.t.Context()
	r := models.SentRequest{SessionID: session, Model: "scripted", System: "Be good.", Tools: []models.SentTool{{Name: "t"}}, At: time.Now()}
	var parts []models.SentPart
	page := models.Page{Limit: models.MaxPageLimit}
	for {
		messages, next, err := s.store.Messages(ctx, models.MessageQuery{SessionID: session, IncludeHidden: true, Page: page})
		s.must(err)
		for _, m := range messages {
			parts, r.TurnID = append(parts, models.SentPart{MessageID: m.ID}), m.TurnID
		}
		if page.Cursor = next; next == "" {
			break
		}
	}
	r.Messages = len(parts)
	_, err := s.store.SaveRequest(ctx, r, 0, parts)
	s.must(err)
}

// places are the places of a request that a page shows.
func places(doc *goquery.Document) (all []string) {
	doc.Find("[data-place]").Each(func(_ int, row *goquery.Selection) {
		if place := row.AttrOr("data-place", ""); place != "" {
			all = append(all, place)
		}
	})
	return all
}

func TestTheModelsViewOfTenThousandMessagesIsShort(t *testing.T) {
	s := start(t)
	var turns [][]models.Message
	for i := range 5000 {
		turns = append(turns, asked(fmt.Sprintf("question %d", i), told("An answer with **bold** words.")))
	}
	session := s.imported(turns...)
	s.sent(session)
	b := s.signedIn(ann)
	fastest := time.Hour
	var a answer
	for range 10 {
		began := time.Now()
		a = b.get("/s/" + session + "/model")
		fastest = min(fastest, time.Since(began))
	}
	if a.status != 200 || len(a.body) > mostHTML {
		t.Fatalf("%d with %d bytes", a.status, len(a.body))
	}
	t.Logf("%d bytes in %v", len(a.body), fastest)
	if fastest > time.Second {
		t.Errorf("it takes %v to open", fastest)
	}
	shown := places(a.page(t))
	if len(shown) != 42 || shown[2] != "9960" || shown[41] != "9999" {
		t.Errorf("it shows the places %v", shown)
	}
	earlier := b.get("/s/"+session+"/model?request=1&before=40", "HX-Request", "true").page(t)
	if shown := places(earlier); len(shown) != 40 || shown[0] != "0" || earlier.Find("[data-testid=model-earlier]").Length() != 0 {
		t.Errorf("the first ones are %v", shown)
	}
	for _, wrong := range []string{"?request=2", "/places/10000?request=1", "/places/-1?request=1", "/places/x?request=1", "/json?request=7"} {
		if a := b.get("/s/" + session + "/model" + wrong); a.status != 404 {
			t.Errorf("%s: %d", wrong, a.status)
		}
	}
}

func TestTheModelsViewIsBoundedAndEscaped(t *testing.T) {
	s := start(t)
	hostile := `<img src=x onerror=alert(1)><script>alert(1)</script>` + "\u202e\x1b[31m"
	long := hostile + strings.Repeat("<i>x</i>", 120_000)
	var turns [][]models.Message
	for range 20 {
		turns = append(turns, asked(long, told(long)))
	}
	session := s.imported(turns...)
	s.sent(session)
	b := s.signedIn(ann)
	page := b.get("/s/" + session + "/model")
	if page.status != 200 || len(page.body) > mostHTML {
		t.Fatalf("%d with %d bytes", page.status, len(page.body))
	}
	if doc := page.page(t); doc.Find("#rows script, #rows img, #rows i").Length() != 0 {
		t.Error("what was said became elements of the page")
	}
	whole := b.get("/s/"+session+"/model/places/1?request=1", "HX-Request", "true").page(t)
	if text := whole.Find("[data-testid=sent-body]").Text(); text != long {
		t.Errorf("the whole text has %d bytes, want %d", len(text), len(long))
	}
	if plain := b.get("/s/" + session + "/model/places/1?request=1"); string(plain.body) != long || !strings.HasPrefix(plain.header.Get("Content-Type"), "text/plain") {
		t.Errorf("as plain text it is %s of %d bytes", plain.header.Get("Content-Type"), len(plain.body))
	}
}
