package container

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Choice is what processes are chosen by; one of its fields is set.
type Choice struct {
	Container string // name, id, or the beginning of an id
	Pod       string // NAMESPACE/NAME, NAME, or uid
	Unit      string // nginx.service, or nginx
}

// Machine is where to look. Its zero value is this machine.
type Machine struct {
	Proc string // /proc
	// Root is where the files of runtimes are found: the root of the machine's first process, which is
	// the machine's own in a container that shares its pids, too.
	Root string
}

// Found are processes of one container, pod or unit.
type Found struct {
	PIDs []int  // in order
	What string // "container shop-web (3f2a1b4c5d6e)"
}

// group is one container, pod or unit that has processes.
type group struct {
	key     string   // id, uid, control group
	answers []string // names that it goes by
	label   string   // name and key, for people
	pids    []int
}

// shownID is how much of an id people are shown, and how much of one must be given.
const shownID, leastID = 12, 4

// ErrNone says that nothing that runs is called so.
var ErrNone = errors.New("none has processes here")

// Find returns the processes of what is chosen. If there is none, or more than one, the error names what there is.
func (m Machine) Find(c Choice) (Found, error) {
	switch {
	case c.Container != "":
		return choose("container", c.Container, m.containers())
	case c.Pod != "":
		return choose("pod", c.Pod, m.pods())
	}
	unit := c.Unit
	if !isUnit(unit) {
		unit += ".service"
	}
	return choose("unit", unit, m.units())
}

// Names are what could be chosen, for completion: as Find takes it, and what it is.
func (m Machine) Names(kind string) (names []string) {
	list := map[string]func() []group{"container": m.containers, "pod": m.pods, "unit": m.units}[kind]
	for _, g := range list() {
		name := g.key
		if len(g.answers) > 0 {
			name = g.answers[0]
		}
		if kind != "unit" || strings.HasSuffix(name, ".service") {
			names = append(names, name+"\t"+g.label)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// choose finds the one group that is called so: by its whole key or a name of it, else by how its key begins.
func choose(kind, want string, all []group) (Found, error) {
	chosen := matching(all, func(g group) bool { return g.key == want || slices.Contains(g.answers, want) })
	if len(chosen) == 0 && len(want) >= leastID && kind != "unit" {
		chosen = matching(all, func(g group) bool { return strings.HasPrefix(g.key, want) })
	}
	switch {
	case len(chosen) == 1:
		return Found{PIDs: chosen[0].pids, What: kind + " " + chosen[0].label}, nil
	case len(chosen) > 1 && kind == "unit":
		return Found{}, fmt.Errorf("several units are called %s: %s (choose a process of one of them: --pid N)", want, labels(chosen))
	case len(chosen) > 1:
		return Found{}, fmt.Errorf("several match %s %s: %s (give more of what is in parentheses: --%s ID)", kind, want, labels(chosen), kind)
	case len(all) == 0:
		return Found{}, fmt.Errorf("%s %s: %w, nor has any other %s (in a container dwell needs the machine's processes: hostPID, --pid=host)", kind, want, ErrNone, kind)
	}
	stem := strings.TrimSuffix(want, ".service")
	if near := matching(all, func(g group) bool { return strings.Contains(g.label, stem) }); len(near) > 0 {
		all = near
	}
	return Found{}, fmt.Errorf("%s %s: %w (there are: %s)", kind, want, ErrNone, labels(all))
}

func matching(all []group, by func(group) bool) (list []group) {
	for _, g := range all {
		if by(g) {
			list = append(list, g)
		}
	}
	return list
}

// maxListed is how many groups an error names.
const maxListed = 10

func labels(all []group) string {
	var list []string
	for _, g := range all {
		list = append(list, g.label)
	}
	slices.Sort(list)
	more := len(list) - maxListed
	list = slices.Compact(list[:min(len(list), maxListed)])
	if more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}

func (m Machine) containers() (list []group) {
	members := members(m.places(), func(p Place) []string { return p.Containers })
	names := namesOf(m.root(), slices.Collect(maps.Keys(members)))
	for id, pids := range members {
		n := names[id]
		g := group{key: id, answers: n.names, pids: pids}
		shown := id[:min(len(id), shownID)]
		switch g.label = shown; {
		case n.pod != "" && len(n.names) > 0:
			g.label = fmt.Sprintf("%s of pod %s/%s (%s)", n.names[0], n.namespace, n.pod, shown)
		case len(n.names) > 0:
			g.label = fmt.Sprintf("%s (%s)", n.names[0], shown)
		}
		list = append(list, g)
	}
	return sorted(list)
}

// pods names pods by the directories of their logs, and by what their containers say.
func (m Machine) pods() (list []group) {
	places := m.places()
	names := podsOf(m.root())
	inside := members(places, func(p Place) []string { return p.Containers })
	said := namesOf(m.root(), slices.Collect(maps.Keys(inside)))
	for uid, pids := range members(places, func(p Place) []string { return p.Pods }) {
		g := group{key: uid, label: uid, pids: pids}
		name := names[uid]
		for _, pid := range pids {
			ids := places[pid].Containers
			if n := said[last(ids)]; name == "" && n.pod != "" {
				name = n.namespace + "/" + n.pod
			}
		}
		if name != "" {
			g.answers = []string{name, path.Base(name)}
			g.label = fmt.Sprintf("%s (%s)", name, uid)
		}
		list = append(list, g)
	}
	return sorted(list)
}

func last(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[len(ids)-1]
}

func (m Machine) units() (list []group) {
	members := members(m.places(), func(p Place) (paths []string) {
		for _, u := range p.Units {
			paths = append(paths, u.Path)
		}
		return paths
	})
	for at, pids := range members {
		g := group{key: at, answers: []string{path.Base(at)}, label: path.Base(at), pids: pids}
		if strings.Count(at, ".service") > 1 { // of a user's own systemd
			g.label = at
		}
		list = append(list, g)
	}
	return sorted(list)
}

func sorted(list []group) []group {
	slices.SortFunc(list, func(a, b group) int { return cmp.Compare(a.key, b.key) })
	return list
}

// members gathers the processes of each group.
func members(places map[int]Place, of func(Place) []string) map[string][]int {
	all := map[string][]int{}
	for _, pid := range slices.Sorted(maps.Keys(places)) {
		for _, key := range of(places[pid]) {
			all[key] = append(all[key], pid)
		}
	}
	return all
}

// places reads where each process stands.
func (m Machine) places() map[int]Place {
	all := map[int]Place{}
	proc := cmp.Or(m.Proc, "/proc")
	for _, name := range listed(proc) {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if text, err := os.ReadFile(path.Join(proc, name, "cgroup")); err == nil {
			all[pid] = Parse(string(text))
		}
	}
	return all
}

func (m Machine) root() string { return cmp.Or(m.Root, "/proc/1/root") }
