package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/recording"
	"github.com/spf13/cobra"
)

// Limits for making a page of the recording so far, while the service is being recorded: bytes of the recording
// (which need some forty times as much memory), memory, and the share of a processor's time. The garbage collector
// works harder as the memory comes near its limit.
const (
	soFarBytes  = 12 << 20
	soFarMemory = "512MiB"
	soFarShare  = 10       // a tenth
	soFarModel  = 64 << 20 // maximum length of a page's model that is accepted
)

// soFarCommand is the process that makes such pages. It is separate from the recorder, whose memory, processor time
// and rights the recording needs. For each byte that it reads it writes a line with the length of the page's model,
// and the model; 0 if there is nothing yet. The recording is open as its descriptor 3.
func soFarCommand(w world) *cobra.Command {
	var name string
	var bounds judging
	c := &cobra.Command{
		Use:    "__so-far",
		Hidden: true,
		Args:   exactly(),
		RunE: func(*cobra.Command, []string) error {
			standBack()
			if err := giveUpAll(); err != nil {
				return err
			}
			file := os.NewFile(3, name)
			for asked := make([]byte, 1); ; {
				if _, err := w.in.Read(asked); err != nil {
					return nil // its client is gone
				}
				var out bytes.Buffer
				if err := soFar(&out, file, name, bounds); err != nil {
					out.Reset()
				}
				fmt.Fprintln(w.out, out.Len())
				if _, err := out.WriteTo(w.out); err != nil {
					return err
				}
				debug.FreeOSMemory()
			}
		},
	}
	c.Flags().StringVar(&name, "name", "", "of the recording")
	bounds.addFlags(c)
	return c
}

func soFar(out io.Writer, file io.ReaderAt, name string, bounds judging) error {
	o, err := bounds.options("")
	if err != nil {
		return err
	}
	got, err := rebuiltFrom(io.NewSectionReader(file, 0, soFarBytes), recording.Part{}, func(*recording.Recording) {})
	if err != nil {
		return err
	}
	a := diagnosed(got, o)
	name += ", its first " + short(time.Duration(a.timeline.End.Sub(a.timeline.Start)))
	return report.NewWebPage(a.report, a.diagnosis, a.timeline, report.WebOptions{Name: name, Wall: a.wall.at(a.timeline.Start)}).WebJSON(out)
}

// soFarMaker is that process. It is started before the recorder gives up the right to start programs, and its only
// right is to read the recording.
type soFarMaker struct {
	ask    io.WriteCloser
	answer io.Reader
	cmd    *exec.Cmd
}

// getPages starts the process that makes pages of the recording so far, as early as the helper and for the same
// reason. It ends when the returned function is called.
func (o *recordOptions) getPages(w world, path string, held *os.File) (end func()) {
	if o.page == nil || held == nil {
		return func() {}
	}
	m, err := startSoFar(whyOptions{path: path, held: held, judging: o.judging})
	if err != nil {
		fmt.Fprintf(w.err, "dwell %s: there is no page before the recording is over: %v\n", o.command, err)
		return func() {}
	}
	o.page.parts = m
	return m.end
}

func startSoFar(o whyOptions) (*soFarMaker, error) {
	args := []string{"__so-far", "--name", filepath.Base(o.path)}
	if o.judging.worth != "" {
		args = append(args, "--worth", o.judging.worth)
	}
	for _, s := range o.judging.slos {
		args = append(args, "--slo", s)
	}
	m := &soFarMaker{cmd: exec.Command(self(), args...)}
	m.cmd.ExtraFiles, m.cmd.SysProcAttr = []*os.File{o.held}, asNobody()
	m.cmd.Env = []string{"GOMAXPROCS=1", "GOMEMLIMIT=" + soFarMemory}
	var err error
	if m.ask, err = m.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if m.answer, err = m.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := m.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start what makes pages of a part of a recording: %w", err)
	}
	return m, nil
}

// page returns the model of a page of the recording so far.
func (m *soFarMaker) page() ([]byte, error) {
	if _, err := m.ask.Write([]byte{0}); err != nil {
		return nil, err
	}
	length := 0
	if _, err := fmt.Fscanln(m.answer, &length); err != nil {
		return nil, err
	}
	if length <= 0 || length > soFarModel {
		return nil, fmt.Errorf("no model of a page: %d bytes", length)
	}
	data := make([]byte, length)
	_, err := io.ReadFull(m.answer, data)
	return data, err
}

// end ends the process, even while it makes a page.
func (m *soFarMaker) end() {
	m.ask.Close()
	_ = m.cmd.Process.Kill() // it may have ended
	_ = m.cmd.Wait()         // reports that it was killed
}

// sparing allows costly work to be repeated only after a pause.
type sparing struct {
	took time.Duration
	over time.Time // when it was last done
}

// may reports whether it may be done now.
func (s sparing) may(now time.Time) bool { return now.Sub(s.over) >= (soFarShare-1)*s.took }

// errNothingYet is the answer to a request for a page before there is anything to show.
var errNothingYet = errors.New("nothing is written yet: a second later there may be")

// soFar makes a page of the recording so far, unless the last one is recent.
func (p *openPage) soFar(name string) error {
	p.one.Lock()
	defer p.one.Unlock()
	began := time.Now()
	if p.whole || !p.last.may(began) {
		return nil
	}
	data, err := p.parts.page()
	if err != nil {
		return fmt.Errorf("%w (%w)", errNothingYet, err)
	}
	p.last = sparing{time.Since(began), time.Now()}
	s := *p.now.Load()
	s.Title, s.Data, s.Waiting = "dwell: "+name+" so far", data, nil
	p.put(&s)
	return nil
}
