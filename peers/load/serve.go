package load

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
)

// maxLine is the longest line in bytes, in both directions.
const maxLine = 16 << 20

// order is one line to a subject's process.
type order struct {
	ID      int64    `json:"id"`
	Op      string   `json:"op"`
	Workers []Worker `json:"workers"`
	Load    Load     `json:"load"`
}

// reply is one line from it.
type reply struct {
	ID     int64    `json:"id"`
	Result any      `json:"result"`
	Error  *failure `json:"error,omitempty"`
}

type failure struct {
	Message string          `json:"message"`
	Code    json.RawMessage `json:"code,omitempty"`
}

// Serve carries out the orders that come in until there are no more, one after the
// other, and closes the subject then.
func Serve(ctx context.Context, in io.Reader, out io.Writer, s Subject) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	answers := json.NewEncoder(out)
	for lines.Scan() {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return closing(s, fmt.Errorf("order: %w", err))
		}
		r := reply{ID: o.ID}
		result, err := o.carryOut(ctx, s)
		if r.Result = result; err != nil {
			r.Error = &failure{Message: err.Error()}
		}
		if err := answers.Encode(r); err != nil {
			return closing(s, err)
		}
	}
	return closing(s, lines.Err())
}

func (o order) carryOut(ctx context.Context, s Subject) (any, error) {
	switch o.Op {
	case "workers":
		return nil, s.Start(ctx, o.Workers)
	case "run":
		return Drive(ctx, s, o.Load)
	case "memory":
		bytes, err := Memory()
		return map[string]int64{"bytes": bytes}, err
	default:
		return nil, fmt.Errorf("unknown operation %q: expected workers, run or memory", o.Op)
	}
}

// closing closes the subject and returns the first error.
func closing(s Subject, err error) error {
	if closed := s.Close(); err == nil {
		return closed
	}
	return err
}
