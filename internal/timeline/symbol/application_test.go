package symbol

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

func TestApplication(t *testing.T) {
	for _, c := range []struct {
		f    recording.Frame
		want bool
	}{
		{recording.Frame{Type: recording.FrameGo, Function: "main.(*store).totalOf", File: "/srv/shop/main.go"}, true},
		{recording.Frame{Type: recording.FrameGo, Function: "shop/internal/orders.Total", File: "/srv/shop/internal/orders/total.go"}, true},
		{recording.Frame{Type: recording.FrameGo, Function: "github.com/acme/shop/orders.Total", File: "/home/ci/shop/orders/total.go"}, true},
		{recording.Frame{Type: recording.FrameGo, Function: "go.etcd.io/bbolt.(*Cursor).Next", File: "/root/go/pkg/mod/go.etcd.io/bbolt@v1.4.3/cursor.go"}, false},
		{recording.Frame{Type: recording.FrameGo, Function: "go.etcd.io/bbolt.(*Cursor).Next", File: "go.etcd.io/bbolt@v1.4.3/cursor.go"}, false},
		{recording.Frame{Type: recording.FrameGo, Function: "acme.com/shop/v2/orders.Total", File: "/go/pkg/mod/acme.com/shop/v2@v2.3.5/orders/total.go", Module: "acme.com/shop/v2@v2.3.5"}, true},
		{recording.Frame{Type: recording.FrameGo, Function: "acme.com/shop/v2/vendor/kit.Total", File: "acme.com/shop/v2@v2.3.5/vendor/kit/total.go", Module: "acme.com/shop/v2@v2.3.5"}, false},
		{recording.Frame{Type: recording.FrameGo, Function: "fmt.Fprintf", File: "/usr/local/go/src/fmt/print.go"}, false},
		{recording.Frame{Type: recording.FrameGo, Function: "fmt.Fprintf", File: "fmt/print.go"}, false},
		{recording.Frame{Type: recording.FrameGo, Function: "runtime.mapIterNext", File: "/usr/local/go/src/runtime/map.go"}, false},
		{recording.Frame{Type: recording.FrameGo, Function: "cmpbody", File: "/usr/local/go/src/internal/bytealg/compare_amd64.s"}, false},
		{recording.Frame{Type: recording.FrameGo, Function: "aeshashbody", File: "runtime/asm_amd64.s"}, false},
		{recording.Frame{Type: recording.FrameGo, Function: "sumbody", File: "/srv/shop/sum_amd64.s"}, true},
		{recording.Frame{Type: recording.FrameGo, Function: "main.serve.gowrap1", File: "/srv/main.go"}, false},
		{recording.Frame{Type: recording.FrameGo, Function: "main.serve.func1.deferwrap2", File: "/srv/main.go"}, false},
		{recording.Frame{Type: recording.FramePython, Function: "handle", File: "/srv/app.py"}, true},
		{recording.Frame{Type: recording.FramePython, Function: "<module>", File: "/usr/local/bin/shop"}, false},
		{recording.Frame{Type: recording.FramePython, Function: "Order.__init__", File: "<attrs generated init shop.Order>"}, false},
		{recording.Frame{Type: recording.FramePython, Function: "work", File: "<string>"}, true}, // python -c
		{recording.Frame{Type: recording.FramePython, Function: "<interpreter trampoline>", File: "<shim>"}, false},
		{recording.Frame{Type: recording.FrameRuby, Function: "<main>", File: "/srv/app.rb"}, false},
		{recording.Frame{Type: recording.FrameRuby, Function: "block in <main>", File: "/srv/app.rb"}, true},
		{recording.Frame{Type: recording.FramePython, Function: "dumps", File: "/usr/lib/python3/dist-packages/orjson/__init__.py"}, false},
		{recording.Frame{Type: recording.FrameV8, Function: "handle", File: "/srv/node_modules/express/router.js"}, false},
		{recording.Frame{Type: recording.FrameV8, Function: "handle", File: "/srv/app.js"}, true},
		{recording.Frame{Type: recording.FrameV8, Function: "pbkdf2Sync", File: "node:internal/crypto/pbkdf2"}, false},
		{recording.Frame{Type: recording.FrameV8, Function: "V8::BuiltinExitFrame"}, false},
		{recording.Frame{Type: recording.FrameV8, Function: "set", File: "<unknown>"}, false}, // of Map
		{recording.Frame{Type: recording.FrameJVM, Function: "org.apache.catalina.core.StandardHostValve.invoke"}, false},
		{recording.Frame{Type: recording.FrameJVM, Function: "prices.Basket.total"}, true},
		{recording.Frame{Type: recording.FrameJVM, Function: "org.acme.Basket.total"}, true},
		{recording.Frame{Type: recording.FrameJVM, Function: "okio.InputStreamSource.read"}, false},
		{recording.Frame{Type: recording.FrameJVM, Function: "redis.clients.jedis.Connection.readProtocolWithCheckingBroken"}, false},
		{recording.Frame{Type: recording.FrameJVM, Function: "com.github.benmanes.caffeine.cache.BoundedLocalCache.doComputeIfAbsent"}, false},
		{recording.Frame{Type: recording.FrameJVM, Function: "com.github.acme.Basket.total"}, true},
		{recording.Frame{Type: recording.FrameJVM, Function: "org.springframework.samples.petclinic.owner.OwnerController.processFindForm"}, true},
		{recording.Frame{Type: recording.FrameJVM, Function: "org.springframework.web.servlet.DispatcherServlet.doDispatch"}, false},
		{recording.Frame{Type: recording.FrameJVM, Function: "shop.Dashboard$$Lambda$86+0x00007f1c.apply"}, false},
		{recording.Frame{Type: recording.FrameJVM, Function: "shop.Dashboard.lambda$handle$0", File: "Dashboard.java"}, true},
		{recording.Frame{Type: recording.FrameJVM, Function: "shop.Orders$$SpringCGLIB$$0.total"}, false},
		{recording.Frame{Type: recording.FrameJVM, Function: "shop.Pool$ProxyHolder.total"}, true},
		{recording.Frame{Type: recording.FrameNative, Function: "main", Module: "shop"}, false},
	} {
		if got := Application(c.f); got != c.want {
			t.Errorf("%+v: %t", c.f, got)
		}
	}
}

// The names are found by binary search.
func TestLibrariesAreInOrder(t *testing.T) {
	for i, name := range jvmLibraries[1:] {
		if before := jvmLibraries[i]; name <= before || strings.HasPrefix(name, before) {
			t.Errorf("%q after %q", name, before)
		}
	}
}

func TestWalkOf(t *testing.T) {
	for name, want := range map[string]Walk{
		"runtime.mapIterNext":                         WalkStep,
		"internal/runtime/maps.(*Iter).Next":          WalkStep,
		"internal/runtime/maps.(*Iter).Init":          WalkStart,
		"go.etcd.io/bbolt.(*Cursor).Next":             WalkStep,
		"go.etcd.io/bbolt.(*Cursor).Seek":             WalkStart,
		"slices.IndexFunc[...]":                       WalkStep,
		"main.(*Scanner).Next":                        WalkNone,
		"net/http.(*conn).serve":                      WalkNone,
		"main.(*history).surroundsAnywhere":           WalkNone,
		"github.com/tidwall/btree.(*IterG[...]).Next": WalkStep,
	} {
		if got := WalkOf(recording.Frame{Type: recording.FrameGo, Function: name}); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	if got := WalkOf(recording.Frame{Type: recording.FrameJVM, Function: "java.util.HashMap$HashIterator.nextNode()"}); got != WalkStep {
		t.Errorf("an iterator of HashMap: %d", got)
	}
}

func TestPlaceName(t *testing.T) {
	f := recording.Frame{Type: recording.FrameGo, Function: "shop/cache.(*Cache).Get", File: "/srv/cache/cache.go", Line: 88}
	if got := Place(f); got != "cache.(*Cache).Get (cache.go:88)" {
		t.Error(got)
	}
}
