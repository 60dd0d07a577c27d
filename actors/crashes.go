package actors

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/airi-host/airi-host/lifecycle"
)

// WorkerInfo is what a plugin's supervisor knows of it, over all its sessions, as
// it was at one moment.
type WorkerInfo struct {
	// State is where the table lifecycle.Worker stands.
	State lifecycle.State `json:"state"`
	// Crashes is how many there were; InARow, how many of them are not forgiven.
	Crashes int `json:"crashes"`
	InARow  int `json:"inARow"`
	// LastCrash is why it crashed last, at LastCrashAt.
	LastCrash   string    `json:"lastCrash,omitempty"`
	LastCrashAt time.Time `json:"lastCrashAt,omitzero"`
	// NextRestart is when it will be started again; zero when that is not planned.
	NextRestart time.Time `json:"nextRestart,omitzero"`
	// GivenUp tells that it crashed and will not be started but by hand.
	GivenUp bool `json:"givenUp,omitempty"`
}

// crashes is a supervisor's memory. The supervisor writes it, anybody reads it.
type crashes struct {
	mu     sync.Mutex
	policy RestartPolicy
	info   WorkerInfo
	// readySince is when the running session became ready; zero when none is.
	readySince time.Time
}

func newCrashes(policy RestartPolicy) *crashes {
	return &crashes{policy: policy, info: WorkerInfo{State: lifecycle.Worker.Initial()}}
}

// follow goes by a policy from now on.
func (c *crashes) follow(policy RestartPolicy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.policy = policy
}

// snapshot tells what is known now.
func (c *crashes) snapshot(now time.Time) WorkerInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	info := c.info
	if c.stable(now) {
		info.InARow = 0
	}
	return info
}

// stable tells whether what was before the running session is forgiven.
func (c *crashes) stable(now time.Time) bool {
	return !c.readySince.IsZero() && now.Sub(c.readySince) >= c.policy.Stable
}

// enter notes the worker's state; only one that runs can earn forgiveness.
func (c *crashes) enter(state lifecycle.State, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.info.State = state
	switch {
	case state != lifecycle.WorkerRunning:
		if c.stable(now) {
			c.info.InARow = 0
		}
		c.readySince = time.Time{}
	case c.readySince.IsZero():
		c.readySince = now
	}
}

// add counts a crash of a worker that was told to have crashed, and tells when
// the next start is due; zero means that the worker is given up.
func (c *crashes) add(now time.Time, why error) (next time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.info.Crashes++
	c.info.InARow++
	c.info.LastCrash, c.info.LastCrashAt = why.Error(), now
	if c.policy.Disabled || c.info.InARow > c.policy.MaxInARow {
		c.info.GivenUp = true
	} else {
		c.info.NextRestart = now.Add(c.policy.pause(c.info.InARow))
	}
	return c.info.NextRestart
}

// unplan forgets the next start: it has come, or will not.
func (c *crashes) unplan() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.info.NextRestart = time.Time{}
}

// forgive is for a start or a stop by hand: what follows begins from nothing.
func (c *crashes) forgive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.info.InARow, c.info.GivenUp, c.info.NextRestart = 0, false, time.Time{}
}

// comeback tells whether another session will take the place of one that crashed.
type comeback uint8

const (
	// noComeback: none will.
	noComeback comeback = iota
	// planned: one will, at a time that is known.
	planned
	// due: one is on its way, and waits until the crashed one is gone.
	due
)

// crashReason is what is said of the capabilities of a plugin that crashed.
func crashReason(plugin string, err error, next time.Time) string {
	how, why := " crashed: ", err.Error()
	if f, ok := errors.AsType[*formerCrash](err); ok {
		how, why = " crashed before this host began: ", f.last
	} else if next.IsZero() {
		how = " failed: "
	}
	text := "plugin " + plugin + how + strings.TrimPrefix(why, "plugin "+plugin+": ")
	if !next.IsZero() {
		text += "; the next try is at " + next.UTC().Format(nextTryFormat)
	}
	return text
}

const nextTryFormat = "2006-01-02T15:04:05.000Z07:00"

// nextTry is what a caller is told of a restart.
func nextTry(next, now time.Time) string {
	return fmt.Sprintf("; the next try is in %s", max(next.Sub(now), 0).Round(time.Millisecond))
}
