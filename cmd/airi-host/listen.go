package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	"github.com/airi-host/airi-host/manifest"
)

// defaultListen is where a host listens that was told nothing of it.
const defaultListen = "127.0.0.1:6121"

// listenOff is the --listen of a host that does not.
const listenOff = "off"

// The flags on where a host listens.
const (
	flagListen    = "listen"
	flagTokenFile = "token-file"
	flagOrigin    = "allow-origin"
	flagRemote    = "allow-remote"
)

// listenOptions say where a host listens for HTTP: the flags, until they are laid over
// what the settings say.
type listenOptions struct {
	manifest.ListenSettings
	// by tells whether a flag was given; nil means that all were.
	by func(flag string) bool
	// usual is where it listens unless it is told; "" is defaultListen.
	usual string
}

func (o *listenOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.Address, flagListen, defaultListen, "where to answer HTTP: an address, with the port 0 for any that is free, or off")
	cmd.Flags().StringVar(&o.Token.File, flagTokenFile, "", "a file with the token that HTTP requests must have")
	cmd.Flags().StringSliceVar(&o.Origins, flagOrigin, nil, "a web page that may ask over HTTP, e.g. http://localhost:5173; may be given again")
	cmd.Flags().BoolVar(&o.Remote, flagRemote, false, "permit an address that can be reached from other machines, which takes a token as well")
}

// over lays the flags that are given over settings.
func (o *listenOptions) over(given func(flag string) bool, s *manifest.ListenSettings) {
	if given(flagListen) {
		s.Address = o.Address
	}
	if given(flagTokenFile) {
		s.Token = o.Token
	}
	if given(flagOrigin) {
		s.Origins = o.Origins
	}
	if given(flagRemote) {
		s.Remote = o.Remote
	}
}

// address is where it listens.
func (o listenOptions) address() string { return cmp.Or(o.Address, o.usual, defaultListen) }

// given tells that the address was asked for.
func (o listenOptions) given() bool { return o.Address != "" }

// was tells whether a flag was given.
func (o listenOptions) was(flag string) bool { return o.by == nil || o.by(flag) }

// said names what said something: a flag if it was given, else a setting.
func (o listenOptions) said(flag, setting string) string {
	if o.was(flag) {
		return "--" + flag
	}
	return setting
}

// listenHTTP opens the listener for HTTP; nil where there is to be none. That the usual
// address cannot be had is no error unless it was asked for: it is told, and the host
// goes on without.
func (o listenOptions) listenHTTP(ctx context.Context, log *slog.Logger) (net.Listener, admin.Guard, error) {
	if o.address() == listenOff {
		return nil, admin.Guard{}, nil
	}
	guard, err := o.guard()
	if err != nil {
		return nil, guard, err
	}
	config, err := o.tls()
	if err != nil {
		return nil, guard, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.address())
	if err == nil && config != nil {
		return secured{l, config}, guard, nil
	}
	if err == nil {
		return l, guard, nil
	}
	err = fmt.Errorf("%w: choose another one with --listen, e.g. 127.0.0.1:0, or --listen off", o.reason(ctx, err))
	if o.given() {
		return nil, guard, fmt.Errorf("%s %s: %w", o.said(flagListen, "listen.address"), o.address(), err)
	}
	log.Warn("this host does not answer HTTP", "address", o.address(), "reason", err)
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
	for _, one := range o.Origins {
		if !manifest.IsOrigin(one) {
			return usageError{fmt.Errorf("--%s %q: expected an origin as browsers send it, e.g. http://localhost:5173", flagOrigin, one)}
		}
	}
	if o.address() == listenOff {
		return nil
	}
	if _, err := o.guard(); err != nil {
		return err
	}
	_, err := o.tls()
	return err
}

// holder tells which host has the address, if it is one and says so.
func (o listenOptions) holder(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+o.address()+"/api/v1/host", nil)
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
	g := admin.Guard{Origins: o.Origins, Hosts: o.Hosts}
	said := o.said(flagListen, "listen.address")
	name, _, err := net.SplitHostPort(o.address())
	if err != nil {
		return g, usageError{fmt.Errorf("%s %q: expected an address and a port, e.g. %s, or off", said, o.address(), defaultListen)}
	}
	if g.Token, err = o.token(); err != nil {
		return g, err
	}
	addr, err := netip.ParseAddr(name)
	g.Loopback = name == "localhost" || err == nil && addr.Unmap().IsLoopback()
	g.Open = !g.Loopback
	switch {
	case g.Open && g.Token == "":
		return g, usageError{fmt.Errorf(
			"%s %s can be reached from other machines: give it a token with --token-file FILE, or listen on %s", said, o.address(), defaultListen)}
	case g.Open && !o.Remote:
		return g, usageError{fmt.Errorf(
			"%s %s can be reached from other machines: permit that with --allow-remote, or listen on %s", said, o.address(), defaultListen)}
	}
	return g, nil
}

// token reads the token, "" if there is none.
func (o listenOptions) token() (string, error) {
	switch where := o.Token; {
	case where.File != "":
		token, err := readToken(where.File)
		if err != nil {
			err = fmt.Errorf("%s %s: %w", o.said(flagTokenFile, "listen.token.file"), where.File, err)
		}
		return token, err
	case where.Env != "":
		text, ok := os.LookupEnv(where.Env)
		if !ok {
			return "", fmt.Errorf("listen.token.env %s: it is not set in the host's environment", where.Env)
		}
		token, err := parseToken(text)
		if err != nil {
			err = fmt.Errorf("listen.token.env %s: %w", where.Env, err)
		}
		return token, err
	}
	return "", nil
}

// leastToken is how short a token may be.
const leastToken = 16

// readToken returns what is in the file of a token, which is not for others to read.
func readToken(file string) (string, error) {
	text, err := readPrivate(file)
	if err != nil {
		return "", err
	}
	return parseToken(text)
}

// parseToken returns the token that a text is, but for blanks around it.
func parseToken(text string) (string, error) {
	token := strings.TrimSpace(text)
	if len(token) < leastToken || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("expected one word of at least %d characters: 'openssl rand -hex 32' makes one", leastToken)
	}
	return token, nil
}
