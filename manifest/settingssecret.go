package manifest

import (
	"path/filepath"
	"slices"
)

var secretShape = shape[Secret]{
	fields: []field[Secret]{
		envField(func(s *Secret) *string { return &s.Env }),
		fileField(func(s *Secret) *string { return &s.File }),
		{"plugins", "", listOnce(func(s *Secret) *[]string { return &s.Plugins },
			`an array of plugins' names, e.g. ["hello"]`, tidy("a string, a plugin's name"))},
		{"companies", "", listOnce(func(s *Secret) *[]string { return &s.Companies },
			`an array of companies' ids, e.g. ["acme"]`, tidy("a string, a company's id"))},
	},
	also: notBoth,
}

var tokenShape = shape[TokenSource]{
	fields: []field[TokenSource]{
		envField(func(s *TokenSource) *string { return &s.Env }),
		fileField(func(s *TokenSource) *string { return &s.File }),
	},
	also: notBoth,
}

// envField names the variable that holds a secret.
func envField[T any](to func(*T) *string) field[T] {
	return field[T]{"env", "", func(r *reader, at fieldPath, v value, into *T) {
		if v.kind != text || !variableName.MatchString(v.text) {
			r.add(at, `expected the name of a variable, e.g. "API_KEY", found %s: the secret itself does not stand here`, v.kindAlone())
			return
		}
		*to(into) = v.text
	}}
}

// fileField names the file that holds a secret.
func fileField[T any](to func(*T) *string) field[T] {
	return field[T]{"file", "", func(r *reader, at fieldPath, v value, into *T) {
		if v.kind != text || !filepath.IsAbs(v.text) || slices.Contains([]byte(v.text), 0) {
			r.add(at, `expected the absolute path of a file, e.g. "/run/secrets/api", found %s: the secret itself does not stand here`, v.kindAlone())
			return
		}
		*to(into) = v.text
	}}
}

// notBoth notes that a secret is in two places.
func notBoth(r *reader, at fieldPath, v value) {
	if v.has("env") && v.has("file") {
		r.add(at, "expected one of env and file, found both: remove one")
	}
}

// whereSecrets is the hint for a secret that stands in the file itself.
const whereSecrets = `a secret does not stand in this file: put it into a variable and write {"env": "NAME"}, or into a file and write {"file": "/path"}`

// whereIs reads where a secret is. What stands in its place is not repeated: somebody
// may have written the secret itself.
func whereIs[T any](r *reader, at fieldPath, v value, as *shape[T]) (s T) {
	if v.kind != object {
		r.add(at, "expected an object, found %s: %s", v.kind, whereSecrets)
		return s
	}
	known, plain := value{kind: object}, false
	for _, m := range v.members {
		if m.value.kind == text && !as.nearly(m.name) {
			r.add(at.member(m.name), "unknown field: %s", whereSecrets)
			plain = true
			continue
		}
		known.members = append(known.members, m)
	}
	as.read(r, at, known, &s)
	if !plain && !known.hasAlike("env") && !known.hasAlike("file") && !r.blames(at) {
		r.add(at, `expected {"env": "NAME"} or {"file": "/path"}, found neither`)
	}
	return s
}

// nearly tells whether a name is a field's, or a slip away from it.
func (s shape[T]) nearly(name string) bool {
	return slices.ContainsFunc(s.names(), func(known string) bool {
		return alike(name, known) || distance(name, known) <= 2
	})
}

// kindAlone describes a value without a word of it.
func (v value) kindAlone() string {
	if v.kind == text {
		return "another string"
	}
	return string(v.kind)
}

// expectObject is expect for an object whose place may hold a secret instead: it
// repeats nothing of that.
func (r *reader) expectObject(at fieldPath, v value, what string) bool {
	if v.kind != object {
		r.add(at, "expected %s, found %s", what, v.kind)
		return false
	}
	return true
}
