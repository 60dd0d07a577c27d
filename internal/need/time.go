package need

import "time"

// mostTime is the longest limit that Time gives.
const mostTime = 20 * time.Second

// Time tries something that depends on who is faster, a plugin or a limit: first with a
// limit of least, then, until enough says that it was, with twice as much, up to 20 s. On
// a machine that has much else to do, a plugin that sleeps for less than the limit may
// yet be slower. What the last try came to is the test's to judge.
func Time(least time.Duration, enough func(limit time.Duration) bool) {
	for limit := least; limit <= mostTime; limit *= 2 {
		if enough(limit) {
			return
		}
	}
}
