//go:build linux && (amd64 || arm64)

package capture

import "testing"

func TestThreadSize(t *testing.T) {
	for page, want := range map[int]uint32{4096: 16384, 16384: 16384, 65536: 65536} {
		if got := threadSize(page); got != want {
			t.Errorf("with pages of %d bytes: %d, want %d", page, got, want)
		}
	}
}
