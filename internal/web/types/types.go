// Package types writes the TypeScript types of the page's view model from its Go types, so that the two cannot
// differ.
package types

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/recording"
)

// Source returns the TypeScript source that declares the models of all pages.
func Source() string {
	g := &generator{named: map[string]string{}}
	for _, t := range []reflect.Type{reflect.TypeFor[report.WebPage](), reflect.TypeFor[report.WebDiff](), reflect.TypeFor[report.WebTold](), reflect.TypeFor[report.WebWhere](), reflect.TypeFor[report.Under](), reflect.TypeFor[report.WebLanes]()} {
		g.of(t)
	}
	var b strings.Builder
	b.WriteString("// Generated from the types of internal/report by go test ./internal/web -run Types -update; not to be edited.\n\n")
	b.WriteString("/** Whole nanoseconds, exact up to 104 days. */\nexport type Ns = number & { readonly unit?: \"ns\" };\n")
	b.WriteString("/** Whole numbers in base64: how many bytes each has, the lowest of each, the next of each, ... */\nexport type Column = string;\n")
	names := make([]string, 0, len(g.named))
	for name := range g.named {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b.WriteString("\nexport interface " + name + " {\n" + g.named[name] + "}\n")
	}
	return b.String()
}

type generator struct {
	named map[string]string // the members of each interface
}

// of returns the TypeScript name of a type, and declares its members.
func (g *generator) of(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[recording.Duration](), reflect.TypeFor[recording.Time]():
		return "Ns"
	case reflect.TypeFor[report.Column]():
		return "Column"
	case reflect.TypeFor[report.Decimal]():
		return "number"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.of(t.Elem()) + " | null"
	case reflect.Slice, reflect.Array:
		of := strings.TrimSuffix(g.of(t.Elem()), " | null") // lists contain no nulls
		return of + "[]"
	case reflect.Map:
		return "Record<string, " + g.of(t.Elem()) + ">"
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Struct:
		return g.object(t)
	default:
		return "number"
	}
}

func (g *generator) object(t reflect.Type) string {
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if _, ok := g.named[name]; !ok {
		g.named[name] = "" // it may contain itself
		g.named[name] = g.members(t)
	}
	return name
}

func (g *generator) members(t reflect.Type) string {
	var b strings.Builder
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case f.Anonymous && name == "":
			b.WriteString(g.members(f.Type))
			continue
		case !f.IsExported() || tag == "-":
			continue
		case name == "":
			name = f.Name
		}
		of := g.of(f.Type)
		if strings.Contains(options, "omitempty") {
			name, of = quoted(name)+"?", strings.TrimSuffix(of, " | null")
		} else {
			name = quoted(name)
		}
		fmt.Fprintf(&b, "  %s: %s;\n", name, of)
	}
	return b.String()
}

// quoted quotes a member's name that is not an identifier.
func quoted(name string) string {
	if strings.ContainsAny(name, "-.") {
		return `"` + name + `"`
	}
	return name
}
