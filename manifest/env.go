package manifest

import (
	"fmt"
	"regexp"
	"strings"
)

// What a worker's environment may take, in bytes: one value, as much as Linux takes,
// and all names and values together. A short manifest can refer to a long value many
// times, so its own size is no bound.
const (
	maxVariable    = 128 << 10
	maxEnvironment = 1 << 20
)

// variableName is what can stand between the braces of ${…}.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand replaces each ${VAR} in a text by what lookup says; "$${" stands for "${"
// itself. What was put in is not looked through again. Each variable that lookup
// does not have is an error of its own.
func expand(s string, lookup func(string) (string, bool)) (string, []error) {
	var out strings.Builder
	var errs []error
	for s != "" {
		literal, name, rest, err := nextVariable(s)
		if err != nil {
			return "", append(errs, err)
		}
		out.WriteString(literal)
		s = rest
		if name != "" {
			v, ok := lookup(name)
			if !ok {
				errs = append(errs, fmt.Errorf("%s is not set in the host's environment: set it, or write $${ for ${ itself", quote(name)))
			}
			out.WriteString(v)
		}
		if out.Len() > maxVariable {
			return "", append(errs, fmt.Errorf("expected at most %d bytes: put it into a file and give the file's path", maxVariable))
		}
	}
	return out.String(), errs
}

// nextVariable cuts s behind the first variable or escaped "${" in it: the text up
// to there, the variable's name or "", and what follows.
func nextVariable(s string) (literal, name, rest string, err error) {
	before, after, found := strings.Cut(s, "${")
	if !found {
		return s, "", "", nil
	}
	if head, escaped := strings.CutSuffix(before, "$"); escaped {
		return head + "${", "", after, nil
	}
	name, rest, closed := strings.Cut(after, "}")
	if !closed || !variableName.MatchString(name) {
		return "", "", "", fmt.Errorf("expected ${NAME}, found %s: write $${ for ${ itself", quote("${"+after))
	}
	return before, name, rest, nil
}
