package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// The dialects of workers, by their names.
const (
	dialectPaperclip = "paperclip"
	dialectEliza     = "eliza"
)

var dialects = []string{dialectEliza, dialectPaperclip}

const (
	// dialectFlag says which dialect is spoken, dialectVariable the same in the environment.
	dialectFlag     = "dialect"
	dialectVariable = "AIRI_HOST_DIALECT"
	// paperclipID is what a Paperclip host sets.
	paperclipID = "PAPERCLIP_PLUGIN_ID"
)

// chosen is the dialect that the arguments or the environment name, "" where neither does.
// In this order:
//
//	--dialect NAME                         whoever starts the program says so
//	AIRI_HOST_DIALECT=NAME                 the same
//	ELIZA_REMOTE_PLUGIN_CHANNEL=stdio      an elizaOS host, to which a worker speaks first
//	PAPERCLIP_PLUGIN_ID                    a Paperclip host
func chosen(args []string, lookup func(string) (string, bool)) (string, error) {
	if name, from := byHand(args, lookup); from != "" {
		if !slices.Contains(dialects, name) {
			return "", fmt.Errorf("%s: expected one of %s, got %q", from, strings.Join(dialects, ", "), name)
		}
		return name, nil
	}
	channel, hasChannel := lookup(elizaChannel)
	_, isEliza := lookup(elizaID)
	_, isPaperclip := lookup(paperclipID)
	switch isEliza = isEliza || hasChannel; {
	case isEliza && isPaperclip:
		return "", fmt.Errorf("which host is this? Both an elizaOS host's variables and %s are set: start the plugin with --%s NAME, one of %s",
			paperclipID, dialectFlag, strings.Join(dialects, ", "))
	case isEliza && channel != elizaStdio:
		return "", fmt.Errorf("%s is %q: expected %q: a program can be a process of its own alone: have the manifest's permissions.isolation be isolated-process",
			elizaChannel, channel, elizaStdio)
	case isEliza:
		return dialectEliza, nil
	case isPaperclip:
		return dialectPaperclip, nil
	}
	return "", nil
}

// byHand is the name that is given by hand, and where.
func byHand(args []string, lookup func(string) (string, bool)) (name, from string) {
	for i, arg := range args {
		if arg == "--" {
			break
		}
		flag, value, has := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		if flag != dialectFlag || arg[0] != '-' {
			continue
		}
		if !has && i+1 < len(args) {
			value = args[i+1]
		}
		return value, "--" + dialectFlag
	}
	if value, ok := lookup(dialectVariable); ok && value != "" {
		return value, dialectVariable
	}
	return "", ""
}

// spoken reads the host's first frame and tells by it which dialect is spoken; "" is the end
// of the input before any. What it returns in place of the input begins with that frame.
func spoken(ctx context.Context, in io.Reader) (string, io.Reader, error) {
	type first struct {
		line []byte
		err  error
	}
	read := make(chan first, 1)
	go func() {
		line, err := firstLine(in)
		read <- first{line, err}
	}()
	select {
	case <-ctx.Done():
		return "", in, nil
	case f := <-read:
		begun := &begun{io.MultiReader(bytes.NewReader(f.line), in), in}
		blank := len(bytes.TrimSpace(f.line)) == 0
		switch {
		case blank && (f.err == nil || errors.Is(f.err, io.EOF)):
			return "", begun, nil
		case blank:
			return "", begun, fmt.Errorf("reading from the host: %w", f.err)
		}
		name, err := dialectOf(f.line)
		return name, begun, err
	}
}

// begun is an input whose beginning was read already.
type begun struct {
	io.Reader
	origin io.Reader
}

// Close closes the input, where it can be.
func (b *begun) Close() error {
	closeAll(b.origin)
	return nil
}

// firstLine reads up to the end of the first line that is not blank, and perhaps beyond. A
// line of more than defaultElizaRecord bytes is an error.
func firstLine(in io.Reader) ([]byte, error) {
	var line []byte
	piece := make([]byte, 64<<10)
	for {
		n, err := in.Read(piece)
		more := piece[:n]
		if len(line) == 0 {
			more = bytes.TrimLeft(more, blanks)
		}
		line = append(line, more...)
		switch {
		case err != nil, bytes.IndexByte(more, '\n') >= 0:
			return line, err
		case len(line) > defaultElizaRecord:
			return nil, fmt.Errorf("the first line has more than %d bytes, the limit", defaultElizaRecord)
		}
	}
}

// blanks are what may stand before a frame.
const blanks = " \t\r\n"

// dialectOf tells by a frame which dialect it is of.
func dialectOf(begin []byte) (string, error) {
	line, _, _ := bytes.Cut(bytes.TrimLeft(begin, blanks), []byte{'\n'})
	line = bytes.TrimSpace(line)
	name := ""
	protocol.EachMember(line, func(key, value []byte) {
		switch {
		case string(key) == "jsonrpc":
			name = dialectPaperclip
		case string(key) == "type" && name == "" && len(value) > 0 && value[0] == '"':
			name = dialectEliza
		}
	})
	if name == "" {
		return "", fmt.Errorf(`which host is this? The first line is neither JSON-RPC ("jsonrpc"), as a Paperclip host writes it, nor an elizaOS host's ("type"): %s: `+
			`start the plugin with --%s NAME, one of %s`, protocol.StrayText(line[:min(len(line), protocol.MaxExcerpt)]), dialectFlag, strings.Join(dialects, ", "))
	}
	return name, nil
}
