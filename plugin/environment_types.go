package plugin

import (
	"context"
	"encoding/json"
	"time"
)

// EnvironmentCall is what every hook of an environment driver is told, but the one that
// looks at a configuration.
type EnvironmentCall struct {
	// DriverKey is the driver's name.
	DriverKey string `json:"driverKey"`
	// CompanyID is the tenant, that of [Scope].
	CompanyID string `json:"companyId"`
	// EnvironmentID names the environment, IssueID what it is used for, "" for nothing.
	EnvironmentID string `json:"environmentId"`
	IssueID       string `json:"issueId,omitempty"`
	// Config is the environment's own configuration, an object.
	Config json.RawMessage `json:"config,omitempty"`
}

// complete sets what the call says where the parameters do not, as for a plugin that is
// compiled in.
func (c *EnvironmentCall) complete(ctx context.Context, driver string) {
	c.DriverKey = driver
	if c.CompanyID == "" {
		c.CompanyID = Scope(ctx)
	}
}

// LeaseID is a provider's name for a lease; "" is none, and null on the wire.
type LeaseID string

// MarshalJSON writes null for none.
func (id LeaseID) MarshalJSON() ([]byte, error) {
	if id == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(id))
}

// EnvironmentLease is a place in which commands can run. Metadata is the driver's own, an
// object, and is given back with the lease; ExpiresAt is RFC 3339, "" for never.
type EnvironmentLease struct {
	ProviderLeaseID LeaseID         `json:"providerLeaseId"`
	Metadata        json.RawMessage `json:"metadata,omitempty"`
	ExpiresAt       string          `json:"expiresAt,omitempty"`
}

// EnvironmentConfig is a configuration that somebody wants to give to an environment.
type EnvironmentConfig struct {
	DriverKey string          `json:"driverKey"`
	Config    json.RawMessage `json:"config"`
}

func (c *EnvironmentConfig) complete(_ context.Context, driver string) { c.DriverKey = driver }

// EnvironmentVerdict says what is to be said of a configuration. NormalizedConfig, if any,
// takes its place.
type EnvironmentVerdict struct {
	OK               bool            `json:"ok"`
	Warnings         []string        `json:"warnings,omitempty"`
	Errors           []string        `json:"errors,omitempty"`
	NormalizedConfig json.RawMessage `json:"normalizedConfig,omitempty"`
}

// EnvironmentProbed is how an environment is.
type EnvironmentProbed struct {
	OK          bool                    `json:"ok"`
	Summary     string                  `json:"summary,omitempty"`
	Diagnostics []EnvironmentDiagnostic `json:"diagnostics,omitempty"`
	Metadata    json.RawMessage         `json:"metadata,omitempty"`
}

// EnvironmentDiagnostic is one thing that a probe has found. Its Severity is "info",
// "warning" or "error".
type EnvironmentDiagnostic struct {
	Severity string          `json:"severity"`
	Message  string          `json:"message"`
	Code     string          `json:"code,omitempty"`
	Details  json.RawMessage `json:"details,omitempty"`
}

// EnvironmentAcquire asks for a lease for one run of an agent.
type EnvironmentAcquire struct {
	EnvironmentCall
	RunID                      string          `json:"runId"`
	AgentID                    string          `json:"agentId,omitempty"`
	WorkspaceMode              string          `json:"workspaceMode,omitempty"`
	RequestedCwd               string          `json:"requestedCwd,omitempty"`
	ExecutionWorkspaceID       string          `json:"executionWorkspaceId,omitempty"`
	AdapterType                string          `json:"adapterType,omitempty"`
	ExecutionWorkspaceSettings json.RawMessage `json:"executionWorkspaceSettings,omitempty"`
	// RequestedExpiresAt is the latest time at which the lease may end, RFC 3339. A driver
	// that cannot promise that answers without an ExpiresAt.
	RequestedExpiresAt string `json:"requestedExpiresAt,omitempty"`
}

// EnvironmentResume asks for a lease that was there before.
type EnvironmentResume struct {
	EnvironmentCall
	ProviderLeaseID LeaseID         `json:"providerLeaseId"`
	LeaseMetadata   json.RawMessage `json:"leaseMetadata,omitempty"`
}

// EnvironmentEnd gives a lease back, or has what it stands for destroyed.
type EnvironmentEnd struct {
	EnvironmentCall
	ProviderLeaseID LeaseID         `json:"providerLeaseId"`
	LeaseMetadata   json.RawMessage `json:"leaseMetadata,omitempty"`
	// CancelActiveWork asks that what still runs is ended, not waited for.
	CancelActiveWork bool `json:"cancelActiveWork,omitempty"`
}

// EnvironmentEnded tells that nothing runs any more under a lease. State is "stopped" or
// "destroyed".
type EnvironmentEnded struct {
	ProviderLeaseID LeaseID `json:"providerLeaseId"`
	State           string  `json:"state"`
}

// EnvironmentRealize asks for a working directory below a lease.
type EnvironmentRealize struct {
	EnvironmentCall
	Lease     EnvironmentLease `json:"lease"`
	Workspace struct {
		LocalPath  string          `json:"localPath,omitempty"`
		RemotePath string          `json:"remotePath,omitempty"`
		Mode       string          `json:"mode,omitempty"`
		Metadata   json.RawMessage `json:"metadata,omitempty"`
	} `json:"workspace"`
}

// EnvironmentWorkspace is the directory in which commands run.
type EnvironmentWorkspace struct {
	Cwd      string          `json:"cwd"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// EnvironmentExecution is a command to run.
type EnvironmentExecution struct {
	EnvironmentCall
	Lease   EnvironmentLease  `json:"lease"`
	Command string            `json:"command"`
	Args    []string          `json:"args,omitempty"`
	Cwd     string            `json:"cwd,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Stdin   string            `json:"stdin,omitempty"`
	// TimeoutMs is how long it may run, in milliseconds; the handler's context ends then.
	// 0 and less is as long as the call.
	TimeoutMs int64 `json:"timeoutMs,omitempty"`
	// BypassSession asks that the command runs beside a session that the lease keeps.
	BypassSession bool `json:"bypassSession,omitempty"`
}

// timeout is TimeoutMs, or 0.
func (e *EnvironmentExecution) timeout() time.Duration {
	const most = 1<<31 - 1 // what a timer of the wire's other end has
	return time.Duration(min(max(e.TimeoutMs, 0), most)) * time.Millisecond
}

// EnvironmentExecuted is how a command ended.
type EnvironmentExecuted struct {
	// ExitCode is nil where it has none: it was killed. Signal says by what, e.g. "SIGKILL".
	ExitCode *int   `json:"exitCode"`
	Signal   string `json:"signal,omitempty"`
	// TimedOut tells that it was ended for the execution's TimeoutMs.
	TimedOut bool `json:"timedOut"`
	// Stdout and Stderr are all that it wrote. A handler that leaves both empty has what it
	// wrote to the [ExecutionLog] here.
	Stdout   string          `json:"stdout"`
	Stderr   string          `json:"stderr"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// EnvironmentSync moves files into an environment, or out of it.
type EnvironmentSync struct {
	EnvironmentCall
	Lease      EnvironmentLease           `json:"lease"`
	Operations []EnvironmentSyncOperation `json:"operations"`
}

// EnvironmentSyncOperation is done as a whole, and in its turn. The commands run when its
// files are there; the first one that fails ends it.
type EnvironmentSyncOperation struct {
	OperationID        string                   `json:"operationId"`
	Files              []EnvironmentSyncFile    `json:"files"`
	PostUploadCommands []EnvironmentSyncCommand `json:"postUploadCommands,omitempty"`
}

// EnvironmentSyncFile is a file or a directory to move. Mode is that of the target, 0 for
// any; Exclude are patterns of what of a directory stays behind.
type EnvironmentSyncFile struct {
	SourcePath     string   `json:"sourcePath"`
	TargetPath     string   `json:"targetPath"`
	Kind           string   `json:"kind"`
	Mode           uint32   `json:"mode,omitempty"`
	Exclude        []string `json:"exclude,omitempty"`
	FollowSymlinks bool     `json:"followSymlinks,omitempty"`
	Access         string   `json:"access,omitempty"`
	WritablePath   string   `json:"writablePath,omitempty"`
}

// EnvironmentSyncCommand is a shell's command line, not to be changed. TimeoutMs is 0 for
// no limit of its own.
type EnvironmentSyncCommand struct {
	Command   string `json:"command"`
	Cwd       string `json:"cwd,omitempty"`
	TimeoutMs int64  `json:"timeoutMs,omitempty"`
}

// EnvironmentSynced counts what was moved, by operation.
type EnvironmentSynced struct {
	Operations []EnvironmentSyncedOperation `json:"operations"`
}

// EnvironmentSyncedOperation is what one operation has moved.
type EnvironmentSyncedOperation struct {
	OperationID      string `json:"operationId"`
	FilesTransferred int    `json:"filesTransferred"`
	BytesTransferred int64  `json:"bytesTransferred"`
}

// EnvironmentIngress asks for the address under which a port of a lease can be reached.
type EnvironmentIngress struct {
	EnvironmentCall
	Lease EnvironmentLease `json:"lease"`
	Port  int              `json:"port"`
	Path  string           `json:"path"`
}

// EnvironmentEndpoint is that address. Kind is "authenticated_websocket".
type EnvironmentEndpoint struct {
	Kind          string              `json:"kind"`
	WebsocketURL  string              `json:"websocketUrl"`
	SecretHeaders []EnvironmentHeader `json:"secretHeaders"`
	Generation    string              `json:"generation"`
}

// EnvironmentHeader is one header of a request.
type EnvironmentHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// EnvironmentSetup begins an interactive setup: somebody works in a lease, of which a
// template is made.
type EnvironmentSetup struct {
	EnvironmentCall
	SessionID                  string  `json:"sessionId"`
	SourceTemplateRef          string  `json:"sourceTemplateRef,omitempty"`
	SourceTemplateKind         string  `json:"sourceTemplateKind,omitempty"`
	ConnectionExpiresInMinutes float64 `json:"connectionExpiresInMinutes,omitempty"`
	ExpiresAt                  string  `json:"expiresAt,omitempty"`
}

// EnvironmentSetupQuery asks how a setup is.
type EnvironmentSetupQuery struct {
	EnvironmentCall
	ProviderLeaseID            LeaseID         `json:"providerLeaseId"`
	SetupMetadata              json.RawMessage `json:"setupMetadata,omitempty"`
	IncludeConnectionPayload   bool            `json:"includeConnectionPayload,omitempty"`
	ConnectionExpiresInMinutes float64         `json:"connectionExpiresInMinutes,omitempty"`
}

// EnvironmentSetupSession is how a setup is. Status is one of "starting",
// "waiting_for_user", "capturing", "promoted", "cancelled", "timed_out", "failed" and
// "missing". ConnectionSummary is for all to see, ConnectionPayload for whom it is for;
// both are objects.
type EnvironmentSetupSession struct {
	ProviderLeaseID   LeaseID         `json:"providerLeaseId"`
	Status            string          `json:"status"`
	ConnectionSummary json.RawMessage `json:"connectionSummary"`
	ConnectionPayload json.RawMessage `json:"connectionPayload,omitempty"`
	ExpiresAt         string          `json:"expiresAt,omitempty"`
	Metadata          json.RawMessage `json:"metadata,omitempty"`
}

// EnvironmentCapture asks for a template of a setup.
type EnvironmentCapture struct {
	EnvironmentCall
	ProviderLeaseID     LeaseID         `json:"providerLeaseId"`
	SetupMetadata       json.RawMessage `json:"setupMetadata,omitempty"`
	SourceTemplateRef   string          `json:"sourceTemplateRef,omitempty"`
	PreviousTemplateRef string          `json:"previousTemplateRef,omitempty"`
	TemplateLabel       string          `json:"templateLabel,omitempty"`
	TimeoutMs           int64           `json:"timeoutMs,omitempty"`
}

// EnvironmentTemplate names a template. TemplateKind is "snapshot", "image",
// "provider_template", "unknown" or the driver's own.
type EnvironmentTemplate struct {
	TemplateRef  string          `json:"templateRef"`
	TemplateKind string          `json:"templateKind"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`
}

// EnvironmentSetupCancel ends a setup.
type EnvironmentSetupCancel struct {
	EnvironmentCall
	ProviderLeaseID LeaseID         `json:"providerLeaseId"`
	SetupMetadata   json.RawMessage `json:"setupMetadata,omitempty"`
	Reason          string          `json:"reason,omitempty"`
}

// EnvironmentSetupCancelled tells what became of it: "cancelled", "timed_out", "failed" or
// "missing".
type EnvironmentSetupCancelled struct {
	Status   string          `json:"status"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// EnvironmentTemplateDelete has a template deleted.
type EnvironmentTemplateDelete struct {
	EnvironmentCall
	TemplateRef  string          `json:"templateRef"`
	TemplateKind string          `json:"templateKind,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`
	Reason       string          `json:"reason,omitempty"`
}

// EnvironmentTemplateDeleted tells whether there was one.
type EnvironmentTemplateDeleted struct {
	Deleted  bool            `json:"deleted"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// TerminalRequest asks for a pseudo-terminal in a lease, in which somebody logs in. It has
// no [EnvironmentCall]'s configuration: the wire sends none.
type TerminalRequest struct {
	DriverKey       string  `json:"driverKey"`
	CompanyID       string  `json:"companyId"`
	EnvironmentID   string  `json:"environmentId"`
	ProviderLeaseID LeaseID `json:"providerLeaseId"`
	// LoginCommandKey is the login to run: "claude", "codex" or "grok".
	LoginCommandKey string `json:"loginCommandKey,omitempty"`
	// SessionHome is the directory for the login's files.
	SessionHome string `json:"sessionHome,omitempty"`
	// Command is the login as a host of release 2026.824 names it, "claude setup-token";
	// LoginCommandKey is "claude" then, and there is no SessionHome.
	Command string `json:"command,omitempty"`
}

// ChannelRequest asks for a program in a lease to which bytes go, and from which they come.
type ChannelRequest struct {
	DriverKey       string  `json:"driverKey"`
	CompanyID       string  `json:"companyId"`
	EnvironmentID   string  `json:"environmentId"`
	ProviderLeaseID LeaseID `json:"providerLeaseId"`
	// Command is the program and its arguments.
	Command []string `json:"command"`
}
