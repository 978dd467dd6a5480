package agent

import "strings"

// prefixResult begins the output_id of a result that has no kept copy. Ids of
// kept copies begin otherwise.
const prefixResult = "res_"

// ResultOutputID is the output_id under which the stored body of a call's
// result can be read, where no copy of the result is kept: what is shortened in
// a request leads back to it. It needs no row of its own, and stays the same.
func ResultOutputID(callID string) string { return prefixResult + callID }

// CallOfOutputID is the call whose stored result an output_id names; false
// where it is the id of a kept copy.
func CallOfOutputID(outputID string) (callID string, ok bool) {
	return strings.CutPrefix(outputID, prefixResult)
}
