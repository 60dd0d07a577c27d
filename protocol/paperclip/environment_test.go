package paperclip

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestEnvironment_calls(t *testing.T) {
	for _, c := range []struct{ key, input, scope, want string }{
		{"environment:lab.execute", `{"environmentId":"e","lease":{},"command":"x"}`, "c", `"environmentExecute","params":{"driverKey":"lab","companyId":"c","environmentId":"e","lease":{},"command":"x"}` + inCompany},
		{"environment:my.lab.probe", `{"environmentId":"e","driverKey":"my.lab","companyId":"c"}`, "", `"environmentProbe","params":{"driverKey":"my.lab","companyId":"c","environmentId":"e"}` + inCompany},
		{"environment:lab.runnerIngressEndpoint", ``, "c", `"environmentRunnerIngressEndpoint","params":{"driverKey":"lab","companyId":"c"}` + inCompany},
		{"environment:lab.validateConfig", `{"config":{"a":1}}`, "c", `"environmentValidateConfig","params":{"driverKey":"lab","config":{"a":1}}`},
		{"environment:lab.validateConfig", ``, "", `"environmentValidateConfig","params":{"driverKey":"lab"}`},
	} {
		r := newRig(t, Plugin{}, protocol.Settings{})
		call := protocol.Call{Key: c.key, Scope: c.scope}
		if c.input != "" {
			call.Input = raw(c.input)
		}
		require.Equal(t, []string{`send {"id":1,"method":` + c.want + `}`}, r.invoke(1, call))
		require.Equal(t, []string{`complete 1 ok {"any":1}`}, r.receive(`{"id":1,"result":{"any":1}}`))
	}
}

// Every hook that the SDK has for drivers is called by its own name, all but one for a company.
func TestEnvironment_callsEveryHook(t *testing.T) {
	for _, name := range []string{
		"ValidateConfig", "Probe", "AcquireLease", "ResumeLease", "ReleaseLease", "DestroyLease", "RealizeWorkspace", "Execute",
		"RunnerIngressEndpoint", "SyncIn", "SyncOut", "StartInteractiveSetup", "GetInteractiveSetup", "CaptureTemplate",
		"CancelInteractiveSetup", "DeleteTemplate",
	} {
		company := `"companyId":"c",`
		tail := inCompany
		if name == "ValidateConfig" {
			company, tail = "", ""
		}
		r := newRig(t, Plugin{}, protocol.Settings{})
		key := "environment:lab." + strings.ToLower(name[:1]) + name[1:]
		require.Equal(t, []string{`send {"id":1,"method":"environment` + name + `","params":{"driverKey":"lab",` + company + `"environmentId":"e"}` + tail + `}`},
			r.invoke(1, protocol.Call{Key: key, Scope: "c", Input: raw(`{"environmentId":"e"}`)}))
	}
}

func TestEnvironment_refuses(t *testing.T) {
	for _, c := range []struct{ key, input, scope, want string }{
		{"environment:box", `{}`, "c", "not-found: plugin lab: environment:box: expected environment:DRIVER.hook"},
		{"environment:.probe", `{}`, "c", "not-found: plugin lab: environment:.probe: expected environment:DRIVER.hook"},
		{"environment:box.", `{}`, "c", "not-found: plugin lab: environment:box.: expected environment:DRIVER.hook"},
		{"environment:box.nap", `{}`, "c", "not-found: plugin lab: environment:box.nap: there is no such hook of an environment"},
		{"environment:box.probe", `[]`, "c", "invalid: plugin lab: the input of environment:box.probe: expected the hook's parameters, an object"},
		{"environment:box.probe", `{"driverKey":"x"}`, "c", `invalid: plugin lab: the input of environment:box.probe: driverKey: expected "box" or nothing`},
		{"environment:box.probe", `{"companyId":"x"}`, "c", `invalid: plugin lab: the input of environment:box.probe: companyId: expected "c", the call's scope, or nothing`},
		{"environment:box.probe", `{}`, "", "invalid: plugin lab: environment:box.probe needs a company and has none: give the call a scope, or the host a default one"},
	} {
		r := newRig(t, Plugin{}, protocol.Settings{})
		require.Equal(t, []string{"complete 1 error " + c.want}, r.invoke(1, protocol.Call{Key: c.key, Input: raw(c.input), Scope: c.scope}))
	}
}
