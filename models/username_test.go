package models

import (
	"errors"
	"testing"
)

func TestUserNamesAreOfOneScriptAndSeenWhole(t *testing.T) {
	for name, code := range map[string]string{
		"ann": "", "Ann.B_1-x@example.org": "", "9lives": "", "Élodie": "", "Вера": "", "Ελένη": "",
		"小明": "", "小明wang": "", "wang小明": "", "サーバー管理": "", "山田たろうken": "", "김철수": "", "محمد": "",
		"": "invalid_name", ".ann": "invalid_name", "ann b": "invalid_name", "ann/b": "invalid_name",
		"𝐚nn": "invalid_name", "ａnn": "invalid_name", "annⁿ": "invalid_name", "ann①": "invalid_name",
		"аnn":                    "name_mixes_scripts", // a Cyrillic а
		"annа":                   "name_mixes_scripts",
		"小明а":                    "name_mixes_scripts",
		"οann":                   "name_mixes_scripts", // a Greek ο
		"ann\u202egpj":           "name_unseen",
		"ann\u200b":              "name_unseen",
		"\u2066ann\u2069":        "name_unseen",
		"\ufeffann":              "name_unseen",
		string(make([]rune, 65)): "invalid_name",
	} {
		err := ValidateUserName(name)
		var refused *Error
		switch {
		case code == "" && err != nil:
			t.Errorf("%q is refused: %v", name, err)
		case code != "" && (!errors.As(err, &refused) || refused.Code != code || !errors.Is(err, ErrInvalid)):
			t.Errorf("%q: %v, want %s", name, err, code)
		}
	}
}

func TestNamesThatAreDrawnAlikeHaveOneShape(t *testing.T) {
	for name, like := range map[string]string{"роса": "poca", "ВЕРА": "bepa", "Χορο": "xopo", "Ann": "aNN"} {
		if NameShape(name) != NameShape(like) {
			t.Errorf("%q and %q are told apart: %q, %q", name, like, NameShape(name), NameShape(like))
		}
	}
	for name, other := range map[string]string{"ann": "anna", "иван": "ivan", "小明": "小朋"} {
		if NameShape(name) == NameShape(other) {
			t.Errorf("%q and %q are taken for each other", name, other)
		}
	}
}
