//go:build linux && (amd64 || arm64)

package capture

import "github.com/getdwell/dwell/recording"

// maxContexts bounds the contexts that are remembered as declared.
const maxContexts = 1 << 16

// pythonDecoder is what the decoder remembers about Python programs.
type pythonDecoder struct {
	seen  map[contextKey]struct{}
	forks []uint32 // forked processes, to be examined
	spent []uint32 // processes whose contexts are no longer numbered
}

type contextKey struct {
	process recording.ProcessID
	context int64
}

// context declares the context in which something was done, and the contexts that it descends from, when they are
// first seen.
func (d *decoder) context(tgid uint32, ids *probesRuntimeIds) recording.ContextID {
	if ids.Context <= 0 {
		return recording.ContextID(ids.Context)
	}
	process := d.processOf(tgid).fact.ID
	id := ids.Context
	for _, from := range ids.From {
		k := contextKey{process, id}
		if _, ok := d.python.seen[k]; ok || id <= 0 {
			break
		}
		if d.python.seen == nil || len(d.python.seen) >= maxContexts {
			d.python.seen = map[contextKey]struct{}{} // a second declaration says the same
		}
		d.python.seen[k] = struct{}{}
		d.emit(d.at, &recording.Context{Process: process, ID: recording.ContextID(id), Parent: recording.ContextID(from)})
		id = from
	}
	return recording.ContextID(ids.Context)
}
