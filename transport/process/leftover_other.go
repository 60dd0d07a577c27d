//go:build unix && !linux

package process

import (
	"context"
	"errors"
	"fmt"
)

// Sweep ends what hosts of the same owner, which were killed, have left behind. It
// needs Linux: elsewhere it returns an error that is errors.ErrUnsupported.
func Sweep(_ context.Context, owner string) ([]Leftover, error) {
	if err := checkOwner(owner); err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	return nil, fmt.Errorf("sweep: leftovers of a killed host cannot be told from other processes here: %w", errors.ErrUnsupported)
}
