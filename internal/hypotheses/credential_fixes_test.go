package hypotheses

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// Credentials are fetched ahead of time where the runtime does such things: Node has no other thread that could.
func TestCredentialFix(t *testing.T) {
	for _, x := range []struct {
		rt        recording.Runtime
		operation string
		want      []string
	}{
		{recording.RuntimeNode, "GET /.well-known/jwks.json", []string{"jwks-rsa", "from a timer"}},
		{recording.RuntimeNode, "POST /oauth/token", []string{"expires_in", "from a timer"}},
		{recording.RuntimeGo, "POST /oauth/token", []string{"goroutine"}},
		{recording.RuntimeJVM, "GET /.well-known/jwks.json", []string{"JwtDecoder", "on another thread"}},
	} {
		fix := credentialFix(x.rt, x.operation)
		for _, want := range x.want {
			if !strings.Contains(fix, want) {
				t.Errorf("%v, %s: %q does not say %q", x.rt, x.operation, fix, want)
			}
		}
	}
}

// The advice about a lock held over a refresh depends on what is fetched: no SDK's cache keeps an OAuth token.
func TestRefreshFix(t *testing.T) {
	for from, want := range map[string]string{
		"10.0.0.2:80 (grant_type:client_credentials)": "expires_in",
		"auth.test (POST /v1/token)":                  "expires_in",
		"sts.test (AssumeRole)":                       "ExpiryWindow",
	} {
		if fix := refreshFix(recording.RuntimeGo, from); !strings.Contains(fix, want) {
			t.Errorf("%s: %q does not say %q", from, fix, want)
		}
	}
}
