package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// ErrUnavailable tells that something outside is missing: Node, npm or the network.
var ErrUnavailable = errors.New("the real peers cannot be had")

// offline is how npm says that it cannot reach a registry.
var offline = regexp.MustCompile(`ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT`)

// npm runs it in a directory.
func npm(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "npm", append(args, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "npm_config_fetch_retries=1", "npm_config_fetch_retry_mintimeout=1000", "npm_config_fetch_retry_maxtimeout=5000")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("npm %s: %w", args[0], context.Cause(ctx))
	case offline.Match(out):
		return fmt.Errorf("%w: npm reaches no registry", ErrUnavailable)
	}
	return fmt.Errorf("npm %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
}

// haveNode tells whether the programs are there.
func haveNode() error {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w: %s is not installed", ErrUnavailable, program)
		}
	}
	return nil
}
