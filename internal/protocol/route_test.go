package protocol

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestRoute(t *testing.T) {
	for path, want := range map[string]string{
		"/":                          "/",
		"":                           "/{}",
		"/users":                     "/users",
		"/users/":                    "/users/",
		"/users/42/orders":           "/users/{}/orders",
		"/v2/items/3f0a-11":          "/v2/items/{}",
		"/v/x":                       "/{}/{}",
		"/v2beta":                    "/{}",
		"/Users/aB":                  "/{}/{}",
		"/well-known_things":         "/well-known_things",
		"/abcdefghijklmnopqrstuvwx":  "/abcdefghijklmnopqrstuvwx",
		"/abcdefghijklmnopqrstuvwxy": "/{}",
		"/a%20b//c.js":               "/{}//{}",
		"/aa/aa/aa/aa/aa/aa/aa/aa/aa/aa/aa/aa/aa/aa/aa/aa/bb/cc": "/aa/aa/aa/aa/aa/aa/aa/aa/aa/aa/aa/aa/aa/aa/aa/aa/...",
	} {
		if got := Route(path); got != want {
			t.Errorf("Route(%q) = %q, want %q", path, got, want)
		}
	}
}

// word returns the i-th of many words that Route keeps.
func word(i int) string {
	return string([]byte{'a' + byte(i/676%26), 'a' + byte(i/26%26), 'a' + byte(i%26)})
}

func TestRoutesCollapsePositionsWithManyValues(t *testing.T) {
	var r Routes
	for i := range 50 {
		r.Add("/users/" + word(i) + "/orders")
		r.Add("/users/" + word(i) + "/" + word(i))
	}
	if got := r.Collapse("/users/aaa/orders"); got != "/users/aaa/orders" {
		t.Errorf("50 values: %q", got)
	}
	r.Add("/users/zzz/orders")
	// Below the names, which are one position now, orders and the 50 others exceed the limit.
	if got := r.Collapse("/users/aaa/orders"); got != "/users/{}/{}" {
		t.Errorf("51 values: %q", got)
	}
	if got := r.Collapse("/health"); got != "/health" {
		t.Errorf("a route not added: %q", got)
	}
}

func TestRoutesDoNotDependOnTheOrder(t *testing.T) {
	var all []string
	for i := range 60 {
		all = append(all, "/a-a/"+word(i), "/a-a/"+word(i%7)+"/"+word(i), "/b-b/"+word(i%49), "/b-b/"+word(i%3)+"/"+word(i)+"/tail")
	}
	var want string
	for seed := range uint64(10) {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var r Routes
		for _, route := range all {
			r.Add(route)
		}
		got := fmt.Sprint(r.Collapse("/a-a/aab"), r.Collapse("/a-a/aab/aab"), r.Collapse("/b-b/aab"), r.Collapse("/b-b/aab/aab/tail"))
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("order %d: %s, want %s", seed, got, want)
		}
	}
}

func TestRoutesAreBounded(t *testing.T) {
	var r Routes
	for i := range 50 * 50 * 50 {
		r.Add("/" + word(i%50) + "/" + word(i/50%50) + "/" + word(i/2500))
	}
	if r.nodes > maxNodes+2500+51 {
		t.Errorf("%d nodes", r.nodes)
	}
}

func TestRoutesOfIsAddAndCollapse(t *testing.T) {
	var both, one Routes
	for i := range 4000 {
		route := "/" + word(i*7%90) + "/" + word(i%7) + "/" + word(i*31%70)
		both.Add(route)
		if got, want := one.Of(route), both.Collapse(route); got != want {
			t.Fatalf("%d: Of(%q) = %q, want %q", i, route, got, want)
		}
	}
	if got := one.Of("/aab/aac/aad"); got != "/{}/aac/aad" {
		t.Errorf("a position with 90 values is shown: %q", got)
	}
}
