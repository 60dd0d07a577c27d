package paperclip

import "strings"

// The methods that a driver knows by name.
const (
	methodInitialize     = "initialize"
	methodHealth         = "health"
	methodShutdown       = "shutdown"
	methodValidateConfig = "validateConfig"
	methodConfigChanged  = "configChanged"
	methodOnEvent        = "onEvent"
	methodRunJob         = "runJob"
	methodWebhook        = "handleWebhook"
	methodAPIRequest     = "handleApiRequest"
	methodGetData        = "getData"
	methodPerformAction  = "performAction"
	methodExecuteTool    = "executeTool"
	methodSessionEvent   = "agents.sessions.event"

	methodGetConfig     = "config.get"
	methodListCompanies = "companies.list"
	methodLog           = "log"
	methodResolveSecret = "secrets.resolve"
	methodSubscribe     = "events.subscribe"

	methodExecute     = "environmentExecute"
	methodLogChunk    = "execute.log"
	methodStreamOpen  = "streams.open"
	methodStreamItem  = "streams.emit"
	methodStreamClose = "streams.close"
)

// always are the methods that every worker serves: it looks for a handler by the
// key in the parameters.
var always = []string{
	methodInitialize, methodOnEvent, methodRunJob, methodGetData, methodPerformAction, methodExecuteTool,
}

// hooks are the optional methods of a worker in the order in which the SDK reports
// them, those of both releases: the pseudo-terminal of 2026.824 is setupTokenPty,
// that of 2026.916 is loginPty.
var hooks = []string{
	methodValidateConfig, methodConfigChanged, methodHealth, methodShutdown, methodAPIRequest,
	"detectExternalObjects", "resolveExternalObject", "refreshExternalObjects",
	"environmentValidateConfig", "environmentProbe",
	"environmentAcquireLease", "environmentResumeLease", "environmentReleaseLease", "environmentDestroyLease",
	"environmentRealizeWorkspace", "environmentExecute", "environmentRunnerIngressEndpoint",
	"environmentSyncIn", "environmentSyncOut",
	"environmentStartInteractiveSetup", "environmentGetInteractiveSetup", "environmentCaptureTemplate",
	"environmentCancelInteractiveSetup", "environmentDeleteTemplate",
	"setupTokenPtyOpen", "setupTokenPtyInput", "setupTokenPtyStop", "setupTokenPtyClose",
	"loginPtyOpen", "loginPtyInput", "loginPtyStop", "loginPtyClose",
	"duplexChannelOpen", "duplexChannelWrite", "duplexChannelStop", "duplexChannelClose",
}

// isKey tells whether a method looks like a capability's key.
func isKey(method string) bool { return strings.ContainsRune(method, ':') }
