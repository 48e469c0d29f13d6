//go:build linux && (amd64 || arm64)

package unwind

import "strings"

// lookTries is the maximum number of attempts to load the profiler.
const lookTries = 5

// undisturbed returns the result of load. It repeats load if the profiler's analysis of its own thread in the kernel
// was disturbed: the analysing program responds to any thread of this process that enters the kernel, and two at once
// make it read at an invalid address. Other failures are final.
func undisturbed[T any](load func() (T, error)) (T, error) {
	for tries := 1; ; tries++ {
		loaded, err := load()
		if err == nil || tries == lookTries || !strings.Contains(err.Error(), "system analysis") {
			return loaded, err
		}
	}
}
