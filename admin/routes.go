package admin

import (
	"net/http"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// The paths that are no part of the API.
const (
	pathHealth  = "/healthz"
	pathReady   = "/readyz"
	pathMetrics = "/metrics"
	pathAPI     = "/api/v1"
)

// handler answers one request; its error becomes the answer, unless one has begun.
type handler func(w http.ResponseWriter, r *http.Request) error

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", s.unknown)
	for pattern, h := range map[string]handler{
		"GET " + pathHealth:                                   s.getHealth,
		"GET " + pathReady:                                    s.getReadyz,
		"GET " + pathAPI + "/ready":                           s.getReady,
		"GET " + pathAPI + "/host":                            s.getHost,
		"GET " + pathAPI + "/plugins":                         s.getPlugins,
		"GET " + pathAPI + "/plugins/{name}":                  s.getPlugin,
		"GET " + pathAPI + "/plugins/{name}/logs":             s.getLogs,
		"GET " + pathAPI + "/plugins/{name}/config":           s.getConfiguration,
		"PUT " + pathAPI + "/plugins/{name}/config":           changing(s, Configurations.Commit),
		"POST " + pathAPI + "/plugins/{name}/config/validate": changing(s, Configurations.Validate),
		"POST " + pathAPI + "/plugins/{name}/config/plan":     changing(s, Configurations.Plan),
		"GET " + pathAPI + "/plugins/{name}/config/history":   s.getConfigurationHistory,
		"GET " + pathAPI + "/plugins/{name}/grants":           s.getGrants,
		"POST " + pathAPI + "/plugins/{name}/approve":         s.postApprove,
		"GET " + pathAPI + "/audit":                           s.getAudit,
		"GET " + pathAPI + "/logs":                            s.getLogs,
		"GET " + pathAPI + "/events":                          s.getEvents,
		"GET " + pathAPI + "/capabilities":                    s.getCapabilities,
		"GET " + pathAPI + "/jobs":                            s.getJobs,
		"GET " + pathAPI + "/peers":                           s.getPeers,
		"POST " + pathAPI + "/call":                           s.postCall,
		"POST " + pathAPI + "/reload":                         s.postReload,
		"POST " + pathAPI + "/plugins/{name}/start":           s.command(Start, s.start),
		"POST " + pathAPI + "/plugins/{name}/stop":            s.command(Stop, s.stop),
		"POST " + pathAPI + "/plugins/{name}/reload":          s.command(Reload, s.reload),
		"POST " + pathAPI + "/plugins/{name}/enable":          s.command(Enable, s.enable),
		"POST " + pathAPI + "/plugins/{name}/disable":         s.command(Disable, s.disable),
		"POST " + pathAPI + "/plugins/{name}/pty":             s.attach(protocol.RoutePTY, s.openPTY),
		"POST " + pathAPI + "/plugins/{name}/duplex":          s.attach(protocol.RouteDuplex, s.openDuplex),
		"DELETE " + pathAPI + "/plugins/{name}/data":          s.deleteData,
		"DELETE " + pathAPI + "/companies/{company}/data":     s.deleteData,
	} {
		mux.HandleFunc(pattern, s.answering(h))
	}
	if s.opts.Metrics != nil {
		mux.Handle("GET "+pathMetrics, s.opts.Metrics.handler())
	}
	return mux
}

// answering makes a handler's error the answer.
func (s *Server) answering(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w = &answered{ResponseWriter: w}
		if err := h(w, r); err != nil && !w.(*answered).begun {
			answerFailure(w, failureOf(err))
		}
	}
}

// unknown tells what there is where there is nothing.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	why := "there is no such thing; the API begins with " + pathAPI
	switch {
	case strings.HasPrefix(r.URL.Path, pathAPI+"/"):
		why = "the API has no such path and method; the package admin lists them"
	case !strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
	case s.opts.Websockets == nil:
		why = "there is no websocket; this host serves none of AIRI's peers (websocket.enabled)"
	default:
		why = "there is no websocket; AIRI's peers connect at " + pathWebsocket
	}
	answerFailure(w, Failure{Code: codeNotFound, Message: r.Method + " " + r.URL.Path + ": " + why})
}

// answered knows whether an answer has begun.
type answered struct {
	http.ResponseWriter
	begun bool
}

func (a *answered) WriteHeader(status int) {
	a.begun = true
	a.ResponseWriter.WriteHeader(status)
}

func (a *answered) Write(p []byte) (int, error) {
	a.begun = true
	return a.ResponseWriter.Write(p)
}

// Unwrap gives http.ResponseController what lies below.
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }
