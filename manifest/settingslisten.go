package manifest

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ListenSettings say where the running host is asked over HTTP, and by whom.
type ListenSettings struct {
	// Address is a host and a port, or "off"; it is not looked at here.
	Address string
	// Token says where the token is that requests must have; neither for none.
	Token TokenSource
	// Origins are the web pages that may ask.
	Origins []string
	// Hosts are the names under which the host may be called beside localhost and addresses.
	Hosts []string
	// Remote permits an address that can be reached from other machines.
	Remote bool
	// TLS says where the certificate and its key are; neither for none.
	TLS TLSFiles
}

// TLSFiles are a certificate, perhaps with those that lead to its authority, and its
// private key, in PEM; they are not read here.
type TLSFiles struct{ Cert, Key string }

// TokenSource says where a token is, which is not read here: in the variable Env of the
// host's environment, or in the file File. At most one of them is set.
type TokenSource struct{ Env, File string }

// LogSettings are about what is logged on standard error.
type LogSettings struct {
	// Level is debug, info, warn or error.
	Level string
	// Format is text or json.
	Format string
}

// RuntimeSettings are the programs that run plugins.
type RuntimeSettings struct {
	// Node is the absolute path of Node.js.
	Node string
}

// Folder is a folder of this machine that a plugin may use.
type Folder struct {
	// Path is absolute; "" for companies only.
	Path string
	// ReadOnly lets nothing be written or deleted.
	ReadOnly bool
	// Companies are the folders that stand in its place for a tenant.
	Companies map[string]CompanyFolder
}

// CompanyFolder is a [Folder] for one tenant.
type CompanyFolder struct {
	Path     string
	ReadOnly bool
}

// For returns the folder for a tenant, and false where there is none.
func (f Folder) For(company string) (CompanyFolder, bool) {
	if own, ok := f.Companies[company]; ok {
		return own, true
	}
	return CompanyFolder{f.Path, f.ReadOnly}, f.Path != ""
}

var listenShape = shape[ListenSettings]{fields: []field[ListenSettings]{
	{"address", "", func(r *reader, at fieldPath, v value, l *ListenSettings) {
		l.Address, _ = tidy(`an address and a port, e.g. "127.0.0.1:6121", or "off"`)(r, at, v)
	}},
	{"token", "", func(r *reader, at fieldPath, v value, l *ListenSettings) { l.Token = whereIs(r, at, v, &tokenShape) }},
	{"origins", "", listOnce(func(l *ListenSettings) *[]string { return &l.Origins },
		`an array of web pages' origins, e.g. ["http://localhost:5173"]`, anOrigin)},
	{"hosts", "", listOnce(func(l *ListenSettings) *[]string { return &l.Hosts },
		`an array of names, e.g. ["airi.lan"]`, aHost)},
	{"remote", "", truth(func(l *ListenSettings) *bool { return &l.Remote })},
	{"tls", "", nested(func(l *ListenSettings) *TLSFiles { return &l.TLS }, &tlsShape)},
}}

var tlsShape = shape[TLSFiles]{fields: []field[TLSFiles]{
	{"cert", aCertificate, absolute(func(f *TLSFiles) *string { return &f.Cert }, aCertificate)},
	{"key", itsKey, absolute(func(f *TLSFiles) *string { return &f.Key }, itsKey)},
}}

// What the files of TLS are.
const (
	aCertificate = `the absolute path of a certificate in PEM, e.g. "/etc/airi-host/cert.pem"`
	itsKey       = `the absolute path of its private key in PEM, e.g. "/etc/airi-host/key.pem"`
)

// aHost takes a name under which a host is called, without a port.
func aHost(r *reader, at fieldPath, v value) (string, bool) {
	const want = `a name without a port, e.g. "airi.lan"`
	name, ok := tidy(want)(r, at, v)
	if ok && strings.ContainsAny(name, ":/@ \t") {
		r.add(at, "expected %s, found %s", want, v.found())
		return "", false
	}
	return name, ok
}

// anOrigin takes a web page's origin.
func anOrigin(r *reader, at fieldPath, v value) (string, bool) {
	if v.kind != text || !IsOrigin(v.text) {
		r.add(at, `expected an origin as browsers send it, e.g. "http://localhost:5173", found %s`, v.found())
		return "", false
	}
	return v.text, true
}

// IsOrigin tells whether text is a web page's origin as browsers send it: a scheme and a
// host, perhaps a port, in lower case, and nothing behind them. Any other is nobody's.
func IsOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme != "" && u.Hostname() != "" && text == strings.ToLower(u.Scheme+"://"+u.Host)
}

var logShape = shape[LogSettings]{fields: []field[LogSettings]{
	{"level", "", word(func(l *LogSettings) *string { return &l.Level }, "debug", "info", "warn", "error")},
	{"format", "", word(func(l *LogSettings) *string { return &l.Format }, "text", "json")},
}}

var runtimesShape = shape[RuntimeSettings]{fields: []field[RuntimeSettings]{
	{"node", "", absolute(func(s *RuntimeSettings) *string { return &s.Node }, `the absolute path of Node.js, e.g. "/usr/local/bin/node"`)},
}}

// checkProgram notes what is wrong with the program that runs plugins.
func (r *reader) checkProgram(root value, opts SettingsOptions) {
	at := fieldPath("runtimes.node")
	program := root.at("runtimes").at("node")
	if opts.CheckProgram == nil || r.blames(at) || program.kind != text {
		return
	}
	if err := opts.CheckProgram(program.text); err != nil {
		r.add(at, "%v", err)
	}
}

var declaredFolderShape = shape[Folder]{
	fields: []field[Folder]{
		{"path", "", absolute(func(f *Folder) *string { return &f.Path }, aDirectory)},
		{"readOnly", "", truth(func(f *Folder) *bool { return &f.ReadOnly })},
		{"companies", "", byName(func(f *Folder) *map[string]CompanyFolder { return &f.Companies },
			`an object of companies, e.g. {"acme": {"path": "/srv/acme"}}`, objectOf(&companyFolderShape))},
	},
	also: func(r *reader, at fieldPath, v value) {
		if !v.hasAlike("path") && !v.hasAlike("companies") {
			r.add(at, "expected a path, or companies with one each, found neither")
		}
	},
}

// aDirectory is what a folder's path is.
const aDirectory = `the absolute path of a directory, e.g. "/srv/notes"`

var companyFolderShape = shape[CompanyFolder]{fields: []field[CompanyFolder]{
	{"path", aDirectory, absolute(func(f *CompanyFolder) *string { return &f.Path }, aDirectory)},
	{"readOnly", "", truth(func(f *CompanyFolder) *bool { return &f.ReadOnly })},
}}

// objectOf reads an object of a shape by its name.
func objectOf[E any](s *shape[E]) func(*reader, fieldPath, value) E {
	return func(r *reader, at fieldPath, v value) (one E) {
		s.read(r, at, v, &one)
		return one
	}
}

// word reads one of some words.
func word[T any](to func(*T) *string, words ...string) func(*reader, fieldPath, value, *T) {
	return func(r *reader, at fieldPath, v value, into *T) {
		if v.kind != text || !slices.Contains(words, v.text) {
			r.add(at, `expected one of "%s", found %s`, strings.Join(words, `", "`), v.found())
			return
		}
		*to(into) = v.text
	}
}

// absolute reads an absolute path; what is there is not looked at.
func absolute[T any](to func(*T) *string, what string) func(*reader, fieldPath, value, *T) {
	return func(r *reader, at fieldPath, v value, into *T) {
		if v.kind != text || !filepath.IsAbs(v.text) || strings.ContainsRune(v.text, 0) {
			r.add(at, "expected %s, found %s", what, v.found())
			return
		}
		*to(into) = v.text
	}
}

// age reads how long something is kept, a second at least.
func age[T any](to func(*T) *time.Duration, most time.Duration) func(*reader, fieldPath, value, *T) {
	return func(r *reader, at fieldPath, v value, into *T) {
		d, ok := longDuration(v)
		if !ok || d < time.Second || d > most {
			r.add(at, `expected a time from 1s to %dh, as text ("90s") or in whole milliseconds (90000), found %s`, most/time.Hour, v.found())
			return
		}
		*to(into) = d
	}
}
