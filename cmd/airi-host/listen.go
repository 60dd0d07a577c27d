package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/admin"
)

// defaultListen is where a host listens that was told nothing of it.
const defaultListen = "127.0.0.1:6121"

// listenOff is the --listen of a host that does not.
const listenOff = "off"

// listenOptions are the flags on where a host listens for HTTP.
type listenOptions struct {
	address string
	// given tells that the address was asked for.
	given     bool
	tokenFile string
	origins   []string
}

func (o *listenOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.address, "listen", defaultListen, "where to answer HTTP: an address, with the port 0 for any that is free, or off")
	cmd.Flags().StringVar(&o.tokenFile, "token-file", "", "a file with the token that HTTP requests must have; an address beyond loopback takes one")
	cmd.Flags().StringSliceVar(&o.origins, "allow-origin", nil, "a web page that may ask over HTTP, e.g. http://localhost:5173; may be given again")
}

// listenHTTP opens the listener for HTTP; nil where there is to be none. That the usual
// address cannot be had is no error unless it was asked for: it is told, and the host
// goes on without.
func (o listenOptions) listenHTTP(ctx context.Context, log *slog.Logger) (net.Listener, admin.Guard, error) {
	if o.address == listenOff {
		return nil, admin.Guard{}, nil
	}
	guard, err := o.guard()
	if err != nil {
		return nil, guard, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.address)
	if err == nil {
		return l, guard, nil
	}
	err = fmt.Errorf("%w: choose another one with --listen, e.g. 127.0.0.1:0, or --listen off", o.reason(ctx, err))
	if o.given {
		return nil, guard, fmt.Errorf("--listen %s: %w", o.address, err)
	}
	log.Warn("this host does not answer HTTP", "address", o.address, "reason", err)
	return nil, guard, nil
}

// reason says why it cannot listen, without the operation and the address.
func (o listenOptions) reason(ctx context.Context, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return errors.New("the address is in use" + o.holder(ctx))
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return fmt.Errorf("the address cannot be had: %w", err)
}

// check refuses flags that cannot be right, before anything is done.
func (o listenOptions) check() error {
	if o.address == listenOff {
		return nil
	}
	_, err := o.guard()
	return err
}

// holder tells which host has the address, if it is one and says so.
func (o listenOptions) holder(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+o.address+"/api/v1/host", nil)
	if err != nil {
		return ""
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		return ""
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	var who admin.HostInfo
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<16)).Decode(&who); err != nil || who.PID == 0 {
		return ""
	}
	return fmt.Sprintf(" by the host with pid %d", who.PID)
}

// guard says who may ask.
func (o listenOptions) guard() (admin.Guard, error) {
	g := admin.Guard{Origins: o.origins}
	name, _, err := net.SplitHostPort(o.address)
	if err != nil {
		return g, usageError{fmt.Errorf("--listen %q: expected an address and a port, e.g. %s, or off", o.address, defaultListen)}
	}
	if o.tokenFile != "" {
		if g.Token, err = readToken(o.tokenFile); err != nil {
			return g, fmt.Errorf("--token-file %s: %w", o.tokenFile, err)
		}
	}
	addr, err := netip.ParseAddr(name)
	g.Loopback = name == "localhost" || err == nil && addr.Unmap().IsLoopback()
	g.Open = !g.Loopback
	if g.Open && g.Token == "" {
		return g, usageError{fmt.Errorf(
			"--listen %s can be reached from other machines: give it a token with --token-file FILE, or listen on %s", o.address, defaultListen)}
	}
	return g, nil
}

// leastToken is how short a token may be, mostToken how long its file.
const (
	leastToken = 16
	mostToken  = 4096
)

// readToken returns what is in the file of a token, which is not for others to read.
func readToken(file string) (string, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return "", withoutPath(err)
	case !info.Mode().IsRegular() || info.Size() > mostToken:
		return "", errors.New("expected a short text file")
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("it can be read by others (mode %04o): chmod 600 %s", info.Mode().Perm()&fs.ModePerm, file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", withoutPath(err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < leastToken || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("expected one word of at least %d characters: 'openssl rand -hex 32' makes one", leastToken)
	}
	return token, nil
}
