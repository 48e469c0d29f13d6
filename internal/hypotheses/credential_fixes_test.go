package hypotheses

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// What is fetched ahead of time is fetched where the runtime does such things: Node has no
// other thread that could.
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
