//go:build linux && (amd64 || arm64)

package capture

import (
	"github.com/getdwell/dwell/internal/protocol"
	"github.com/getdwell/dwell/recording"
)

// fileKey is the kernel's identity of a file.
type fileKey struct {
	ino uint64
	dev uint32
}

// maxFiles bounds how many files are distinguished. All later ones are recorded as one file without a name.
const maxFiles = 16_384

// file declares a file or records its size.
func (d *decoder) file(e *probesFileEvent) {
	f := d.files[fileKey{e.Ino, e.Dev}]
	if f == nil {
		f = d.newFile(fileKey{e.Ino, e.Dev})
		f.Name = protocol.FileName(cString(e.Name[:]))
	}
	fact := *f
	if f.Name != "" {
		fact.Size = int64(e.Size)
	}
	d.emit(d.at, &fact)
}

// newFile assigns a number to a file.
func (d *decoder) newFile(key fileKey) *recording.File {
	if len(d.files) >= maxFiles {
		key = fileKey{}
		if f := d.files[key]; f != nil {
			return f
		}
	}
	f := &recording.File{ID: recording.FileID(len(d.files) + 1)}
	d.files[key] = f
	return f
}

// fileOf returns the file for which a thread waited. It declares the file if the event that names it was lost.
func (d *decoder) fileOf(key fileKey) recording.FileID {
	f := d.files[key]
	if f == nil {
		if f = d.newFile(key); len(d.files) <= maxFiles || !d.crowded {
			d.crowded = len(d.files) > maxFiles
			d.emit(d.at, &recording.File{ID: f.ID})
		}
	}
	return f.ID
}
