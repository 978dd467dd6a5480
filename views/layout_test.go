package views

import (
	"context"
	"testing"
)

// Ids that providers and files chose stand in addresses: none leads out of its
// place, in the ways that browsers read paths.
func TestAnAddressLeadsNowhereElse(t *testing.T) {
	ctx := With(context.Background(), Layout{BasePath: "/chat"})
	for id, leads := range map[string]bool{
		"call_1":         false,
		"a.b":            false,
		"..":             true,
		".":              true,
		"../export?x=":   true,
		"a/../../export": true,
		"%2e%2e":         true,
		".%2E":           true,
		`..\export`:      true,
		"%zz":            true,
	} {
		want := "/chat/s/ses_1/calls/" + id + "/stop"
		if leads {
			want = "/chat/"
		}
		if got := path(ctx, "/s/ses_1/calls/", id, "/stop"); got != want {
			t.Errorf("%q leads to %s", id, got)
		}
	}
	if got := path(ctx, "/s/ses_1/files?path=", "..%2Fx"); got != "/chat/s/ses_1/files?path=..%2Fx" {
		t.Errorf("a query is changed: %s", got)
	}
}
