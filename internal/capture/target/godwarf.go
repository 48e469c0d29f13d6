package target

import (
	"debug/dwarf"
	"debug/elf"

	"github.com/getdwell/dwell/internal/capture/elffile"
)

// maxDebugInfo bounds the debug information that is read into memory, in bytes; for larger programs the table of
// versions is used.
const maxDebugInfo = 128 << 20

// goFieldsFromDWARF reads the offsets from a program's own debug information.
func goFieldsFromDWARF(file *elf.File) (GoFields, bool) {
	data, err := typeInfo(file)
	if err != nil || data == nil {
		return GoFields{}, false
	}
	structs := map[string]map[string]int64{"runtime.g": nil, "runtime.m": nil}
	missing := len(structs)
	inRuntime := false
	for r := data.Reader(); missing > 0; {
		entry, err := r.Next()
		if err != nil || entry == nil {
			return GoFields{}, false
		}
		name, _ := entry.Val(dwarf.AttrName).(string)
		if entry.Tag == dwarf.TagCompileUnit {
			if inRuntime = name == "runtime"; !inRuntime {
				r.SkipChildren()
			}
			continue
		}
		if known, wanted := structs[name]; wanted && known == nil && entry.Tag == dwarf.TagStructType {
			structs[name] = memberOffsets(r)
			missing--
			continue
		}
		r.SkipChildren()
	}
	g, m := structs["runtime.g"], structs["runtime.m"]
	goid, ok1 := g["goid"]
	gm, ok2 := g["m"]
	curg, ok3 := m["curg"]
	parent, ok := g["parentGoid"]
	if !ok {
		parent = -1
	}
	return GoFields{Goid: goid, ParentGoid: parent, M: gm, CurG: curg}, ok1 && ok2 && ok3
}

// memberOffsets reads the members of the struct that r has just entered.
func memberOffsets(r *dwarf.Reader) map[string]int64 {
	offsets := map[string]int64{}
	for {
		entry, err := r.Next()
		if err != nil || entry == nil || entry.Tag == 0 {
			return offsets
		}
		name, _ := entry.Val(dwarf.AttrName).(string)
		if at, ok := entry.Val(dwarf.AttrDataMemberLoc).(int64); ok {
			offsets[name] = at
		}
		r.SkipChildren()
	}
}

// typeInfo opens only the sections that types need; nil if there are none or they are too large. elf.File.DWARF would
// read all of them.
func typeInfo(file *elf.File) (*dwarf.Data, error) {
	info := file.Section(".debug_info")
	if info == nil || info.Size > maxDebugInfo {
		return nil, nil
	}
	sections := map[string][]byte{}
	for _, name := range []string{".debug_info", ".debug_abbrev", ".debug_str", ".debug_line_str", ".debug_str_offsets", ".debug_addr"} {
		if s := file.Section(name); s != nil {
			content, err := elffile.Data(s)
			if err != nil {
				return nil, err
			}
			sections[name] = content
		}
	}
	data, err := dwarf.New(sections[".debug_abbrev"], nil, nil, sections[".debug_info"], nil, nil, nil, sections[".debug_str"])
	if err != nil {
		return nil, err
	}
	for _, name := range []string{".debug_line_str", ".debug_str_offsets", ".debug_addr"} {
		if err := data.AddSection(name, sections[name]); err != nil {
			return nil, err
		}
	}
	return data, nil
}
