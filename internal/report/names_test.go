package report

import (
	"testing"

	"github.com/getdwell/dwell/recording"
)

func TestFunctionsAreFoundByEveryFormOfTheirNames(t *testing.T) {
	jvm := recording.Frame{Type: recording.FrameJVM, Function: "com.shop.Price com.shop.PriceCache.get(java.lang.String, int[])", File: "PriceCache.java"}
	golang := recording.Frame{Type: recording.FrameGo, Function: "github.com/shop/store.(*Cache[...]).Get.func1", File: "/src/cache.go"}
	python := recording.Frame{Type: recording.FramePython, Function: "Cache.get.<locals>.fill", File: "/srv/shop/cache.py"}
	oldPython := recording.Frame{Type: recording.FramePython, Function: "get", File: "/srv/shop/cache.py"}
	ruby := recording.Frame{Type: recording.FrameRuby, Function: "Shop::Cache#get", File: "cache.rb"}
	js := recording.Frame{Type: recording.FrameV8, Function: "async Cache.get", File: "/srv/cache.js"}
	inner := recording.Frame{Type: recording.FrameJVM, Function: "void com.shop.Cache$Entry.load()"}
	for _, c := range []struct {
		query string
		frame recording.Frame
		want  bool
	}{
		{"PriceCache#get", jvm, true},
		{"PriceCache.get", jvm, true},
		{"com.shop.PriceCache.get", jvm, true},
		{"get", jvm, true},
		{"Cache.get", jvm, false}, // another class
		{"PriceCache", jvm, false},
		{"PriceCache.get(String)", jvm, true},
		{"Cache$Entry.load", inner, true},
		{"Entry#load", inner, true},
		{"(*Cache).Get.func1", golang, true},
		{"store.Cache.Get.func1", golang, true},
		{"Cache.Get", golang, false},
		{"Cache.get.fill", python, true},
		{"Cache.get", python, false},
		{"cache.get", oldPython, true},
		{"Cache#get", ruby, true},
		{"Shop::Cache.get", ruby, true},
		{"Cache.get", js, true},
		{"", js, false},
		{"#", js, false},
	} {
		if got := newPattern(c.query).matches(&c.frame); got != c.want {
			t.Errorf("%q matches %q: %v, want %v", c.query, c.frame.Function, got, c.want)
		}
	}
}
