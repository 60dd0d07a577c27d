package lifecycle

// The phases of a session, that is of one run of one plugin. The names are the
// reference host's. Its module:status carries announced to ready and failed;
// waiting-deps goes out as preparing, and the others are the host's own knowledge.
const (
	// Loading: the session exists and has its id; its manifest is being read and
	// its code imported or its entrypoint verified. Ends when that is done, or
	// fails. Every session begins here.
	Loading State = "loading"

	// Loaded: the plugin's code is at hand and nothing of it has run. The session
	// rests here until it is initialized or stopped.
	Loaded State = "loaded"

	// Authenticating: the module presents its token to the host. Ends with the
	// host's verdict.
	Authenticating State = "authenticating"

	// Authenticated: the host knows whom it talks to. Versions are negotiated
	// now, and the module learns which others exist. Ends with its announcement,
	// or in failed when no version is spoken by both.
	Authenticated State = "authenticated"

	// Announced: all others may know the module and what it is going to offer;
	// nothing of it can be called. Ends when it begins to prepare, or when it asks
	// for configuration first.
	Announced State = "announced"

	// Preparing: the module gathers what it needs and its init hook may run. Ends
	// when it is prepared, or when it has to wait for others.
	Preparing State = "preparing"

	// WaitingDeps: capabilities that the module requires are not ready yet. Ends
	// when all of them are, or in failed when the wait's limit is reached.
	WaitingDeps State = "waiting-deps"

	// Prepared: dependencies are settled. Ends with a configuration in force, the
	// default one if nobody asks for another, or with the demand for one.
	Prepared State = "prepared"

	// ConfigurationNeeded: the module cannot go on before somebody configures it,
	// and waits for that without a limit. Ends with a valid configuration.
	ConfigurationNeeded State = "configuration-needed"

	// Configured: a configuration is in force and the module sets up what it
	// offers; a worker is spawned and initialized now. Ends when that is done, or
	// when the plugin itself does not accept the configuration.
	Configured State = "configured"

	// Ready: what the module offers can be called. The session rests here until it
	// is troubled, reconfigured, announced anew, or stopped.
	Ready State = "ready"

	// Degraded: the session lives, and its plugin says that it is not well, or its
	// peer is away for no longer than the grace time. Ours: the reference host
	// has no such phase. Ends when it is well again, or for good.
	Degraded State = "degraded"

	// Failed: something went wrong that this session does not get over; its reason
	// was told. It stays listed, so that one can see why, until it is stopped.
	Failed State = "failed"

	// Stopped: the end. Nothing of the plugin runs and nothing of it is offered; a
	// restart is a new session with a new id.
	Stopped State = "stopped"
)

// The events of a session, named as in the reference host's machine.
const (
	// SessionLoaded: the plugin's code is at hand.
	SessionLoaded Event = "SESSION_LOADED"
	// SessionStartAuthentication: the session is initialized, from here to ready.
	SessionStartAuthentication Event = "START_AUTHENTICATION"
	// SessionAuthenticated: the host accepted the token.
	SessionAuthenticated Event = "AUTHENTICATED"
	// SessionAnnounced: the module was announced to all.
	SessionAnnounced Event = "ANNOUNCED"
	// SessionStartPreparing: the module begins to prepare itself.
	SessionStartPreparing Event = "START_PREPARING"
	// SessionWaitingDependencies: it requires capabilities, ready or not.
	SessionWaitingDependencies Event = "WAITING_DEPENDENCIES"
	// SessionPrepared: what it requires is there.
	SessionPrepared Event = "PREPARED"
	// SessionConfigurationNeeded: host or module demand a configuration.
	SessionConfigurationNeeded Event = "CONFIGURATION_NEEDED"
	// SessionConfigured: a configuration is in force.
	SessionConfigured Event = "CONFIGURED"
	// SessionReady: the module has set up all that it offers.
	SessionReady Event = "READY"
	// SessionReannounce: a ready module goes through its preparation once more.
	SessionReannounce Event = "REANNOUNCE"
	// SessionDegraded: the plugin is not well, or its peer is away. Ours.
	SessionDegraded Event = "DEGRADED"
	// SessionRecovered: it is well again. Ours.
	SessionRecovered Event = "RECOVERED"
	// SessionFailed: something went wrong for good.
	SessionFailed Event = "SESSION_FAILED"
	// SessionStop: somebody wants the session to end.
	SessionStop Event = "STOP"
)

// sessionName is the machine's name, and what selects the reference's error text.
const sessionName = "session"

// sessionReference is the reference host's table, edge by edge.
var sessionReference = Table{
	Loading: {
		SessionLoaded: Loaded,
		SessionFailed: Failed,
	},
	Loaded: {
		SessionStartAuthentication: Authenticating,
		SessionFailed:              Failed,
		SessionStop:                Stopped,
	},
	Authenticating: {
		SessionAuthenticated: Authenticated,
		SessionFailed:        Failed,
	},
	Authenticated: {
		SessionAnnounced: Announced,
		SessionFailed:    Failed,
	},
	Announced: {
		SessionStartPreparing:      Preparing,
		SessionConfigurationNeeded: ConfigurationNeeded,
		SessionFailed:              Failed,
		SessionStop:                Stopped,
	},
	Preparing: {
		SessionWaitingDependencies: WaitingDeps,
		SessionPrepared:            Prepared,
		SessionFailed:              Failed,
	},
	WaitingDeps: {
		SessionPrepared: Prepared,
		SessionFailed:   Failed,
	},
	Prepared: {
		SessionConfigurationNeeded: ConfigurationNeeded,
		SessionConfigured:          Configured,
		SessionFailed:              Failed,
	},
	ConfigurationNeeded: {
		SessionConfigured: Configured,
		SessionFailed:     Failed,
	},
	Configured: {
		SessionReady:  Ready,
		SessionFailed: Failed,
	},
	Ready: {
		SessionReannounce:          Announced,
		SessionConfigurationNeeded: ConfigurationNeeded,
		SessionFailed:              Failed,
		SessionStop:                Stopped,
	},
	Failed: {
		SessionStop: Stopped,
	},
	Stopped: {}, // terminal
}

// sessionOurs are the edges that the reference host has not got. It stops a session
// in any phase as well, but past its machine, which then brings a stopped session
// back to life; and it offers to demand configuration of a configured module, and
// then fails.
var sessionOurs = Table{
	Ready: {
		SessionDegraded: Degraded,
	},
	Degraded: {
		SessionRecovered:           Ready,
		SessionConfigurationNeeded: ConfigurationNeeded,
		SessionFailed:              Failed,
		SessionStop:                Stopped,
	},
	Configured: {
		SessionConfigurationNeeded: ConfigurationNeeded,
		SessionStop:                Stopped,
	},
	Loading:             {SessionStop: Stopped},
	Authenticating:      {SessionStop: Stopped},
	Authenticated:       {SessionStop: Stopped},
	Preparing:           {SessionStop: Stopped},
	WaitingDeps:         {SessionStop: Stopped},
	Prepared:            {SessionStop: Stopped},
	ConfigurationNeeded: {SessionStop: Stopped},
}

// Session is the life of one run of one plugin, whatever ecosystem it is of. It
// begins in [Loading] and ends in [Stopped]. Errors name the module's id, as the
// reference host does.
var Session = newMachine(definition{
	name: sessionName,
	states: []State{
		Loading, Loaded, Authenticating, Authenticated, Announced, Preparing, WaitingDeps,
		Prepared, ConfigurationNeeded, Configured, Ready, Degraded, Failed, Stopped,
	},
	events: []Event{
		SessionLoaded, SessionStartAuthentication, SessionAuthenticated, SessionAnnounced,
		SessionStartPreparing, SessionWaitingDependencies, SessionPrepared,
		SessionConfigurationNeeded, SessionConfigured, SessionReady, SessionReannounce,
		SessionDegraded, SessionRecovered, SessionFailed, SessionStop,
	},
	terminals: []State{Stopped},
	table:     sessionReference,
	ours:      sessionOurs,
})
