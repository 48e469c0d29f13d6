package waits

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

var update = flag.Bool("update", false, "write the table in docs/waits.md")

// Each line of testdata/rules.list is a stack and what the rules say about it; each rule has at least one line.
func TestWaitRules(t *testing.T) {
	data, err := os.ReadFile("testdata/rules.list")
	if err != nil {
		t.Fatal(err)
	}
	var met []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		example, want, _ := strings.Cut(line, " => ")
		runtime, stack, _ := strings.Cut(example, ": ")
		tl := &timeline.Timeline{}
		id := pushFrames(t, tl, stack)
		b := newRuleBook(tl)
		v := b.of(id, runtimeNamed(t, runtime))
		got := fmt.Sprintf("%s %v at -", v.code, v.cause)
		if v.code == "" {
			got = fmt.Sprintf("- %v at -", v.cause)
		}
		if site := exampleSite(b, id, v); site != "" {
			got = strings.TrimSuffix(got, "-") + site
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", example, got, want)
		}
		met = append(met, v.code)
	}
	for _, r := range waitRules() {
		if !slices.Contains(met, r.code) {
			t.Errorf("rule %s has no example", r.code)
		}
	}
}

// exampleSite returns the place that names what is waited for.
func exampleSite(b *ruleBook, id timeline.StackID, v verdict) string {
	site := b.t.SiteFrame(id)
	switch {
	case v.cause == timeline.CausePool && v.frame != timeline.None && b.own[v.frame]:
		site = v.frame
	case v.cause == timeline.CauseLock:
		site = b.t.FrameOf(id, symbol.IsBeyondLocks)
	}
	if site == timeline.None {
		return ""
	}
	return symbol.Name(b.t.Frames[site])
}

// pushFrames adds a stack to a timeline: "j:void a.B.c() < n:main in prog".
func pushFrames(t *testing.T, tl *timeline.Timeline, text string) timeline.StackID {
	types := map[string]recording.FrameType{"n": recording.FrameNative, "g": recording.FrameGo, "j": recording.FrameJVM, "p": recording.FramePython, "r": recording.FrameRuby, "v": recording.FrameV8}
	id := timeline.StackID(timeline.None)
	frames := strings.Split(text, " < ")
	slices.Reverse(frames)
	for _, f := range frames {
		kind, name, ok := strings.Cut(f, ":")
		if _, known := types[kind]; !ok || !known {
			t.Fatalf("frame %q has no type", f)
		}
		frame := recording.Frame{Type: types[kind]}
		file := ""
		if i := strings.LastIndex(name, " in "); i >= 0 {
			name, file = name[:i], name[i+4:]
		}
		frame.Function = name
		if frame.Type == recording.FrameNative {
			frame.Module = file
		} else {
			frame.File = file
		}
		tl.Frames = append(tl.Frames, frame)
		tl.Stacks = append(tl.Stacks, timeline.Stack{Caller: id, Frame: timeline.FrameID(len(tl.Frames) - 1)})
		id = timeline.StackID(len(tl.Stacks) - 1)
	}
	return id
}

func runtimeNamed(t *testing.T, name string) recording.Runtime {
	for r := recording.RuntimeNative; r <= recording.RuntimeJVM; r++ {
		if r.String() == name {
			return r
		}
	}
	t.Fatalf("no runtime %q", name)
	return 0
}

// docs/waits.md lists the rules as they are.
func TestWaitRulesAreDocumented(t *testing.T) {
	const file = "../../../docs/waits.md"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text, _, ok := strings.Cut(string(data), "<!-- table -->\n")
	if !ok {
		t.Fatal("no place for the table")
	}
	var b strings.Builder
	b.WriteString(text + "<!-- table -->\n| runtime | frames | cause | rule |\n|---|---|---|---|\n")
	for _, r := range waitRules() {
		runtime := "any"
		if r.runtime != anyRuntime {
			runtime = recording.Runtime(r.runtime).String()
		}
		frames := strings.Join(r.frames, "` then `")
		fmt.Fprintf(&b, "| %s | `%s` | %v | %s |\n", runtime, strings.ReplaceAll(frames, "|", "\\|"), r.cause, r.code)
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if b.String() != string(data) {
		t.Errorf("%s is not up to date: go test ./internal/timeline/waits -run Documented -update", file)
	}
}
