package admin

import (
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// Metrics count what a host does, for Prometheus, in a registry of their own. They are
// made before the host, which tells them of calls (actors.Options.Observe), and given to
// the Server, which they ask for the rest whenever they are read.
//
// Labels are bounded: kinds and outcomes are fixed lists, plugins are those of the host.
type Metrics struct {
	registry *prometheus.Registry
	server   atomic.Pointer[Server]
	// byKind is made once and only read.
	byKind map[capability.Kind]*callMeters
	other  *callMeters
}

// callMeters are the meters of the calls of one kind.
type callMeters struct {
	took prometheus.Observer
	done prometheus.Counter
	// failed is by code; what has none is in failed[CodeFailed].
	failed map[protocol.Code]prometheus.Counter
}

// kinds are those that calls are told apart by; AIRI's own keys are "other".
var kinds = []capability.Kind{
	capability.KindTool, capability.KindModel, capability.KindService, capability.KindAction, capability.KindProvider,
	capability.KindEvaluator, capability.KindData, capability.KindJob, capability.KindWebhook, capability.KindHTTP,
	capability.KindEvent, capability.KindEnvironment,
}

// outcomes are how calls fail.
var outcomes = []protocol.Code{
	protocol.CodeTimeout, protocol.CodeCancelled, protocol.CodeNotFound, protocol.CodeNotReady, protocol.CodeOverloaded,
	protocol.CodeOutcomeUnknown, protocol.CodeInvalid, protocol.CodeDenied, protocol.CodeAmbiguous, protocol.CodeConfiguration,
	protocol.CodeWire, protocol.CodeInternal, CodePlugin, CodeFailed,
}

// latencies are the bounds of the buckets of what calls took, in seconds: from what a
// compiled-in plugin needs to what ends at the usual deadline.
var latencies = []float64{20e-6, 50e-6, 100e-6, 250e-6, 1e-3, 5e-3, 25e-3, 100e-3, 500e-3, 2.5, 10, 30}

// NewMetrics makes metrics.
func NewMetrics() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), byKind: map[capability.Kind]*callMeters{}}
	calls := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: namespace + "_calls_total", Help: "Calls of capabilities that are over, by kind and outcome.",
	}, []string{"kind", "outcome"})
	took := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: namespace + "_call_seconds", Help: "How long callers waited, by kind.", Buckets: latencies,
	}, []string{"kind"})
	meters := func(kind string) *callMeters {
		one := &callMeters{took: took.WithLabelValues(kind), done: calls.WithLabelValues(kind, "done"), failed: map[protocol.Code]prometheus.Counter{}}
		for _, code := range outcomes {
			one.failed[code] = calls.WithLabelValues(kind, string(code))
		}
		return one
	}
	for _, kind := range kinds {
		m.byKind[kind] = meters(string(kind))
	}
	m.other = meters("other")
	m.registry.MustRegister(calls, took, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), standing{m})
	return m
}

// Observe counts a call that is over.
func (m *Metrics) Observe(c actors.CallEnded) {
	meters := m.byKind[c.Key.Kind()]
	if meters == nil {
		meters = m.other
	}
	meters.took.Observe(c.Took.Seconds())
	if c.Err == nil {
		meters.done.Inc()
		return
	}
	counter := meters.failed[failureOf(c.Err).Code]
	if counter == nil {
		counter = meters.failed[CodeFailed]
	}
	counter.Inc()
}

// watch makes a server the one that is asked.
func (m *Metrics) watch(s *Server) { m.server.Store(s) }

func (m *Metrics) handler() http.Handler {
	shown := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		soon(w)
		shown.ServeHTTP(w, r)
	})
}

// standing collects how a host stands when it is asked.
type standing struct{ *Metrics }

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(namespace+"_"+name, help, labels, nil)
}

var (
	descInfo     = describe("info", "Which host this is.", "version")
	descStarted  = describe("start_time_seconds", "Since when the control API answers, in seconds since 1970.")
	descSessions = describe("sessions", "Plugins by the phase of their newest session.", "phase")
	descFlight   = describe("calls_in_flight", "Calls that a plugin is handling.", "plugin")
	descBusy     = describe("busy", "Hooks that run, and handlers whose callers have given up.", "plugin")
	descCrashes  = describe("crashes_total", "Crashes of a plugin. Each is followed by a restart, but for the one at which it is given up.", "plugin")
	descGivenUp  = describe("given_up", "Whether a plugin crashed too often and is not started any more.", "plugin")
	descDropped  = describe("dropped_total", "What was not used of a plugin's session, by kind.", "plugin", "what")
	descRoutes   = describe("routes", "Terminals and channels of plugins that are open, by kind.", "kind")
	descRouted   = describe("routes_total", "Terminals and channels by what became of them: opened, refused, lost after they were open.", "kind", "outcome")
	descOffers   = describe("capabilities", "Offers by state.", "state")
	descFollow   = describe("followers", "Who follows events and logs.")
	descWaiting  = describe("follower_lines", "Lines that wait for followers.")
	descAsked    = describe("endpoint_requests", "Requests to plugins' endpoints that are being served.")
	descAnswered = describe("endpoint_answers_total", "Answers to requests below /plugins, by the first digit of the status.", "status")
	descPushed   = describe("connections_pushed_total", "Idle connections that were closed to make room for others.")
	descHeaders  = describe("endpoint_headers_dropped_total", "Headers of plugins' answers that were not passed on.")
	descGrants   = describe("grants_unapproved", "Grants that a plugin asks for and that wait to be approved.", "plugin")
	descAudit    = describe("audit_records_total", "Audit records by what became of them: written, folded into the number of another one, dropped for want of room, failed.", "outcome")
	descAuditing = describe("audit_records_waiting", "Audit records that wait to be written.")
	descMissed   = describe("follower_missed_total", "Lines that followers missed since they were too slow.")
)

// Describe lists what Collect collects.
func (standing) Describe(to chan<- *prometheus.Desc) {
	for _, d := range slices.Concat([]*prometheus.Desc{
		descInfo, descStarted, descSessions, descFlight, descBusy, descCrashes, descGivenUp, descDropped, descRoutes, descRouted, descOffers,
		descFollow, descWaiting, descMissed, descLogBytes, descLogWaiting, descLogFailing, descLogDropped,
		descGrants, descAudit, descAuditing, descAsked, descAnswered, descHeaders, descPushed,
	}, peerDescs) {
		to <- d
	}
}

// Collect asks the server.
func (c standing) Collect(to chan<- prometheus.Metric) {
	s := c.server.Load()
	if s == nil {
		return
	}
	put := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	put(descInfo, prometheus.GaugeValue, 1, s.opts.Version)
	put(descStarted, prometheus.GaugeValue, float64(s.began.UnixMilli())/1000)
	phases := map[lifecycle.State]int{}
	for _, one := range s.plugins() {
		phases[one.Phase]++
		if isGuest(one.SessionInfo) {
			continue // their names are their own choice
		}
		put(descFlight, prometheus.GaugeValue, float64(one.InFlight), one.Plugin)
		put(descBusy, prometheus.GaugeValue, float64(one.Busy), one.Plugin)
		put(descCrashes, prometheus.CounterValue, float64(one.Worker.Crashes), one.Plugin)
		put(descGivenUp, prometheus.GaugeValue, number(one.Worker.GivenUp), one.Plugin)
		put(descGrants, prometheus.GaugeValue, float64(len(one.Unapproved)), one.Plugin)
		for what, n := range one.Dropped {
			put(descDropped, prometheus.CounterValue, float64(n), one.Plugin, what)
		}
	}
	for _, phase := range lifecycle.Session.States() {
		put(descSessions, prometheus.GaugeValue, float64(phases[phase]), string(phase))
	}
	s.routeMetrics(put)
	s.peerMetrics(put)
	states := map[lifecycle.State]int{}
	for _, o := range s.host.Offers() {
		states[o.State]++
	}
	for _, state := range lifecycle.Capability.States() {
		put(descOffers, prometheus.GaugeValue, float64(states[state]), string(state))
	}
	if s.opts.AuditCounts != nil {
		a := s.opts.AuditCounts()
		put(descAuditing, prometheus.GaugeValue, float64(a.Waiting))
		for outcome, n := range map[string]int64{"written": a.Written, "folded": a.Folded, "dropped": a.Dropped, "failed": a.Failed} {
			put(descAudit, prometheus.CounterValue, float64(n), outcome)
		}
	}
	n, waiting, missed := s.followers.depth()
	put(descFollow, prometheus.GaugeValue, float64(n))
	put(descWaiting, prometheus.GaugeValue, float64(waiting))
	put(descMissed, prometheus.CounterValue, float64(missed))
	s.logMetrics(put)
	put(descAsked, prometheus.GaugeValue, float64(s.endpoints.busy()))
	for class := 2; class <= 5; class++ {
		put(descAnswered, prometheus.CounterValue, float64(s.endpoints.answers[class].Load()), string(rune('0'+class))+"xx")
	}
	put(descPushed, prometheus.CounterValue, float64(s.pushed.Load()))
	put(descHeaders, prometheus.CounterValue, float64(s.endpoints.dropped.Load()))
}

func (s *Server) routeMetrics(put func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string)) {
	all := s.host.Routes()
	for _, kind := range []protocol.RouteKind{protocol.RoutePTY, protocol.RouteDuplex} {
		n := all[kind]
		put(descRoutes, prometheus.GaugeValue, float64(n.Open), string(kind))
		for outcome, count := range map[string]uint64{"opened": n.Opened, "refused": n.Refused, "lost": n.Lost} {
			put(descRouted, prometheus.CounterValue, float64(count), string(kind), outcome)
		}
	}
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
