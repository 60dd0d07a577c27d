package capability

import (
	"errors"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What the regular expressions of a schema may be: the text of one in bytes, and the
// programs of all in instructions. Ten characters can stand for a thousand of these.
const (
	maxPattern      = 1024
	maxInstructions = 50_000
)

var errPatterns = errors.New("its regular expressions are too large: shorten them, and count to less in their braces")

// pattern reads a regular expression, for the library. What Go cannot read matches
// everything, for meter to find.
func (c *checker) pattern(text string) (jsonschema.Regexp, error) {
	if p, ok := c.patterns[text]; ok {
		return p, nil
	}
	if len(text) > maxPattern || c.instructions > maxInstructions {
		c.instructions = maxInstructions + 1
		return nil, errPatterns
	}
	p := &pattern{text: text, checker: c}
	c.patterns[text] = p
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return p, nil //nolint:nilerr // it is passed over, and listed
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return p, nil //nolint:nilerr // the same
	}
	p.instructions = len(prog.Inst)
	if c.instructions += p.instructions; c.instructions > maxInstructions {
		return nil, errPatterns
	}
	p.compiled, err = regexp.Compile(text)
	return p, err
}

// pattern is a regular expression that counts its steps.
type pattern struct {
	text string
	// compiled is nil where Go cannot read the text.
	compiled     *regexp.Regexp
	instructions int
	checker      *checker
}

func (p *pattern) String() string { return p.text }

// MatchString takes a time that grows with both the string and the expression.
func (p *pattern) MatchString(s string) bool {
	return p.compiled == nil || p.checker.spend(len(s)*p.instructions/256) && p.compiled.MatchString(s)
}

// passOver lists a schema's regular expressions that cannot be checked. Which names
// one in "patternProperties" stands for is not known, so that it has to stand for
// all of them: else "additionalProperties" would refuse some that are right.
func (c *checker) passOver(s *jsonschema.Schema) {
	if p, ok := s.Pattern.(*pattern); ok && p.compiled == nil {
		c.unchecked = append(c.unchecked, pointerOf(s.Location)+"/pattern")
	}
	for re := range s.PatternProperties {
		if p := re.(*pattern); p.compiled == nil {
			c.unchecked = append(c.unchecked, pointerOf(s.Location)+"/patternProperties/"+escapeToken(p.text))
			s.PatternProperties[re] = &jsonschema.Schema{Bool: new(true)}
		}
	}
}
