package report

import (
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// Frame is one place in code, as it is shown.
type Frame struct {
	Name   string `json:"name"`             // short: "Cache.get"
	Full   string `json:"function"`         // as the runtime names it
	Kind   string `json:"kind"`             // jvm, python, ruby, v8, go, native, kernel, other
	File   string `json:"file,omitempty"`   // of the source
	Line   int64  `json:"line,omitempty"`   // in File, 0 unknown
	Module string `json:"module,omitempty"` // native: executable or library

	Code []CodeLine `json:"code,omitempty"` // around Line, if requested and found
	In   string     `json:"in,omitempty"`   // of a place: the function of the runtime's library that it called and in which the thread was
}

func frameOf(tl *timeline.Timeline, f *recording.Frame) Frame {
	file := f.File
	if file == "<unknown>" { // the JVM's file name for code made at run time
		file = ""
	}
	return Frame{symbol.Name(*f), f.Function, f.Type.String(), file, f.Line, f.Module, nil, ""}
}

// framesOf returns the frames of a stack, leaf first; nil for None.
func framesOf(tl *timeline.Timeline, id timeline.StackID) []Frame {
	var out []Frame
	for ; id != timeline.None; id = tl.Stacks[id].Caller {
		out = append(out, frameOf(tl, &tl.Frames[tl.Stacks[id].Frame]))
	}
	return out
}

// where returns a frame's source file and line, or "" if they are not known.
func (f *Frame) where() string {
	if f.File == "" {
		return f.Module
	}
	file := f.File[strings.LastIndexByte(f.File, '/')+1:]
	if f.Line > 0 {
		file += ":" + thousandless(f.Line)
	}
	return file
}

// sourcePath returns where a frame's source file may be found: the path that the runtime gives; for the JVM, below
// the directories of its package.
func (f *Frame) sourcePath() string {
	if f.Kind != recording.FrameJVM.String() || strings.Contains(f.File, "/") || f.File == "" {
		return f.File
	}
	parts := splitName(f.Full)
	if len(parts) < 3 { // without a package
		return f.File
	}
	return strings.Join(parts[:len(parts)-2], "/") + "/" + f.File
}
