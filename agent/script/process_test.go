package script

import (
	"bytes"
	"testing"
)

func TestAProgramRunsWhereTheMachineGivesNoNamespaces(t *testing.T) {
	before := noNamespaces.Swap(true)
	defer noNamespaces.Store(before)
	var out bytes.Buffer
	end, err := Run(t.Context(), Program{Code: "return 'ran'", Print: &out})
	if err != nil || end.Error != "" || out.String() != "ran" || end.Confined || end.Kind != "none" {
		t.Errorf("%q, %+v, %v", out.String(), end, err)
	}
}

func TestAFrameIsBounded(t *testing.T) {
	var pipe bytes.Buffer
	if err := writeFrame(&pipe, report{Kind: reportPrint, Text: "more than ten bytes"}); err != nil {
		t.Fatal(err)
	}
	var r report
	if err := readFrame(bytes.NewReader(pipe.Bytes()), 10, &r); err == nil {
		t.Error("a frame over the bound is read")
	}
	if err := readFrame(bytes.NewReader(pipe.Bytes()[:pipe.Len()-1]), 1000, &r); err == nil {
		t.Error("half a frame is read")
	}
	if err := readFrame(&pipe, 1000, &r); err != nil || r.Text != "more than ten bytes" {
		t.Errorf("%+v, %v", r, err)
	}
}
