package build

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
)

// TestConstructions: what is being built on a stack, the innermost first, and by whom.
func TestConstructions(t *testing.T) {
	const puma = " < r:Puma::Request#handle_request in /usr/lib/ruby/gems/puma-5.6.5/lib/puma/request.rb"
	for _, c := range []struct{ stack, want string }{
		{ // the SDK resolves its credentials while a client is built
			"r:Net::HTTP#request in /usr/lib/ruby/3.1.0/net/http.rb < r:Aws::AssumeRoleWebIdentityCredentials#initialize in /gems/aws-sdk-core/a.rb < r:Class#new in <cfunc>" +
				" < r:Aws::DynamoDB::Client#initialize in /gems/aws-sdk-dynamodb/client.rb < r:Clients.build in /srv/home.rb" + puma,
			"Aws::AssumeRoleWebIdentityCredentials by Clients.build, Aws::DynamoDB::Client by Clients.build",
		},
		{"r:Aws::RefreshingCredentials#refresh! in /gems/aws-sdk-core/r.rb < r:Row.title in /srv/home.rb" + puma, ""},                    // none is built
		{"r:TCPSocket#initialize in <cfunc> < r:Net::HTTP#connect in /usr/lib/ruby/3.1.0/net/http.rb < r:Row.title in /srv/home.rb", ""}, // every connection is built
		{"p:Session.__init__ in /x/site-packages/boto3/session.py < p:handle in /srv/app.py", "Session by app.handle"},
		// A server of the standard library handles requests while it builds their handler.
		{"p:read in /usr/lib/python3.11/socket.py < p:do_GET in /srv/app.py < p:BaseRequestHandler.__init__ in /usr/lib/python3.11/socketserver.py < p:run in /srv/app.py", ""},
		{"j:java.net.Socket.connect < j:com.acme.sdk.StoreClient.<init>(java.net.URI) < j:com.acme.sdk.StoreClient.create < j:shop.Handler.handle", "StoreClient by StoreClient.create"},
		{"g:net/http.(*Client).Do < g:github.com/aws/aws-sdk-go-v2/config.LoadDefaultConfig in /go/pkg/mod/a.go < g:main.handle in /srv/main.go", "config.LoadDefaultConfig by main.handle"},
		{"g:main.Newest in /srv/main.go < g:main.handle in /srv/main.go", ""},
		{"n:Client::initialize in shop < n:main in shop", ""},
	} {
		tl := &timeline.Timeline{}
		var got []string
		for _, b := range tl.Constructions(pushFrames(t, tl, c.stack)) {
			by := "nobody"
			if b.Caller != timeline.None {
				by = symbol.Name(tl.Frames[b.Caller])
			}
			got = append(got, b.Class+" by "+by)
		}
		if said := strings.Join(got, ", "); said != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.stack, said, c.want)
		}
	}
}
