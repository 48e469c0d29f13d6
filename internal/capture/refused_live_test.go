//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/recording"
)

// keptRefused is the value of recording.Late for data that this host dropped on its way out.
const keptRefused = 2

// A filter on this host drops every fourth of a program's large packets on its way out, and the kernel retries. For
// each call whose request was dropped, the recorder reports that its end left late, and why.
func TestDropsOfThisHost(t *testing.T) {
	group, dropped := dropping(t)
	p := start(t, 0, python(t), "testdata/selfcalls.py")
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(fmt.Sprint(p.Process.Pid)), 0); err != nil {
		t.Fatal(err)
	}
	l := record(t, p.Process.Pid, Options{})
	fmt.Fprintln(p.stdin)
	if err := <-l.done; err != nil { // the program ends by itself
		t.Fatal(err)
	}
	l.done <- nil
	rec := l.stop()

	out := map[recording.ConnID]bool{}
	for _, c := range all[*recording.Conn](rec) {
		out[c.ID] = c.Side == recording.Outbound
	}
	refused := 0
	for _, late := range all[*recording.Late](rec) {
		switch {
		case late.Window == keptRefused && out[late.Conn]:
			refused++
		case late.Window == keptRefused:
			t.Errorf("an answer, which no filter looks at: %+v", late)
		}
	}
	if n := dropped(); n < 4 || refused < n/2 {
		t.Errorf("%d packets were dropped, %d messages are said to have waited for that: %v", n, refused, all[*recording.Late](rec))
	}
}

// dropping makes a control group whose processes lose every fourth packet of more than 300 bytes, like a rule of a
// packet filter. It also counts these packets.
func dropping(t *testing.T) (group string, dropped func() int) {
	t.Helper()
	groups := t.TempDir()
	if err := unix.Mount("none", groups, "cgroup2", 0, ""); err != nil {
		t.Skip("SKIPPED-NO-CGROUP2: ", err)
	}
	t.Cleanup(func() { unix.Unmount(groups, unix.MNT_DETACH) })
	group = filepath.Join(groups, fmt.Sprint("dwell-test-", os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(group) })
	seen, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1})
	if err != nil {
		t.Fatal(err)
	}
	filter, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.CGroupSKB, License: "GPL", Instructions: asm.Instructions{
		asm.LoadMem(asm.R7, asm.R1, 0, asm.Word), // the packet's length
		asm.JLE.Imm(asm.R7, 300, "pass"),
		asm.StoreImm(asm.R10, -4, 0, asm.Word),
		asm.Mov.Reg(asm.R2, asm.R10),
		asm.Add.Imm(asm.R2, -4),
		asm.LoadMapPtr(asm.R1, seen.FD()),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "pass"),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord),
		asm.And.Imm(asm.R1, 3),
		asm.Mov.Imm(asm.R0, 0), // drop
		asm.JEq.Imm(asm.R1, 0, "exit"),
		asm.Mov.Imm(asm.R0, 1).WithSymbol("pass"),
		asm.Return().WithSymbol("exit"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	attached, err := link.AttachCgroup(link.CgroupOptions{Path: group, Attach: ebpf.AttachCGroupInetEgress, Program: filter})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { attached.Close(); filter.Close(); seen.Close() })
	return group, func() int {
		var n uint64
		if err := seen.Lookup(uint32(0), &n); err != nil {
			t.Fatal(err)
		}
		return int(n / 4)
	}
}
