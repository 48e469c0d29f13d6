package symbol

import (
	"cmp"
	"strings"

	"github.com/getdwell/dwell/recording"
)

// Name returns a short, stable name of a place in code for people to read: "ResponseMetadataCache.add",
// "orders.handle", "main.(*Cache).Get".
func Name(f recording.Frame) string {
	name := Plain(f)
	switch f.Type {
	case recording.FrameJVM:
		method := strings.LastIndexByte(name, '.')
		if method < 0 {
			return name
		}
		class := strings.LastIndexByte(name[:method], '.')
		return name[class+1:]
	case recording.FramePython:
		if name == "" {
			return base(f.File)
		}
		if strings.Contains(name, ".") || f.File == "" {
			return name
		}
		return strings.TrimSuffix(base(f.File), ".py") + "." + name
	case recording.FrameGo:
		return name[strings.LastIndexByte(name, '/')+1:]
	case recording.FrameV8:
		if name == "" && f.File != "" {
			return "(anonymous) " + base(f.File)
		}
	}
	if name == "" {
		name = cmp.Or(f.Module, "[unknown]") // code without a file, named as perf does
	}
	return name
}

// Plain returns the full name of a frame's function without return type, parameters, version or mangling: rules are
// matched against this.
func Plain(f recording.Frame) string {
	name := f.Function
	switch f.Type {
	case recording.FrameJVM:
		if i := strings.IndexByte(name, '('); i >= 0 {
			name = strings.TrimRight(name[:i], " ")
			name = name[strings.LastIndexByte(name, ' ')+1:]
		}
		name = strings.ReplaceAll(name, "/", ".")
	case recording.FramePython:
		name = strings.ReplaceAll(name, "<locals>.", "")
	case recording.FrameNative, recording.FrameKernel:
		if i := strings.IndexByte(name, '@'); i > 0 { // pthread_mutex_lock@@GLIBC_2.2.5
			name = name[:i]
		}
		if plain := unmangled(name); plain != "" {
			return plain
		}
		if i := strings.IndexByte(name, '('); i > 0 {
			name = name[:i]
		}
	}
	return name
}

// unmangled returns the nested name in a mangled C++ function name, "Monitor::wait" for "_ZN7Monitor4waitEl"; "" if it
// has none.
func unmangled(name string) string {
	rest, ok := strings.CutPrefix(name, "_ZN")
	if !ok {
		return ""
	}
	rest = strings.TrimLeft(rest, "KVRO")
	var parts []string
	for rest != "" && rest[0] >= '1' && rest[0] <= '9' {
		n, i := 0, 0
		for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' && n < len(rest) {
			n = 10*n + int(rest[i]-'0')
			i++
		}
		if i+n > len(rest) {
			return ""
		}
		parts = append(parts, rest[i:i+n])
		rest = rest[i+n:]
	}
	return strings.Join(parts, "::")
}

// base returns the last element of a path.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
