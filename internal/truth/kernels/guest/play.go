package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/getdwell/dwell/internal/truth/kernels/outcome"
)

// How much is played: few requests, as the processor is emulated.
const (
	demoFor  = 8 * time.Second
	demoRate = 8 // a second
	within   = 2 * time.Minute
)

// run runs dwell, and returns what it printed.
func run(args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/dwell", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, lastLine(stderr.String()))
	}
	return out, err
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// doctor holds dwell doctor's word against its exit status.
func doctor() outcome.Doctor {
	out, err := run("doctor", "--json")
	var doc struct {
		CanRecord bool `json:"can_record"`
		Checks    []struct {
			Name string `json:"name"`
			OK   bool   `json:"ok"`
		} `json:"checks"`
	}
	if bad := json.Unmarshal(out, &doc); bad != nil {
		return outcome.Doctor{Error: errors.Join(err, bad).Error()}
	}
	d := outcome.Doctor{CanRecord: doc.CanRecord}
	if doc.CanRecord != (err == nil) {
		d.Error = fmt.Sprintf("can_record is %v, and the exit status says %v", doc.CanRecord, err)
	}
	for _, c := range doc.Checks {
		if !c.OK {
			d.Without = append(d.Without, c.Name)
		}
	}
	return d
}

// side is one variant in what dwell demo prints.
type side struct {
	Recording struct {
		Events int64 `json:"events"`
		Lost   int64 `json:"lost"`
	} `json:"recording"`
	Requests struct {
		Count      int     `json:"count"`
		Associated float64 `json:"associated_share"`
		P50        int64   `json:"p50_ns"`
	} `json:"requests"`
	Findings []struct {
		ID     string `json:"id"`
		Impact struct {
			P50 int64 `json:"p50_saving_ns"`
		} `json:"impact"`
	} `json:"findings"`
}

func (s *side) ids() []string {
	ids := []string{}
	for _, f := range s.Findings {
		ids = append(ids, f.ID)
	}
	return ids
}

func playDemo() outcome.Demo {
	out, err := run("demo", "--json", "--for", demoFor.String(), "--rate", fmt.Sprint(demoRate))
	if err != nil {
		return outcome.Demo{Error: err.Error()}
	}
	var doc struct {
		Live  bool `json:"live"`
		Bad   side `json:"bad"`
		Fixed side `json:"fixed"`
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		return outcome.Demo{Error: err.Error()}
	}
	d := outcome.Demo{
		Live: doc.Live, Findings: doc.Bad.ids(), Repaired: doc.Fixed.ids(), Requests: doc.Bad.Requests.Count,
		Associated: doc.Bad.Requests.Associated, Lost: doc.Bad.Recording.Lost + doc.Fixed.Recording.Lost,
		Events: doc.Bad.Recording.Events + doc.Fixed.Recording.Events,
		Before: doc.Bad.Requests.P50, After: doc.Fixed.Requests.P50,
	}
	if len(doc.Bad.Findings) > 0 {
		d.Saving = doc.Bad.Findings[0].Impact.P50
	}
	return d
}

// complaint returns the first line of the kernel's log that tells of a fault in it.
func complaint() string {
	bad := regexp.MustCompile(`BUG:|WARNING:|Oops|general protection|unable to handle|lockup|rcu.*stall`)
	f, err := os.OpenFile("/dev/kmsg", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	for record := make([]byte, 8192); ; {
		n, err := syscall.Read(int(f.Fd()), record)
		if err == syscall.EPIPE { // it was overwritten meanwhile
			continue
		}
		if err != nil || n <= 0 {
			return ""
		}
		if line := string(record[:n]); bad.MatchString(line) {
			_, text, _ := strings.Cut(line, ";")
			return strings.TrimSpace(strings.SplitN(text, "\n", 2)[0])
		}
	}
}
