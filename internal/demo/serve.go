package demo

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// ServeOptions are those of one of the demo's two processes.
type ServeOptions struct {
	Dir   string // holds the certificate and the store's file
	Store string // base URL of the store; "" serves the store itself
	Mode  Mode   // of the shop
	In    io.Reader
	Out   io.Writer
}

// Serve runs the store or the shop on a free loopback port, prints its address as
// one line on Out, and ends when ctx does or when In is closed, so that neither
// process outlives the one that started it.
func Serve(ctx context.Context, o ServeOptions) error {
	o.takeName()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		io.Copy(io.Discard, o.In) // ends with the pipe, whatever the error
		cancel()
	}()
	handler, config, err := o.handler()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the demo: %w", err)
	}
	if _, err := fmt.Fprintln(o.Out, listener.Addr()); err != nil {
		return err
	}
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the demo: %w", err)
	}
	return nil
}

func (o ServeOptions) takeName() {
	if o.Store != "" {
		TakeName("demo-shop")
		return
	}
	TakeName("demo-store")
}

// TakeName names the process. Where that is not possible it keeps the name of its executable, which does no harm.
func TakeName(name string) { os.WriteFile("/proc/self/comm", []byte(name), 0) }

// handler returns what to serve, and the TLS configuration if it is to be encrypted.
func (o ServeOptions) handler() (http.Handler, *tls.Config, error) {
	if o.Store != "" {
		roots, err := readRoots(o.Dir)
		if err != nil {
			return nil, nil, err
		}
		return NewShop(o.Store, roots, o.Mode).Handler(), nil, nil
	}
	store, err := OpenStore(filepath.Join(o.Dir, "store.db"))
	if err != nil {
		return nil, nil, err
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(o.Dir, certFile), filepath.Join(o.Dir, keyFile))
	if err != nil {
		return nil, nil, fmt.Errorf("load the demo's certificate: %w", err)
	}
	return store.Handler(), &tls.Config{Certificates: []tls.Certificate{pair}}, nil
}
