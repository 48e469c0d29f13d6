package symbol

import (
	"strings"

	"github.com/getdwell/dwell/recording"
)

// Constructs reports whether a frame builds an object, and of which class. It judges by names alone: JavaScript's
// constructors have the name of their class, so they are not recognised.
func Constructs(f recording.Frame) (class string, ok bool) {
	name := Plain(f)
	suffix := ""
	switch f.Type {
	case recording.FrameRuby:
		suffix = "#initialize"
	case recording.FrameJVM:
		suffix = ".<init>"
	case recording.FramePython:
		suffix = "__init__"
	case recording.FrameGo:
		return constructsGo(name)
	}
	class, ok = strings.CutSuffix(name, suffix)
	if suffix == "" || !ok {
		return "", false
	}
	if class = strings.TrimSuffix(class, "."); f.Type == recording.FrameJVM {
		class = class[strings.LastIndexByte(class, '.')+1:]
	}
	if class == "" {
		class = strings.TrimSuffix(base(f.File), ".py")
	}
	return class, true
}

// constructsGo recognises constructors by convention: New, NewClient, NewFromConfig, and the function that loads the
// configuration they are made from.
func constructsGo(name string) (class string, ok bool) {
	name = name[strings.LastIndexByte(name, '/')+1:]
	pkg, function, _ := strings.Cut(name, ".")
	rest, ok := strings.CutPrefix(function, "New")
	if ok = ok && (rest == "" || rest[0] >= 'A' && rest[0] <= 'Z') && !strings.Contains(rest, "."); ok || function == "LoadDefaultConfig" {
		return pkg + "." + function, true
	}
	return "", false
}

// Makes reports whether a frame, by its name, makes something that could be reused: a constructor, or a function that
// parses, compiles or loads.
func Makes(f recording.Frame) bool {
	if f.Type == recording.FrameKernel {
		return false
	}
	if _, ok := Constructs(f); ok {
		return true
	}
	name := Plain(f)
	name = name[strings.LastIndexAny(name, "./#:")+1:]
	for _, verb := range [...]string{"parse", "compile", "load"} {
		if len(name) >= len(verb) && strings.EqualFold(name[:len(verb)], verb) {
			rest := name[len(verb):]
			return rest == "" || rest[0] < 'a' || rest[0] > 'z'
		}
	}
	return false
}
