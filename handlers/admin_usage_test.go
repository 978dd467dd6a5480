package handlers

import "testing"

func TestACostHasNoRestOfBinaryFractions(t *testing.T) {
	for dollars, want := range map[float64]string{0.012600000000000002: "0.0126", 0.0052499999999999995: "0.00525", 0: "0", 1234.5: "1234.5", 0.00000015: "0.00000015"} {
		if got := cost(dollars); got != want {
			t.Errorf("%v is %s", dollars, got)
		}
	}
}
