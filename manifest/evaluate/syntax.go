package evaluate

import (
	"fmt"
	"regexp"
	"strings"
)

// place is the first line of Node's report of a syntax error, "file:///m.mjs:3".
var place = regexp.MustCompile(`^(?:file://)?/\S*:\d+$`)

// syntaxError finds Node's report of a syntax error in what a process has printed: the
// place, the line itself, signs below the column, and behind that the error. Nothing but
// this report has the place. It returns nil where there is none.
func syntaxError(printed []string) error {
	at, column := "", ""
	for _, line := range printed {
		signs := strings.TrimSpace(line)
		switch {
		case place.MatchString(line):
			at, column = line, ""
		case at == "":
		case signs != "" && strings.Trim(signs, "^") == "":
			column = fmt.Sprintf(":%d", strings.IndexByte(line, '^')+1)
		case strings.HasPrefix(line, "SyntaxError: "):
			return fmt.Errorf("cannot be evaluated: %s (at %s%s)", oneLine(line, maxQuoted), at, column)
		}
	}
	return nil
}
