//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

// placesOf returns the places in the kernel at which groups attach programs, with the programs.
func placesOf(t *testing.T) map[string][]string {
	t.Helper()
	places := map[string][]string{}
	for name, spec := range groupPrograms(t) {
		if place := placeOf(spec); place != "" {
			places[place] = append(places[place], name)
		}
	}
	return places
}

// groupPrograms returns the programs of the objects that are attached to the kernel.
func groupPrograms(t *testing.T) map[string]*ebpf.ProgramSpec {
	t.Helper()
	all := map[string]*ebpf.ProgramSpec{}
	for _, load := range []func() (*ebpf.CollectionSpec, error){loadProbes, loadExits, loadStorage} {
		spec, err := load()
		if err != nil {
			t.Fatal(err)
		}
		for name, program := range spec.Programs {
			all[name] = program
		}
	}
	return all
}

// placeOf names the place of a program as the tables do; "": no place in the kernel.
func placeOf(spec *ebpf.ProgramSpec) string {
	switch {
	case spec.Type == ebpf.RawTracepoint || spec.AttachType == ebpf.AttachTraceRawTp:
		return "tp:" + spec.AttachTo
	case spec.AttachType == ebpf.AttachTraceFEntry || spec.AttachType == ebpf.AttachTraceFExit:
		return "func:" + spec.AttachTo
	case spec.AttachType == ebpf.AttachTraceIter:
		return "func:bpf_iter_" + spec.AttachTo
	}
	return ""
}

// argumentsAt returns the types of the arguments that a kernel passes at a place.
func argumentsAt(spec *btf.Spec, place string) (arguments string, there bool) {
	kind, name, _ := strings.Cut(place, ":")
	var proto *btf.FuncProto
	if kind == "tp" {
		var t *btf.Typedef
		if spec.TypeByName("btf_trace_"+name, &t) != nil {
			return "", false
		}
		proto, _ = btf.UnderlyingType(t).(*btf.Pointer).Target.(*btf.FuncProto)
	} else {
		var f *btf.Func
		if spec.TypeByName(name, &f) != nil {
			return "", false
		}
		proto, _ = f.Type.(*btf.FuncProto)
	}
	if proto == nil {
		return "", false
	}
	var all []string
	for _, p := range proto.Params {
		all = append(all, argumentType(p.Type))
	}
	return strings.Join(all, ", "), true
}

// argumentType returns the name of an argument's type, and whether it is a pointer to it.
func argumentType(t btf.Type) string {
	if p, ok := btf.UnderlyingType(t).(*btf.Pointer); ok {
		return "*" + typeName(p.Target, "void")
	}
	if name := typeName(t, ""); name != "" {
		return name
	}
	return fmt.Sprintf("%T", t)
}

// otherwise are the groups for which a kernel uses another way than the best, or none. A needed group has a way in
// each kernel.
func otherwise() map[string]map[string]int {
	const none = -1
	return map[string]map[string]int{
		"5.15.": {"reads": 1, "writes": 1, "arrivals": 1, "page-faults": none, "address-space-locks": none},
		"6.1.":  {"reads": 1, "writes": 1, "arrivals": 1, "page-faults": none},
	}
}

// Each kernel has the places of each group's best way, except for the entries of otherwise.
func TestPlacesAreInEveryKernel(t *testing.T) {
	programs := groupPrograms(t)
	for _, k := range readKernels(t) {
		expected := map[string]int{}
		for prefix, groups := range otherwise() {
			if strings.HasPrefix(k.name, prefix) {
				expected = groups
			}
		}
		for _, g := range append(recorderGroups(), storageGroups()...) {
			way := slices.IndexFunc(g.ways, func(way []string) bool {
				return !slices.ContainsFunc(way, func(name string) bool {
					place := placeOf(programs[name])
					_, there := k.places[place]
					return place != "" && !there
				})
			})
			if way != expected[g.name] || g.needed && way < 0 {
				t.Errorf("%s: %s by way %d, want %d", k.name, g.name, way, expected[g.name])
			}
		}
	}
}

// The programs that observe sockets at the end of system calls have their places in each kernel, even if the kernel
// does not allow programs at functions, which its types do not show.
func TestExitsAreInEveryKernel(t *testing.T) {
	programs := groupPrograms(t)
	for _, k := range readKernels(t) {
		for _, g := range exitGroups() {
			for _, name := range g.ways[0] {
				if place := placeOf(programs[name]); k.places[place] == "" {
					t.Errorf("%s: no %s, for %s", k.name, place, g.name)
				}
			}
		}
	}
}

// longer are the places at which some kernels pass more arguments, at the end, than others.
func longer() []string {
	return []string{"tp:sched_process_exit", "tp:tcp_retransmit_skb", "tp:sched_switch"}
}

// ignored removes arguments of a place that the programs do not use and whose types differ between kernels.
func ignored(place, arguments string) string {
	if place == "tp:block_rq_complete" {
		return strings.Replace(arguments, "blk_status_t", "int", 1)
	}
	return arguments
}

// The arguments at a place are the same in each kernel, because programs take them by position.
func TestPlacesPassTheSameInEveryKernel(t *testing.T) {
	first := map[string]string{}
	for _, k := range readKernels(t) {
		for place, passed := range k.places {
			arguments := ignored(place, passed)
			if first[place] == "" {
				first[place] = arguments
			}
			same := arguments == first[place]
			if slices.Contains(longer(), place) {
				same = strings.HasPrefix(arguments, first[place]) || strings.HasPrefix(first[place], arguments)
			}
			if !same {
				t.Errorf("%s: %s passes %s; an older kernel %s", k.name, place, arguments, first[place])
			}
		}
	}
}

// Each alternative belongs to a group, which reports what is lost if it fails.
func TestAlternativesNameGroups(t *testing.T) {
	groups := append(recorderGroups(), storageGroups()...)
	for _, a := range alternatives() {
		if !slices.ContainsFunc(groups, func(g group) bool { return g.name == a.group }) {
			t.Errorf("%s: there is no group %s", a.field, a.group)
		}
	}
}
