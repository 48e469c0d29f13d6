package hypotheses

import "testing"

// A call is made again after a pause if its request slept for most of the time between the two calls. Between two calls
// that are made at once there is no time.
func TestMostlyOfATime(t *testing.T) {
	asleep := []window{{100, 200}, {300, 400}}
	for _, x := range []struct {
		of   window
		want bool
	}{
		{window{90, 210}, true},
		{window{90, 330}, true},
		{window{100, 400}, true},
		{window{200, 300}, false},
		{window{210, 320}, false},
		{window{150, 150}, false},
		{window{250, 120}, false}, // the second call began before the first had ended
	} {
		if got := mostly(asleep, x.of); got != x.want {
			t.Errorf("%v: %v, want %v", x.of, got, x.want)
		}
	}
}
