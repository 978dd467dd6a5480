package handlers

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"offcut/models"
	"offcut/views/i18n"

	"github.com/labstack/echo/v4"
)

// Whatever a request comes to is said in the language of the page. These are the
// errors that have no sentence of their own.
func TestEveryKindOfErrorIsSaidInEveryLanguage(t *testing.T) {
	all := []error{errors.New("a fault"), echo.ErrMethodNotAllowed, echo.NewHTTPError(http.StatusTeapot), &http.MaxBytesError{Limit: 5}}
	for _, k := range kinds {
		all = append(all, k.kind)
	}
	for _, lang := range i18n.Languages() {
		if lang == i18n.Default {
			continue
		}
		for _, err := range all {
			if own, english := said(i18n.With(t.Context(), lang), err), describe(err).message; own == english {
				t.Errorf("%s: %q is said in English: %s", lang, err, english)
			}
		}
	}
	long := models.Errorf(models.ErrInvalid, "title_too_long", "a title has at most %d characters", models.Arg("most", 200))
	if got := said(i18n.With(t.Context(), "zh"), long); got != "标题最多 200 个字符。" {
		t.Errorf("said %q", got)
	}
	if got := long.Error(); got != "a title has at most 200 characters" {
		t.Errorf("to programs it says %q", got)
	}
}

func TestAProblemOfAFormIsASentence(t *testing.T) {
	refused, ok := refusedForm(t.Context(), models.ValidateUserName(""))
	if !ok || !strings.HasPrefix(refused.message, "A user name ") {
		t.Errorf("it says %q", refused.message)
	}
}
