//go:build !unix

package load

import "time"

// CPU is 0: this system does not say.
func CPU() time.Duration { return 0 }
