package target

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"kernel.org/pub/linux/libs/security/libcap/cap"
)

// pod is the part of a pod's specification about its rights on the node.
type pod struct {
	HostPID     bool  `yaml:"hostPID"`
	HostNetwork bool  `yaml:"hostNetwork"`
	HostUsers   *bool `yaml:"hostUsers"`
	Containers  []struct {
		Args            []string
		SecurityContext struct {
			RunAsUser       *int `yaml:"runAsUser"`
			Privileged      bool
			Capabilities    struct{ Drop, Add []string }
			SeccompProfile  struct{ Type string } `yaml:"seccompProfile"`
			AppArmorProfile struct{ Type string } `yaml:"appArmorProfile"`
		} `yaml:"securityContext"`
	}
}

// deployed reads the pod of the DaemonSet.
func deployed(t *testing.T) pod {
	t.Helper()
	f, err := os.Open("../../../deploy/kubernetes/dwell.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for in := yaml.NewDecoder(f); ; {
		var object struct {
			Kind string
			Spec struct {
				Selector struct {
					MatchLabels map[string]string `yaml:"matchLabels"`
				}
				Template struct {
					Metadata struct{ Labels map[string]string }
					Spec     pod
				}
			}
		}
		if err := in.Decode(&object); errors.Is(err, io.EOF) {
			t.Fatal("no DaemonSet")
		} else if err != nil {
			t.Fatal(err)
		}
		if object.Kind != "DaemonSet" {
			continue
		}
		if app := object.Spec.Selector.MatchLabels["app"]; app == "" || app != object.Spec.Template.Metadata.Labels["app"] {
			t.Errorf("the selector and the labels differ")
		}
		return object.Spec.Template.Spec
	}
}

// machine is a node on which everything can be recorded, with the rights that the pod has there.
func (p pod) machine(t *testing.T) machine {
	t.Helper()
	m := healthy()
	m.initialPIDs = p.HostPID
	m.initialUsers = p.HostUsers == nil || *p.HostUsers
	rights := p.Containers[0].SecurityContext
	m.seccomp = rights.SeccompProfile.Type != "Unconfined"
	m.caps = 0
	for _, name := range rights.Capabilities.Add {
		c, err := cap.FromName("cap_" + strings.ToLower(name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		m.caps |= 1 << c
	}
	return m
}

// In the pod of the DaemonSet the doctor finds nothing missing. Without any one of the rights that it checks, it
// does: none of them is granted unnecessarily.
func TestDaemonSetGrantsWhatTheDoctorNeeds(t *testing.T) {
	p := deployed(t)
	for _, c := range examine(p.machine(t)) {
		if !c.OK || strings.Contains(c.Detail, "seccomp") {
			t.Errorf("in the pod: %s: %s", c.Name, c.Detail)
		}
	}
	for name, spoil := range map[string]func(*machine){
		"hostPID":     func(m *machine) { m.initialPIDs = false },
		"hostUsers":   func(m *machine) { m.initialUsers = false },
		"BPF":         func(m *machine) { m.caps &^= 1 << cap.BPF },
		"PERFMON":     func(m *machine) { m.caps &^= 1 << cap.PERFMON },
		"SYS_PTRACE":  func(m *machine) { m.caps &^= 1 << cap.SYS_PTRACE },
		"every right": func(m *machine) { m.caps = 0 },
	} {
		m := p.machine(t)
		spoil(&m)
		if !slices.ContainsFunc(examine(m), func(c Check) bool { return !c.OK }) {
			t.Errorf("without %s the doctor finds nothing missing", name)
		}
	}
}

// The pod has no other rights: it is not privileged, and all capabilities that are not listed are dropped.
func TestDaemonSetHasNoMoreRights(t *testing.T) {
	p := deployed(t)
	rights := p.Containers[0].SecurityContext
	if rights.Privileged || !slices.Equal(rights.Capabilities.Drop, []string{"ALL"}) || rights.RunAsUser == nil || *rights.RunAsUser != 0 {
		t.Errorf("%+v", rights)
	}
	// The rights that a running session keeps (capture.DropRights).
	want := []string{"BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH", "CHECKPOINT_RESTORE"}
	if !slices.Equal(rights.Capabilities.Add, want) {
		t.Errorf("adds %v, want %v", rights.Capabilities.Add, want)
	}
	if rights.AppArmorProfile.Type != "Unconfined" || !p.HostNetwork || !slices.Equal(p.Containers[0].Args, []string{"doctor", "--stay"}) {
		t.Errorf("%+v", p)
	}
}
