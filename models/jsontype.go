package models

import (
	"encoding/json"
	"reflect"
	"time"
)

// WrongType says of a member of JSON what it is and what it is to be, in words
// of JSON and not of the program.
func WrongType(err *json.UnmarshalTypeError) *Error {
	return Errorf(ErrInvalid, "json_type", "is %s and is to be %s", Arg("is", jsonKind(err.Value)), Arg("wanted", jsonKindOf(err.Type)))
}

// The kinds of JSON values.
var (
	jsonText    = Errorf(ErrInvalid, "json_text", "text")
	jsonNumber  = Errorf(ErrInvalid, "json_number", "a number")
	jsonWhole   = Errorf(ErrInvalid, "json_whole", "a whole number")
	jsonBoolean = Errorf(ErrInvalid, "json_boolean", "true or false")
	jsonList    = Errorf(ErrInvalid, "json_list", "a list")
	jsonObject  = Errorf(ErrInvalid, "json_object", "an object")
	jsonTime    = Errorf(ErrInvalid, "json_time", "a time as in RFC 3339")
)

// jsonKind is the kind of a value as encoding/json describes it: "string",
// "number", "number 1.5", "array", "object" or "bool".
func jsonKind(described string) *Error {
	switch described {
	case "string":
		return jsonText
	case "array":
		return jsonList
	case "object":
		return jsonObject
	case "bool":
		return jsonBoolean
	}
	return jsonNumber
}

// jsonKindOf is what a type is read from.
func jsonKindOf(t reflect.Type) *Error {
	if t == reflect.TypeFor[time.Time]() {
		return jsonTime
	}
	switch t.Kind() {
	case reflect.Pointer:
		return jsonKindOf(t.Elem())
	case reflect.String:
		return jsonText
	case reflect.Bool:
		return jsonBoolean
	case reflect.Slice, reflect.Array:
		return jsonList
	case reflect.Map, reflect.Struct:
		return jsonObject
	case reflect.Float32, reflect.Float64:
		return jsonNumber
	}
	return jsonWhole
}
