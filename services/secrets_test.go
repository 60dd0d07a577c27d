package services

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

const hunter = "hunter2-<&>-ü"

// secretFile is the path of a file with that content.
func secretFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func resolving(t *testing.T, secret Secret) worker {
	t.Helper()
	return newWorker(t, &plugins{}, Options{Secrets: Secrets{Declared: map[string]Secret{"s": secret}}})
}

const refS = `{"secretRef":{"type":"secret_ref","secretId":"s"}}`

func (w worker) wantSecret(want string) {
	w.t.Helper()
	var got string
	require.NoError(w.t, json.Unmarshal([]byte(w.call("secrets.resolve", refS)), &got))
	require.Equal(w.t, want, got)
}

func TestSecrets_comeFromTheEnvironment(t *testing.T) {
	w := resolving(t, Secret{Env: "AIRI_HOST_TEST_SECRET"})
	t.Setenv("AIRI_HOST_TEST_SECRET", hunter+"\n")
	w.wantSecret(hunter + "\n")
	t.Setenv("AIRI_HOST_TEST_SECRET", "changed")
	w.wantSecret("changed")
}

func TestSecrets_comeFromAFileLessOneLineEnd(t *testing.T) {
	for content, want := range map[string]string{
		hunter: hunter, hunter + "\n": hunter, hunter + "\r\n": hunter, hunter + "\n\n": hunter + "\n", hunter + "\r": hunter + "\r",
		strings.Repeat("x", maxSecret) + "\r\n": strings.Repeat("x", maxSecret),
	} {
		resolving(t, Secret{File: secretFile(t, content)}).wantSecret(want)
	}
}

func TestSecrets_aFileMayBeALink(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(secretFile(t, hunter), link))
	resolving(t, Secret{File: link}).wantSecret(hunter)
}

func TestSecrets_namesWhereTheValueIsNot(t *testing.T) {
	t.Setenv("AIRI_HOST_TEST_SECRET", "")
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	for words, secret := range map[string]Secret{
		`secret "s": variable AIRI_HOST_TEST_SECRET is empty or not there`: {Env: "AIRI_HOST_TEST_SECRET"},
		`/nowhere/s: no such file`:          {File: "/nowhere/s"},
		fifo + " is no regular file":        {File: fifo},
		"is empty or not there":             {File: secretFile(t, "\n")},
		"is longer than 65536 bytes":        {File: secretFile(t, strings.Repeat("x", maxSecret+1))},
		"is no UTF-8 text":                  {File: secretFile(t, hunter+"\xff")},
		"not exactly one of":                {},
		"not exactly one of a variable and": {Env: "E", File: "F"},
	} {
		_, err := resolving(t, secret).try("secrets.resolve", refS)
		wantFault(t, err, protocol.CodeInternal, words)
		require.NotContains(t, err.Error(), "hunter")
	}
}

func TestSecrets_aReferenceIsAnObject(t *testing.T) {
	w := resolving(t, Secret{Env: "E"})
	for params, words := range map[string]string{
		`{}`:                             `secretRef: expected { type: "secret_ref", secretId, version? }, got nothing`,
		`{"secretRef":"` + hunter + `"}`: `secretRef: expected { type: "secret_ref", secretId, version? }, got a string`,
		`{"secretRef":{"secretId":"s"}}`: `secretRef.type: expected "secret_ref"`,
		`{"secretRef":{"type":"other","secretId":"s"}}`:                  `secretRef.type: expected "secret_ref"`,
		`{"secretRef":{"type":"secret_ref"}}`:                            "secretRef.secretId: expected a string that is not blank, got nothing",
		`{"secretRef":{"type":"secret_ref","secretId":"s","version":3}}`: `secretRef.version: expected "latest" or none`,
		`{"secretRef":{"type":"secret_ref","secretId":"nobody's"}}`:      `no secret "nobody's" is declared: whoever runs the host declares it`,
	} {
		_, err := w.try("secrets.resolve", params)
		wantFault(t, err, protocol.CodeInvalid, words)
		require.NotContains(t, err.Error(), "hunter")
	}
	w.scope = ""
	w.wantRefused(protocol.CodeInvalid, "secrets.resolve", refS, "companyId: expected a company")
}

func TestSecrets_theLatestVersionIsTheOnlyOne(t *testing.T) {
	w := resolving(t, Secret{File: secretFile(t, "v")})
	require.Equal(t, `"v"`, w.call("secrets.resolve",
		`{"secretRef":{"type":"secret_ref","secretId":"s","version":"latest"},"companyId":"c2","configPath":"a.b"}`))
}

func TestSecrets_mayBeForSomePluginsAndCompanies(t *testing.T) {
	w := resolving(t, Secret{File: secretFile(t, "v"), Plugins: []string{"demo"}, Companies: []string{"c1", "c3"}})
	w.wantSecret("v")
	w.scope = "c2"
	w.wantRefused(protocol.CodeDenied, "secrets.resolve", refS, `secret "s" is for other companies: whoever runs the host adds "c2"`)
	w.scope, w.name = "c1", "other"
	w.wantRefused(protocol.CodeDenied, "secrets.resolve", refS, `secret "s" is for other plugins: whoever runs the host adds "other"`)
}

func TestSecrets_areResolvedThirtyTimesAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := resolving(t, Secret{File: secretFile(t, "v")})
		for range 30 {
			w.wantSecret("v")
			time.Sleep(time.Second)
		}
		w.wantRefused(protocol.CodeOverloaded, "secrets.resolve", refS, "30 secrets a minute are the limit of one plugin and company: try again in 30s")
		other := w
		other.scope = "c2"
		other.wantSecret("v")
		other = w
		other.name = "other"
		other.wantSecret("v")
		time.Sleep(30 * time.Second)
		w.wantSecret("v")
		w.wantRefused(protocol.CodeOverloaded, "secrets.resolve", refS, "try again in 1s")
	})
}

func TestSecrets_theRateIsAnOption(t *testing.T) {
	w := newWorker(t, &plugins{}, Options{Secrets: Secrets{PerMinute: 1}})
	w.wantRefused(protocol.CodeInvalid, "secrets.resolve", refS, "no secret")
	w.wantRefused(protocol.CodeOverloaded, "secrets.resolve", refS, "1 secrets a minute")
}
