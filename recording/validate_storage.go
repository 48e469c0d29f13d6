package recording

// file checks a file: its name must not change.
func (v *validator) file(f *File) {
	name, known := v.files[f.ID]
	switch {
	case f.ID <= 0:
		v.report("id %d is not positive", f.ID)
	case known && name != f.Name:
		v.report("file %d was named %q before", f.ID, name)
	}
	v.notNegative("size", f.Size)
	v.files[f.ID] = f.Name
}

// declared checks a reference to a file.
func (v *validator) declared(id FileID) {
	if _, known := v.files[id]; id != NoFile && !known {
		v.report("file %d is not declared before", id)
	}
}

// storage checks the storage fields of an Off.
func (v *validator) storage(f *Off) {
	v.declared(f.File)
	v.notNegative("minor", f.Minor)
	v.notNegative("major", f.Major)
	v.notNegative("fetched", f.Fetched)
	v.notNegative("in", f.In)
	v.notNegative("out", f.Out)
}

// storageFact checks a fact about files, address spaces and devices.
func (v *validator) storageFact(fact Fact) {
	switch f := fact.(type) {
	case *File:
		v.file(f)
	case *Mapping:
		v.thread(f.Thread)
		v.declared(f.File)
		v.notNegative("bytes", f.Bytes)
		v.notNegative("before", f.Before)
	case *MemoryWait:
		v.thread(f.Thread)
		v.thread(f.Owner)
		v.span("since", f.Since)
	case *Sync:
		v.thread(f.Thread)
		v.declared(f.File)
		v.span("since", f.Since)
	case *Memory:
		v.process(f.Process)
		v.notNegative("resident", f.Resident)
	case *BlockIO:
		v.span("from", f.From)
		v.notNegative("count", f.Count)
	}
}
