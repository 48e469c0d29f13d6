package demo

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Command is a program and the arguments that make it call Serve.
type Command func(dir, store string, mode Mode) *exec.Cmd

// Service is a running shop with its store, each a process of its own.
type Service struct {
	URL string // of the shop
	PID int    // of the shop

	dir      string
	storeURL string
	children []child
}

type child struct {
	cmd   *exec.Cmd
	stdin io.Closer // closing it ends the process
}

// Start starts the store and then the shop, through command, and returns when both
// listen. The caller stops the Service.
func Start(ctx context.Context, command Command, mode Mode) (*Service, error) {
	dir, err := os.MkdirTemp("", "dwell-demo-")
	if err != nil {
		return nil, fmt.Errorf("start the demo: %w", err)
	}
	s := &Service{dir: dir}
	if err := s.start(ctx, command, mode); err != nil {
		s.Stop()
		return nil, fmt.Errorf("start the demo: %w", err)
	}
	return s, nil
}

func (s *Service) start(ctx context.Context, command Command, mode Mode) error {
	if err := writeCertificate(s.dir); err != nil {
		return err
	}
	address, err := s.spawn(ctx, command(s.dir, "", mode))
	if err != nil {
		return err
	}
	s.storeURL = "https://" + address
	if address, err = s.spawn(ctx, command(s.dir, s.storeURL, mode)); err != nil {
		return err
	}
	s.URL = "http://" + address
	s.PID = s.children[1].cmd.Process.Pid
	return nil
}

// spawn starts one process and waits for the line with its address.
func (s *Service) spawn(ctx context.Context, cmd *exec.Cmd) (string, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	s.children = append(s.children, child{cmd, stdin})
	stop := context.AfterFunc(ctx, func() { stdin.Close() })
	defer stop()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s did not say where it listens: %w", cmd.Path, err)
	}
	return strings.TrimSpace(line), nil
}

// Stop ends both processes, the shop first, and removes their files.
func (s *Service) Stop() {
	for i := len(s.children) - 1; i >= 0; i-- {
		c := s.children[i]
		c.stdin.Close()
		timer := time.AfterFunc(5*time.Second, func() { c.cmd.Process.Kill() })
		c.cmd.Wait() // its exit status says nothing that matters now
		timer.Stop()
	}
	s.children = nil
	os.RemoveAll(s.dir)
}

// StoreStats asks the store for its own metrics.
func (s *Service) StoreStats(ctx context.Context) (StoreStats, error) {
	var stats StoreStats
	roots, err := readRoots(s.dir)
	if err != nil {
		return stats, err
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: storeName}}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.storeURL+"/stats", nil)
	if err != nil {
		return stats, err
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return stats, fmt.Errorf("ask the demo's store for its metrics: %w", err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&stats); err != nil {
		return stats, fmt.Errorf("read the metrics of the demo's store: %w", err)
	}
	return stats, nil
}
