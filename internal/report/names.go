package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

func thousandless(n int64) string { return strconv.FormatInt(n, 10) }

// splitName splits the name of a function, in the form of any runtime, into package, class and method: "void
// a.b.Cache.get(int)", "a/b.(*Cache).Get.func1", "A::Cache#get" and "Cache.get" all end in the class and the method.
func splitName(name string) []string {
	name = withoutArguments(strings.TrimSpace(name))
	if i := strings.LastIndexByte(name, ' '); i >= 0 { // a return type, "async get"
		name = name[i+1:]
	}
	return strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("./#:$()*", r) })
}

// withoutArguments removes a list of arguments from the end of a name, and type arguments anywhere in it.
func withoutArguments(name string) string {
	if i := strings.LastIndexByte(name, '('); i > 0 && strings.HasSuffix(name, ")") {
		name = name[:i]
	}
	var b strings.Builder
	depth := 0
	for _, r := range name {
		switch {
		case r == '[' || r == '<' && b.Len() > 0:
			depth++
		case (r == ']' || r == '>') && depth > 0:
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// pattern is the name of a function as a user typed it.
type pattern []string

func newPattern(query string) pattern { return splitName(query) }

// matches reports whether a frame's name ends like the pattern. If the runtime gives no class, the name of the source
// file takes its place.
func (p pattern) matches(f *recording.Frame) bool {
	if len(p) == 0 {
		return false
	}
	name := splitName(f.Function)
	if endsWith(name, p) {
		return true
	}
	base := f.File[strings.LastIndexByte(f.File, '/')+1:]
	base, _, _ = strings.Cut(base, ".")
	return base != "" && endsWith(append([]string{base}, name...), p)
}

func endsWith(name []string, p pattern) bool {
	return len(name) >= len(p) && slices.Equal(name[len(name)-len(p):], p)
}

// similarNames is how many functions are suggested if the requested one does not exist.
const similarNames = 5

// Similar returns functions seen in stacks whose own name, without class or package, equals the query's or contains
// it.
func Similar(tl *timeline.Timeline, query string) []string {
	p := newPattern(query)
	if len(p) == 0 {
		return nil
	}
	want := strings.ToLower(p[len(p)-1])
	var equal, holds []string
	for i := range tl.Frames {
		name := splitName(tl.Frames[i].Function)
		if len(name) == 0 {
			continue
		}
		switch last := strings.ToLower(name[len(name)-1]); {
		case last == want:
			equal = append(equal, symbol.Name(tl.Frames[i]))
		case strings.Contains(last, want):
			holds = append(holds, symbol.Name(tl.Frames[i]))
		}
	}
	slices.Sort(equal)
	slices.Sort(holds)
	list := append(slices.Compact(equal), slices.Compact(holds)...)
	return list[:min(len(list), similarNames)]
}
