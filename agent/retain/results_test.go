package retain

import (
	"errors"
	"io"
	"testing"

	"offcut/agent"
	"offcut/models"
)

// What a model is no longer sent stays readable, also where no copy was kept.
func TestAResultWithoutACopyIsRead(t *testing.T) {
	const text = "first\nzweite: über\nthird\n"
	store := newMemory()
	store.results = map[string]models.Message{
		"call_1": {SessionID: testSession, Content: text, Metadata: &models.ResultMetadata{Retention: models.RetentionNotNeeded}},
		"call_2": {SessionID: testSession, Content: text, Metadata: &models.ResultMetadata{Retention: models.RetentionFailed, Reasons: []models.Reason{models.ReasonPreview}}},
	}
	reader := NewReader(store)
	id := agent.ResultOutputID("call_1")

	if got := pages(t, store, id, 4); got != text {
		t.Errorf("its pages are %q, want %q", got, text)
	}
	matches, err := reader.Search(t.Context(), "ann", testSession, id, "third", false, 0)
	if err != nil || len(matches) != 1 || matches[0].Line != 3 {
		t.Errorf("the search found %v, %v", matches, err)
	}
	_, raw, err := reader.Raw(t.Context(), testSession, id)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(raw); err != nil || string(got) != text {
		t.Errorf("its bytes are %q, %v", got, err)
	}
	page, err := reader.Page(t.Context(), testSession, id, 0, MaxPageBytes)
	if err != nil || !page.Complete {
		t.Errorf("page %+v, %v; want it complete", page, err)
	}
	if page, err = reader.Page(t.Context(), testSession, agent.ResultOutputID("call_2"), 0, MaxPageBytes); err != nil || page.Complete {
		t.Errorf("page %+v, %v of a result of which a part was lost; want it incomplete", page, err)
	}
	for _, missing := range []struct{ session, id string }{
		{testSession, agent.ResultOutputID("call_9")}, {"ses_2", id}, {testSession, "res_"},
	} {
		_, err := reader.Page(t.Context(), missing.session, missing.id, 0, MaxPageBytes)
		var said *models.Error
		if !errors.As(err, &said) || said.Code != "output_not_found" {
			t.Errorf("%s in %s: %v, want no such output", missing.id, missing.session, err)
		}
	}
}
