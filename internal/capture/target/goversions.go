package target

import (
	"regexp"
	"strconv"
)

// goVersions are the layouts of released versions of Go on 64-bit machines, by minor version; they have not changed
// between patch releases. They were read with DWARF from programs built by each version.
func goVersions() map[int]GoFields {
	return map[int]GoFields{
		17: {Goid: 152, ParentGoid: -1, M: 48, CurG: 192},
		18: {Goid: 152, ParentGoid: -1, M: 48, CurG: 192},
		19: {Goid: 152, ParentGoid: -1, M: 48, CurG: 192},
		20: {Goid: 152, ParentGoid: -1, M: 48, CurG: 192},
		21: {Goid: 152, ParentGoid: 272, M: 48, CurG: 192},
		22: {Goid: 152, ParentGoid: 272, M: 48, CurG: 192},
		23: {Goid: 160, ParentGoid: 280, M: 48, CurG: 192},
		24: {Goid: 160, ParentGoid: 280, M: 48, CurG: 192},
		25: {Goid: 152, ParentGoid: 272, M: 48, CurG: 184},
		26: {Goid: 152, ParentGoid: 280, M: 48, CurG: 184},
	}
}

// goFieldsOf looks up a version given in a program's build information. The layout of a development version is
// unknown: it may be between two releases.
func goFieldsOf(version string) (GoFields, bool) {
	release := regexp.MustCompile(`^go1\.([0-9]+)($|[^0-9])`).FindStringSubmatch(version)
	if release == nil {
		return GoFields{}, false
	}
	minor, err := strconv.Atoi(release[1])
	if err != nil {
		return GoFields{}, false
	}
	fields, ok := goVersions()[minor]
	return fields, ok
}
