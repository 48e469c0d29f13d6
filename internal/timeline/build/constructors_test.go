package build

import (
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// TestConstructions: what is being built on a stack, the innermost first, and which frame builds it.
func TestConstructions(t *testing.T) {
	const puma = " < r:Puma::Request#handle_request in /usr/lib/ruby/gems/puma-5.6.5/lib/puma/request.rb"
	for _, c := range []struct{ stack, want string }{
		{ // the SDK resolves its credentials while a client is built
			"r:Net::HTTP#request in /usr/lib/ruby/3.1.0/net/http.rb < r:Aws::AssumeRoleWebIdentityCredentials#initialize in /gems/aws-sdk-core/a.rb < r:Class#new in <cfunc>" +
				" < r:Aws::DynamoDB::Client#initialize in /gems/aws-sdk-dynamodb/client.rb < r:Clients.build in /srv/home.rb" + puma,
			"Aws::AssumeRoleWebIdentityCredentials by Clients.build, Aws::DynamoDB::Client by Clients.build",
		},
		{"r:Aws::RefreshingCredentials#refresh! in /gems/aws-sdk-core/r.rb < r:Row.title in /srv/home.rb" + puma, ""},                    // nothing is built
		{"r:TCPSocket#initialize in <cfunc> < r:Net::HTTP#connect in /usr/lib/ruby/3.1.0/net/http.rb < r:Row.title in /srv/home.rb", ""}, // every connection is built this way
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
		for _, b := range tl.Constructions(stackOf(t, tl, c.stack)) {
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

// stackOf adds a stack to a timeline: "j:void a.B.c() < n:main in prog".
func stackOf(t *testing.T, tl *timeline.Timeline, text string) timeline.StackID {
	types := map[string]recording.FrameType{"n": recording.FrameNative, "g": recording.FrameGo, "j": recording.FrameJVM, "p": recording.FramePython, "r": recording.FrameRuby, "v": recording.FrameV8}
	id := timeline.StackID(timeline.None)
	frames := strings.Split(text, " < ")
	slices.Reverse(frames)
	for _, f := range frames {
		kind, name, ok := strings.Cut(f, ":")
		if _, known := types[kind]; !ok || !known {
			t.Fatalf("frame %q has no type", f)
		}
		frame := recording.Frame{Type: types[kind]}
		file := ""
		if i := strings.LastIndex(name, " in "); i >= 0 {
			name, file = name[:i], name[i+4:]
		}
		frame.Function = name
		if frame.Type == recording.FrameNative {
			frame.Module = file
		} else {
			frame.File = file
		}
		tl.Frames = append(tl.Frames, frame)
		tl.Stacks = append(tl.Stacks, timeline.Stack{Caller: id, Frame: timeline.FrameID(len(tl.Frames) - 1)})
		id = timeline.StackID(len(tl.Stacks) - 1)
	}
	return id
}
