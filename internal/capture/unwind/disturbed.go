//go:build linux && (amd64 || arm64)

package unwind

import "strings"

// lookTries is how often the profiler is loaded at most.
const lookTries = 5

// undisturbed returns what load does, and loads again where the profiler's look at its own
// thread in the kernel was disturbed: the program that looks answers whichever thread of
// this process enters the kernel, and two at once make it read at an address that is none.
// Other failures are final.
func undisturbed[T any](load func() (T, error)) (T, error) {
	for tries := 1; ; tries++ {
		loaded, err := load()
		if err == nil || tries == lookTries || !strings.Contains(err.Error(), "system analysis") {
			return loaded, err
		}
	}
}
