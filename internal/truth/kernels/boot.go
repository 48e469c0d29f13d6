package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/getdwell/dwell/internal/truth/kernels/outcome"
)

// machine is how a processor is emulated.
type machine struct {
	args    []string
	console string
}

// A processor of x86-64 has no fast strings: where it has, kernels copy and clear byte by byte, and each byte
// is an instruction here (a third of all until a recording has begun).
func machines() map[string]machine {
	return map[string]machine{
		"amd64": {[]string{"qemu-system-x86_64", "-cpu", "max,-erms,-fsrm"}, "ttyS0"},
		"arm64": {[]string{"qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a72"}, "ttyAMA0"},
	}
}

// boot plays a kernel until its machine is turned off. The machine's clock counts instructions, one a nanosecond, and
// jumps over idle time: however slow the emulation is, services have the same processor beneath
// them in every run, and no time passes while nothing is done.
func boot(ctx context.Context, k kernel, image string, within time.Duration) (*outcome.Outcome, error) {
	m, ok := machines()[k.arch]
	if !ok {
		return nil, fmt.Errorf("no machine for %s is known here", k.arch)
	}
	if err := os.RemoveAll(k.console); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	args := append(m.args[1:],
		"-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off", "-smp", strconv.Itoa(processors(k)), "-m", "1024",
		"-kernel", k.image, "-initrd", image,
		"-append", "console="+m.console+" quiet loglevel=4 panic=1 rdinit=/init nokaslr mitigations=off",
		"-display", "none", "-serial", "file:"+k.console, "-monitor", "none", "-nic", "none", "-no-reboot")
	said, err := exec.CommandContext(ctx, m.args[0], args...).CombinedOutput()
	console, _ := os.ReadFile(k.console) // without it, no outcome
	if o := readOutcome(console); o != nil {
		return o, nil
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("not done after %v", within)
	}
	return nil, fmt.Errorf("no outcome: %w\n%s%s", errors.Join(err, errors.New("the console ends so")), said, tail(console))
}

// processors are how many a kernel is given. Up to Linux 6.4 the first of x86-64 waits for the
// second to start in a loop without a pause; where the clock counts instructions, qemu (7.2)
// leaves the second none of a turn that the first uses up.
func processors(k kernel) int {
	if k.arch == "amd64" && byNumbers(k.release, "6.5") < 0 {
		return 1
	}
	return 2
}

func readOutcome(console []byte) *outcome.Outcome {
	_, line, found := bytes.Cut(console, []byte("\n"+outcome.Mark))
	if !found {
		return nil
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	o := &outcome.Outcome{}
	if json.Unmarshal(line, o) != nil {
		return nil
	}
	return o
}

func tail(console []byte) string {
	lines := strings.Split(strings.TrimSpace(string(console)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
