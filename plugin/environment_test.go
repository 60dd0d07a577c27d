package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// shed is an environment driver that has every hook, and gives what it was asked back.
func shed(asked *[]any) plugin.EnvironmentHooks {
	code := 3
	note := func(in any) { *asked = append(*asked, in) }
	return plugin.EnvironmentHooks{
		ValidateConfig: func(_ context.Context, in plugin.EnvironmentConfig) (plugin.EnvironmentVerdict, error) {
			note(in)
			return plugin.EnvironmentVerdict{OK: true, Warnings: []string{"old"}, NormalizedConfig: in.Config}, nil
		},
		Probe: func(_ context.Context, in plugin.EnvironmentCall) (plugin.EnvironmentProbed, error) {
			note(in)
			return plugin.EnvironmentProbed{OK: true, Diagnostics: []plugin.EnvironmentDiagnostic{{Severity: "info", Message: "dry"}}}, nil
		},
		AcquireLease: func(_ context.Context, in plugin.EnvironmentAcquire) (plugin.EnvironmentLease, error) {
			note(in)
			return plugin.EnvironmentLease{}, nil
		},
		ResumeLease: func(_ context.Context, in plugin.EnvironmentResume) (plugin.EnvironmentLease, error) {
			note(in)
			return plugin.EnvironmentLease{ProviderLeaseID: in.ProviderLeaseID, Metadata: in.LeaseMetadata, ExpiresAt: "2030-01-01T00:00:00Z"}, nil
		},
		ReleaseLease: func(_ context.Context, in plugin.EnvironmentEnd) (*plugin.EnvironmentEnded, error) {
			note(in)
			return nil, nil
		},
		DestroyLease: func(_ context.Context, in plugin.EnvironmentEnd) (*plugin.EnvironmentEnded, error) {
			note(in)
			return &plugin.EnvironmentEnded{ProviderLeaseID: in.ProviderLeaseID, State: "destroyed"}, nil
		},
		RealizeWorkspace: func(_ context.Context, in plugin.EnvironmentRealize) (plugin.EnvironmentWorkspace, error) {
			note(in)
			return plugin.EnvironmentWorkspace{Cwd: in.Workspace.RemotePath}, nil
		},
		Execute: func(_ context.Context, in plugin.EnvironmentExecution, _ *plugin.ExecutionLog) (plugin.EnvironmentExecuted, error) {
			note(in)
			return plugin.EnvironmentExecuted{ExitCode: &code, Stdout: "out"}, nil
		},
		SyncIn: func(_ context.Context, in plugin.EnvironmentSync) (plugin.EnvironmentSynced, error) {
			note(in)
			return plugin.EnvironmentSynced{Operations: []plugin.EnvironmentSyncedOperation{{OperationID: in.Operations[0].OperationID, FilesTransferred: 1, BytesTransferred: 2}}}, nil
		},
		SyncOut: func(_ context.Context, in plugin.EnvironmentSync) (plugin.EnvironmentSynced, error) {
			note(in)
			return plugin.EnvironmentSynced{Operations: []plugin.EnvironmentSyncedOperation{}}, nil
		},
		RunnerIngressEndpoint: func(_ context.Context, in plugin.EnvironmentIngress) (plugin.EnvironmentEndpoint, error) {
			note(in)
			return plugin.EnvironmentEndpoint{Kind: "authenticated_websocket", WebsocketURL: "wss://x" + in.Path, SecretHeaders: []plugin.EnvironmentHeader{{Name: "a", Value: "b"}}, Generation: "1"}, nil
		},
		StartInteractiveSetup: func(_ context.Context, in plugin.EnvironmentSetup) (plugin.EnvironmentSetupSession, error) {
			note(in)
			return plugin.EnvironmentSetupSession{Status: "starting"}, nil
		},
		GetInteractiveSetup: func(_ context.Context, in plugin.EnvironmentSetupQuery) (plugin.EnvironmentSetupSession, error) {
			note(in)
			return plugin.EnvironmentSetupSession{ProviderLeaseID: in.ProviderLeaseID, Status: "missing", ConnectionSummary: json.RawMessage(`{"type":"ssh"}`)}, nil
		},
		CaptureTemplate: func(_ context.Context, in plugin.EnvironmentCapture) (plugin.EnvironmentTemplate, error) {
			note(in)
			return plugin.EnvironmentTemplate{TemplateRef: in.TemplateLabel, TemplateKind: "image"}, nil
		},
		CancelInteractiveSetup: func(_ context.Context, in plugin.EnvironmentSetupCancel) (plugin.EnvironmentSetupCancelled, error) {
			note(in)
			return plugin.EnvironmentSetupCancelled{Status: "cancelled"}, nil
		},
		DeleteTemplate: func(_ context.Context, in plugin.EnvironmentTemplateDelete) (plugin.EnvironmentTemplateDeleted, error) {
			note(in)
			return plugin.EnvironmentTemplateDeleted{Deleted: in.TemplateRef == "t"}, nil
		},
	}
}

// at is what each hook is told but the first, as its caller names it and as it arrives.
const at = `"environmentId":"e","issueId":null,"config":{"size":2}`

var asked = plugin.EnvironmentCall{DriverKey: "shed", CompanyID: company, EnvironmentID: "e", Config: json.RawMessage(`{"size":2}`)}

// hooksOf are calls of each hook, with what the handler gets of them and what comes back.
var hooksOf = []struct {
	hook, input string
	in          any
	result      string
}{
	{
		"validateConfig", `{"config":{"size":1}}`,
		plugin.EnvironmentConfig{DriverKey: "shed", Config: json.RawMessage(`{"size":1}`)},
		`{"ok":true,"warnings":["old"],"normalizedConfig":{"size":1}}`,
	},
	{"probe", `{` + at + `}`, asked, `{"ok":true,"diagnostics":[{"severity":"info","message":"dry"}]}`},
	{
		"acquireLease", `{` + at + `,"runId":"r","executionWorkspaceId":null,"requestedCwd":"/x"}`,
		plugin.EnvironmentAcquire{EnvironmentCall: asked, RunID: "r", RequestedCwd: "/x"},
		`{"providerLeaseId":null}`,
	},
	{
		"resumeLease", `{` + at + `,"providerLeaseId":"l","leaseMetadata":{"a":1}}`,
		plugin.EnvironmentResume{EnvironmentCall: asked, ProviderLeaseID: "l", LeaseMetadata: json.RawMessage(`{"a":1}`)},
		`{"providerLeaseId":"l","metadata":{"a":1},"expiresAt":"2030-01-01T00:00:00Z"}`,
	},
	{
		"releaseLease", `{` + at + `,"providerLeaseId":null,"cancelActiveWork":true}`,
		plugin.EnvironmentEnd{EnvironmentCall: asked, CancelActiveWork: true},
		`null`,
	},
	{
		"destroyLease", `{` + at + `,"providerLeaseId":"l"}`,
		plugin.EnvironmentEnd{EnvironmentCall: asked, ProviderLeaseID: "l"},
		`{"providerLeaseId":"l","state":"destroyed"}`,
	},
	{"realizeWorkspace", `{` + at + `,"lease":{"providerLeaseId":"l"},"workspace":{"remotePath":"/w"}}`, nil, `{"cwd":"/w"}`},
	{
		"execute", `{` + at + `,"lease":{"providerLeaseId":"l"},"command":"dig","args":["deep"],"env":{"A":"b"},"timeoutMs":60000}`,
		plugin.EnvironmentExecution{EnvironmentCall: asked, Lease: plugin.EnvironmentLease{ProviderLeaseID: "l"}, Command: "dig", Args: []string{"deep"}, Env: map[string]string{"A": "b"}, TimeoutMs: 60000},
		`{"exitCode":3,"timedOut":false,"stdout":"out","stderr":""}`,
	},
	{
		"syncIn", `{` + at + `,"lease":{"providerLeaseId":"l"},"operations":[{"operationId":"o","files":[{"sourcePath":"/a","targetPath":"/b","kind":"file","mode":384}]}]}`,
		plugin.EnvironmentSync{EnvironmentCall: asked, Lease: plugin.EnvironmentLease{ProviderLeaseID: "l"}, Operations: []plugin.EnvironmentSyncOperation{
			{OperationID: "o", Files: []plugin.EnvironmentSyncFile{{SourcePath: "/a", TargetPath: "/b", Kind: "file", Mode: 0o600}}},
		}},
		`{"operations":[{"operationId":"o","filesTransferred":1,"bytesTransferred":2}]}`,
	},
	{"syncOut", `{` + at + `,"lease":{"providerLeaseId":"l"},"operations":[]}`, nil, `{"operations":[]}`},
	{
		"runnerIngressEndpoint", `{` + at + `,"lease":{"providerLeaseId":"l"},"port":80,"path":"/p"}`, nil,
		`{"kind":"authenticated_websocket","websocketUrl":"wss://x/p","secretHeaders":[{"name":"a","value":"b"}],"generation":"1"}`,
	},
	{
		"startInteractiveSetup", `{` + at + `,"sessionId":"s","connectionExpiresInMinutes":null}`,
		plugin.EnvironmentSetup{EnvironmentCall: asked, SessionID: "s"},
		`{"providerLeaseId":null,"status":"starting","connectionSummary":null}`,
	},
	{
		"getInteractiveSetup", `{` + at + `,"providerLeaseId":"l"}`, nil,
		`{"providerLeaseId":"l","status":"missing","connectionSummary":{"type":"ssh"}}`,
	},
	{"captureTemplate", `{` + at + `,"providerLeaseId":"l","templateLabel":"t"}`, nil, `{"templateRef":"t","templateKind":"image"}`},
	{"cancelInteractiveSetup", `{` + at + `,"providerLeaseId":"l"}`, nil, `{"status":"cancelled"}`},
	{"deleteTemplate", `{` + at + `,"templateRef":"t"}`, nil, `{"deleted":true}`},
}

func TestEnvironment_servesEveryHook(t *testing.T) {
	var got []any
	p := plugin.Define("shed")
	plugin.Environment(p, "shed", shed(&got))
	h := newHost(t).serve(t.Context(), p, plugin.PaperclipOptions{})
	h.ready()
	var reported []string
	for _, c := range hooksOf {
		h.want("environment:shed."+c.hook, c.input, c.result)
		if c.in != nil {
			require.Equal(t, c.in, got[len(got)-1], c.hook)
		}
		reported = append(reported, "environment"+string(c.hook[0]-'a'+'A')+c.hook[1:])
	}
	require.Len(t, got, len(hooksOf))
	require.Subset(t, h.supported(), reported)
	require.NotContains(t, h.supported(), "loginPtyOpen")
	require.NoError(t, h.stop())
}

// Compiled into a host a hook gets neither driver nor company in its parameters.
func TestEnvironment_isTheSameInMemory(t *testing.T) {
	var got []any
	p := plugin.Define("shed")
	plugin.Environment(p, "shed", shed(&got))
	port := p.Open(&home{})
	for _, c := range hooksOf {
		result, err := port.Invoke(t.Context(), &protocol.Call{Key: "environment:shed." + c.hook, Input: json.RawMessage(c.input), Scope: company})
		require.NoError(t, err, c.hook)
		require.JSONEq(t, c.result, string(result), c.hook)
		if c.in != nil {
			require.Equal(t, c.in, got[len(got)-1], c.hook)
		}
	}
}

func TestEnvironment_refusesWhatIsNotThere(t *testing.T) {
	p := plugin.Define("two")
	one := plugin.EnvironmentHooks{
		Probe: func(context.Context, plugin.EnvironmentCall) (plugin.EnvironmentProbed, error) {
			return plugin.EnvironmentProbed{}, &protocol.PeerError{Message: "no shed", Code: json.RawMessage("7"), Data: json.RawMessage(`{"a":1}`)}
		},
		DeleteTemplate: func(context.Context, plugin.EnvironmentTemplateDelete) (plugin.EnvironmentTemplateDeleted, error) {
			return plugin.EnvironmentTemplateDeleted{}, errors.New("kept")
		},
	}
	plugin.Environment(p, "one", one)
	plugin.Environment(p, "two", plugin.EnvironmentHooks{Probe: one.Probe})
	require.PanicsWithValue(t, "plugin two has the environment driver two twice", func() { plugin.Environment(p, "two", plugin.EnvironmentHooks{}) })

	h := newHost(t).serve(t.Context(), p, plugin.PaperclipOptions{})
	require.NoError(t, h.start(`{"manifest":{"id":"two","environmentDrivers":[{"driverKey":"one"},{"driverKey":"lost"}]},"config":{}}`))
	require.Contains(t, string(h.wantLog("the host cannot call this").Meta), `declare \"two\" among its environmentDrivers`)
	require.Contains(t, string(h.wantLog("nothing answers this").Meta), `environment:lost`)

	h.wantFailure("environment:one.probe", `{}`, "no shed", "7")
	h.wantFailure("environment:one.deleteTemplate", `{}`, "kept", "-32002")
	h.wantFailure("environment:two.deleteTemplate", `{}`, `environmentDeleteTemplate is not implemented by the driver "two" of this plugin`, "-32004")
	h.wantFailure("environment:one.execute", `{}`, "environmentExecute is not implemented by this plugin", "-32004")
	h.wantFailure("environment:three.probe", `{}`, `no environment driver "three" in plugin two: it has one, two`, "-32002")
	h.wantFailure("environment:one.probe", `{"issueId":7}`, `the input's field "issueId": expected string, got number`, "-32002")
	require.NoError(t, h.stop())
}

// A key of no driver's is told at the start, and ends nothing.
func TestEnvironment_keysAreLookedAt(t *testing.T) {
	p := plugin.Define("odd")
	for _, key := range []string{"environment:", "environment:shed", "environment:shed."} {
		plugin.Handle(p, key, func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
	}
	h := newHost(t).serve(t.Context(), p, plugin.PaperclipOptions{})
	h.ready()
	for _, key := range []string{"environment:", "environment:shed", "environment:shed."} {
		require.Contains(t, string(h.wantLog("the host cannot call this").Meta), key+`: expected environment:DRIVER.hook`)
	}
	require.NoError(t, h.stop())
}
