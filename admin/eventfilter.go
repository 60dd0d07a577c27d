package admin

import (
	"net/http"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/actors"
)

// eventFilter says which events somebody asks for.
type eventFilter struct {
	kinds actors.Kind
	// plugin is whom an event is about, "" anybody.
	plugin string
	// company is the tenant of calls and streams, "" any.
	company string
	// ofType is the type of a channel's event, with any end where it ends in *; "" is any.
	ofType string
}

// ofWhom is what every event says of itself.
type ofWhom interface{ About() actors.Origin }

// wants tells whether an event is asked for.
func (f eventFilter) wants(e actors.Event) bool {
	if f.kinds&e.Kind() == 0 {
		return false
	}
	if of, ok := e.(ofWhom); ok && f.plugin != "" && of.About().Plugin != f.plugin {
		return false
	}
	switch e := e.(type) {
	case actors.Streamed:
		return f.company == "" || e.Scope == f.company
	case actors.Called:
		return f.company == "" || e.Scope == f.company
	case actors.Channel:
		return f.isType(e.Name)
	}
	return true
}

func (f eventFilter) isType(name string) bool {
	if start, ok := strings.CutSuffix(f.ofType, "*"); ok {
		return strings.HasPrefix(name, start)
	}
	return f.ofType == "" || f.ofType == name
}

// wantsKept is wants for an event that was kept, which has no more than that.
func (f eventFilter) wantsKept(e event) bool {
	return f.kinds&e.kind != 0 && (f.plugin == "" || f.plugin == e.plugin)
}

// isTraffic tells whether a request is for what plugins and their peers tell each other.
func isTraffic(r *http.Request) bool {
	return r.URL.Path == pathAPI+"/events" &&
		slices.ContainsFunc(r.URL.Query()["kind"], func(list string) bool {
			return slices.Contains(strings.Split(list, ","), actors.KindChannel.String())
		})
}
