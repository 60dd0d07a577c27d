package lifecycle_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/airi-host/airi-host/lifecycle"
)

func ExampleMachine_Fire() {
	phase := lifecycle.Session.Initial()
	for _, ev := range []lifecycle.Event{lifecycle.SessionLoaded, lifecycle.SessionStartAuthentication} {
		next, err := lifecycle.Session.Fire("hello-0", phase, ev)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(phase, "->", next)
		phase = next
	}
	// Output:
	// loading -> loaded
	// loaded -> authenticating
}

func ExampleMachine_Move() {
	phase, err := lifecycle.Session.Move("hello-0", lifecycle.Stopped, lifecycle.Prepared)
	fmt.Println(phase, errors.As(err, new(*lifecycle.IllegalError)))
	fmt.Println(err)
	// Output:
	// stopped true
	// Invalid plugin lifecycle transition: stopped -> prepared for module hello-0
}

func ExampleNegotiate() {
	host := lifecycle.Proposal{
		Protocol: lifecycle.Versions{Preferred: "v2", Supported: []string{"v1"}},
		API:      lifecycle.Versions{Preferred: "v1"},
	}
	peer := lifecycle.Proposal{
		Protocol: lifecycle.Versions{Preferred: "v2", Supported: []string{"v1"}},
		API:      lifecycle.Versions{Preferred: "v1"},
	}
	agreed := lifecycle.Negotiate(host, peer)
	fmt.Println(agreed.Mode, agreed.Protocol, agreed.API)
	// Output: downgraded v1 v1
}

func ExampleRender() {
	if err := lifecycle.Render(os.Stdout, lifecycle.Capability, lifecycle.FormatTable); err != nil {
		fmt.Println(err)
	}
	// Output:
	// capability: begins in announced, never ends for good
	//
	//               ANNOUNCE
	//               |  MARK_READY
	//               |  |  MARK_DEGRADED
	//               |  |  |  WITHDRAW
	// a  announced  a  b  c  d
	// b  ready      a  b  c  d
	// c  degraded   a  b  c  d
	// d  withdrawn  a  .  .  d
	//
	// a letter: the state that the event leads to; a dot: not possible
}
