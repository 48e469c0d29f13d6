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

// Choice selects processes; one of its fields is set.
type Choice struct {
	Container string // name, id, or the beginning of an id
	Pod       string // NAMESPACE/NAME, NAME, or uid
	Unit      string // nginx.service, or nginx
}

// Machine is where to look. Its zero value is this machine.
type Machine struct {
	Proc string // /proc
	// Root is where the files of runtimes are: the root of the machine's first process. In a container that shares
	// the host's pids this is the host's root. If the kernel does not allow access to it, Root is this process's
	// root.
	Root string
}

// Found are processes of one container, pod or unit.
type Found struct {
	PIDs   []int   // in order
	What   string  // "container shop-web (3f2a1b4c5d6e), image shop:1.4"
	Groups []Group // their control groups; these include the groups below
}

// Group is a control group.
type Group struct {
	Controllers string // of its hierarchy, as in /proc/PID/cgroup; "": version 2
	Path        string
}

// group is one container, pod or unit that has processes.
type group struct {
	key     string   // id, uid, control group
	answers []string // its names
	label   string   // name and key, for people
	pids    []int
	image   string // of a container; "": not known
}

// shownID is how much of an id is shown; leastID is how much of one must be given.
const shownID, leastID = 12, 4

// ErrNone means that nothing with this name has processes.
var ErrNone = errors.New("none has processes here")

// Find returns the processes of a choice. If nothing matches, or several things match, the error lists the
// candidates.
func (m Machine) Find(c Choice) (Found, error) {
	kind, want, list, named := "unit", c.Unit, m.units, func(string) string { return "" }
	switch {
	case c.Container != "":
		kind, want, list, named = "container", c.Container, m.containers, containerID
	case c.Pod != "":
		kind, want, list, named = "pod", c.Pod, m.pods, podUID
	case !isUnit(want):
		want += ".service"
	}
	chosen, err := choose(kind, want, list())
	if err != nil {
		return Found{}, err
	}
	what := kind + " " + chosen.label
	if chosen.image != "" {
		what += ", image " + chosen.image
	}
	return Found{PIDs: chosen.pids, What: what, Groups: m.groups(chosen, named)}, nil
}

// groups returns the control groups of a choice, at most one per process, because all hierarchies of version 1
// contain the same processes. named extracts the key from a part of a path; for a unit the key is the path itself.
func (m Machine) groups(of group, named func(part string) string) (groups []Group) {
	for _, pid := range of.pids {
		text, err := os.ReadFile(path.Join(m.proc(), strconv.Itoa(pid), "cgroup"))
		if err != nil {
			continue // it ended meanwhile
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
			if len(fields) < 3 {
				continue
			}
			parts := strings.Split(fields[2], "/")
			at := slices.IndexFunc(parts, func(part string) bool { return named(part) == of.key })
			if strings.HasPrefix(fields[2]+"/", of.key+"/") && (fields[1] == "" || fields[1] == "name=systemd") {
				at = strings.Count(of.key, "/")
			}
			if at < 0 {
				continue
			}
			if g := (Group{fields[1], strings.Join(parts[:at+1], "/")}); !slices.Contains(groups, g) {
				groups = append(groups, g)
			}
			break
		}
	}
	return groups
}

// Names lists possible choices for completion: in the form that Find accepts, and a description.
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

// choose finds the one group that matches: by its complete key or a name, else by the beginning of its key.
func choose(kind, want string, all []group) (group, error) {
	chosen := matching(all, func(g group) bool { return g.key == want || slices.Contains(g.answers, want) })
	if len(chosen) == 0 && len(want) >= leastID && kind != "unit" {
		chosen = matching(all, func(g group) bool { return strings.HasPrefix(g.key, want) })
	}
	switch {
	case len(chosen) == 1:
		return chosen[0], nil
	case len(chosen) > 1 && kind == "unit":
		return group{}, fmt.Errorf("several units are called %s: %s (choose a process of one of them: --pid N)", want, labels(chosen))
	case len(chosen) > 1:
		return group{}, fmt.Errorf("several match %s %s: %s (give more of what is in parentheses: --%s ID)", kind, want, labels(chosen), kind)
	case len(all) == 0:
		return group{}, fmt.Errorf("%s %s: %w, nor has any other %s (in a container dwell needs the machine's processes: hostPID, --pid=host)", kind, want, ErrNone, kind)
	}
	stem := strings.TrimSuffix(want, ".service")
	if near := matching(all, func(g group) bool { return strings.Contains(g.label, stem) }); len(near) > 0 {
		all = near
	}
	return group{}, fmt.Errorf("%s %s: %w (there are: %s)", kind, want, ErrNone, labels(all))
}

func matching(all []group, by func(group) bool) (list []group) {
	for _, g := range all {
		if by(g) {
			list = append(list, g)
		}
	}
	return list
}

// maxListed is how many groups an error lists.
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
		g := group{key: id, answers: n.names, pids: pids, image: n.image}
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

// pods returns pods with their names, from the directories of their logs and from the state of their containers.
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

// members collects the processes of each group.
func members(places map[int]Place, of func(Place) []string) map[string][]int {
	all := map[string][]int{}
	for _, pid := range slices.Sorted(maps.Keys(places)) {
		for _, key := range of(places[pid]) {
			all[key] = append(all[key], pid)
		}
	}
	return all
}

// places reads the place of each process.
func (m Machine) places() map[int]Place {
	all := map[int]Place{}
	proc := m.proc()
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

func (m Machine) proc() string { return cmp.Or(m.Proc, "/proc") }

func (m Machine) root() string {
	if m.Root != "" {
		return m.Root
	}
	first := m.proc() + "/1/root"
	if _, err := os.Stat(first + "/"); err != nil {
		return "/"
	}
	return first
}
