package main

import "testing"

// Kernels come from where the machine has its own packages from.
func TestMirrors(t *testing.T) {
	debian, security, err := mirrors("http://mirror.test/debian-security bookworm-security\nhttp://mirror.test/debian/ bookworm\nhttp://other.test/node nodistro\n")
	if debian != "http://mirror.test/debian" || security != "http://mirror.test/debian-security" || err != nil {
		t.Error(debian, security, err)
	}
	if _, security, _ := mirrors("http://mirror.test/debian trixie\n"); security != "http://mirror.test/debian-security" {
		t.Error(security)
	}
	if _, _, err := mirrors("http://mirror.test/ubuntu noble\n"); err == nil {
		t.Error("took another distribution for Debian")
	}
}
