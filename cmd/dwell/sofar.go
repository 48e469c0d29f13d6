package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/recording"
	"github.com/spf13/cobra"
)

// What a page of what there is so far may take from a service that is being recorded: of the
// recording's bytes, which take some forty times as much memory, and of a processor's time,
// which is a share of one. The garbage collector works harder as the memory comes near its limit.
const (
	soFarBytes  = 12 << 20
	soFarMemory = "512MiB"
	soFarShare  = 10 // a tenth
)

// soFarCommand is the process that makes such a page: not in the recorder, whose memory, whose
// turns and whose rights the recording needs. It writes the page's model.
func soFarCommand(w world) *cobra.Command {
	var name string
	var bounds judging
	c := &cobra.Command{
		Use:    "__so-far",
		Hidden: true,
		Args:   exactly(),
		RunE: func(*cobra.Command, []string) error {
			standBack()
			return soFar(w, name, bounds)
		},
	}
	c.Flags().StringVar(&name, "name", "", "of the recording")
	bounds.addFlags(c)
	return c
}

func soFar(w world, name string, bounds judging) error {
	o, err := bounds.options("")
	if err != nil {
		return err
	}
	file, ok := w.in.(io.ReaderAt) // the recorder's own file: to read on would move where it reads
	if !ok {
		return errors.New("__so-far: want a recording's file to read from")
	}
	rec, err := recording.LoadBy(recording.Workers{}, io.NewSectionReader(file, 0, soFarBytes))
	if err != nil {
		return err
	}
	rec.Printable()
	a, err := analyse(rec, o)
	if err != nil {
		return err
	}
	name += ", its first " + short(time.Duration(a.timeline.End.Sub(a.timeline.Start)))
	return report.NewWebPage(a.report, a.diagnosis, a.timeline, report.WebOptions{Name: name, Wall: a.wall.at(a.timeline.Start)}).WebJSON(w.out)
}

// soFarOf runs that command on a recording that is being made.
func soFarOf(ctx context.Context, o whyOptions) ([]byte, error) {
	file := o.held // who records may have given up the right to open it again
	if file == nil {
		f, err := os.Open(o.path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		file = f
	}
	args := []string{"__so-far", "--name", filepath.Base(o.path)}
	if o.judging.worth != "" {
		args = append(args, "--worth", o.judging.worth)
	}
	for _, s := range o.judging.slos {
		args = append(args, "--slo", s)
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "/proc/self/exe", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = file, &out, io.Discard // not nil, which opens a file: that may be forbidden by now
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOMEMLIMIT="+soFarMemory)
	err := cmd.Run()
	if errors.Is(err, fs.ErrPermission) { // who records may start no program any more
		err = soFar(world{in: file, out: &out}, filepath.Base(o.path), o.judging)
	}
	if err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// sparing lets something that takes time be done again when it has rested long enough.
type sparing struct {
	took time.Duration
	over time.Time // when it was done last
}

// may reports whether it may be done now.
func (s sparing) may(now time.Time) bool { return now.Sub(s.over) >= (soFarShare-1)*s.took }

// errNothingYet tells who asks for a page before there is anything to see on it.
var errNothingYet = errors.New("nothing is written yet: a second later there may be")

// soFar makes a page of what there is so far, unless the last one was made a moment ago.
func (p *openPage) soFar(o whyOptions) error {
	p.one.Lock()
	defer p.one.Unlock()
	began := time.Now()
	if p.whole || !p.last.may(began) {
		return nil
	}
	data, err := soFarOf(p.recording, o)
	if err != nil {
		return fmt.Errorf("%w (%w)", errNothingYet, err)
	}
	p.last = sparing{time.Since(began), time.Now()}
	s := *p.now.Load()
	s.Title, s.Data, s.Waiting = "dwell: "+filepath.Base(o.path)+" so far", data, nil
	p.put(&s)
	return nil
}
