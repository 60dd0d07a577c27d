package manifest

import "errors"

// anID is a name as the strictest of the ecosystems has it: Paperclip.
var anID = like(`an id of a-z, 0-9, ".", "_" and "-", a letter or a digit first`, `^[a-z0-9][a-z0-9._-]*$`, maxName)

// CheckName says whether a plugin of any ecosystem can have the name; an error says what
// was expected.
func CheckName(name string) error {
	var r reader
	anID.check(&r, "name", value{kind: text, text: name})
	if len(r.problems) > 0 {
		return errors.New("NAME: " + r.problems[0].Message)
	}
	return nil
}
