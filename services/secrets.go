package services

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/airi-host/airi-host/internal/regular"
	"github.com/airi-host/airi-host/protocol"
)

// maxSecret is how long a secret may be, in bytes.
const maxSecret = 64 << 10

// Secrets are what secrets.resolve may give out, and how often.
type Secrets struct {
	// Declared are the secrets by their id.
	Declared map[string]Secret
	// PerMinute is how many secrets one plugin may resolve for one company within any
	// minute; 0 means 30, as in the reference host.
	PerMinute int
}

// Secret says where the value of a secret is and who may have it. It is read whenever
// it is resolved and never kept, at most 64 KiB of text.
type Secret struct {
	// Env names the variable of the host's environment that holds it, or File the
	// file, less one line end at its end. Exactly one of them is set.
	Env, File string
	// Plugins and Companies are who may resolve it; none stands for all.
	Plugins, Companies []string
}

// secretService serves secrets.resolve: {secretRef, companyId?} → the value.
type secretService struct {
	declared map[string]Secret
	rate     *window
}

func newSecretService(s Secrets) secretService {
	return secretService{s.Declared, newWindow(orDefault(s.PerMinute, 30), time.Minute)}
}

func (s secretService) resolve(_ context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	id, company := in.secretID(), in.company()
	if in.err == nil && company == "" {
		in.failf("companyId: expected a company: a secret is resolved for one")
	}
	if in.err != nil {
		return nil, in.err
	}
	if wait, ok := s.rate.allow(windowKey{call.Caller, company}, time.Now()); !ok {
		return nil, faultf(call, protocol.CodeOverloaded,
			"%d secrets a minute are the limit of one plugin and company: try again in %s, and keep what you have resolved",
			s.rate.max, wait.Round(time.Second))
	}
	secret, err := s.find(call, id, company)
	if err != nil {
		return nil, err
	}
	value, err := secret.value()
	if err != nil {
		fault := faultf(call, protocol.CodeInternal, "secret %s", quoted(id))
		fault.Err = err
		return nil, fault
	}
	return json.Marshal(value)
}

// secretID reads {secretRef: {type: "secret_ref", secretId, version?}}. Plain strings
// are refused in the reference host's words, which quote them; this does not.
func (p *params) secretID() string {
	const want = `{ type: "secret_ref", secretId, version? }`
	if kindOf(p.raw("secretRef")) != "an object" {
		p.expected("secretRef", want)
		return ""
	}
	ref := p.object("secretRef")
	if kind, _ := stringOf(ref.raw("type")); kind != "secret_ref" {
		p.failf(`secretRef.type: expected "secret_ref": a reference is %s`, want)
	}
	if version := ref.raw("version"); version != nil && string(version) != `"latest"` {
		p.failf(`secretRef.version: expected "latest" or none: this host keeps one version of a secret`)
	}
	return ref.text("secretId")
}

// find looks a secret up and says who may not have it.
func (s secretService) find(call protocol.Call, id, company string) (Secret, error) {
	secret, known := s.declared[id]
	switch {
	case !known:
		// Not CodeNotFound: a dialect may take that for a method that there is not.
		return secret, denial(faultf(call, protocol.CodeInvalid,
			"secretRef.secretId: no secret %s is declared: whoever runs the host declares it among its secrets, by this id, "+
				"as a variable of the environment or a file", quoted(id)))
	case len(secret.Plugins) > 0 && !slices.Contains(secret.Plugins, call.Caller):
		return secret, faultf(call, protocol.CodeDenied, "secret %s is for other plugins: whoever runs the host adds %q to its plugins",
			quoted(id), call.Caller)
	case len(secret.Companies) > 0 && !slices.Contains(secret.Companies, company):
		return secret, faultf(call, protocol.CodeDenied, "secret %s is for other companies: whoever runs the host adds %s to its companies",
			quoted(id), quoted(company))
	}
	return secret, nil
}

// quoted is a text of the plugin's choice as an error has it.
func quoted(s string) string { return fmt.Sprintf("%q", cutBytes(s, 200)) }

// value reads the secret from where it is. Its errors name that place, never the value.
func (s Secret) value() (string, error) {
	var value string
	var err error
	switch {
	case (s.Env == "") == (s.File == ""):
		return "", errors.New("its declaration names not exactly one of a variable and a file")
	case s.Env != "":
		value = os.Getenv(s.Env)
	default:
		value, err = readSecret(s.File)
	}
	where := "variable " + s.Env
	if s.File != "" {
		where = "file " + s.File
	}
	switch {
	case err != nil:
		return "", err
	case value == "":
		return "", fmt.Errorf("%s is empty or not there: set it for the host", where)
	case len(value) > maxSecret:
		return "", fmt.Errorf("%s is longer than %d bytes, the limit", where, maxSecret)
	case !utf8.ValidString(value):
		return "", fmt.Errorf("%s is no UTF-8 text: encode it, e.g. in base64", where)
	}
	return value, nil
}

// readSecret reads a file, less one line end.
func readSecret(path string) (string, error) {
	f, _, err := regular.Open(path)
	if errors.Is(err, regular.ErrIrregular) {
		return "", fmt.Errorf("file %s is no regular file", path)
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(f, maxSecret+3))
	value, isLine := strings.CutSuffix(string(content), "\n")
	if isLine {
		value = strings.TrimSuffix(value, "\r")
	}
	return value, err
}
