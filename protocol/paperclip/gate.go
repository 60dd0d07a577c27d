package paperclip

import (
	"encoding/json"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
)

// wanted is the company that a worker's request is about.
type wanted struct {
	company string
	// all tells that it is about every company.
	all bool
}

// wantedBy reads it out of a request, as the reference's gate does.
func wantedBy(method string, params json.RawMessage) wanted {
	if method == methodListCompanies {
		return wanted{all: true}
	}
	var company, kind, id, filter json.RawMessage
	if !eachMember(params, func(key string, value json.RawMessage) {
		switch key {
		case "companyId":
			company = value
		case "scopeKind":
			kind = value
		case "scopeId":
			id = value
		case "filter":
			filter = value
		}
	}) {
		return wanted{}
	}
	if c := nonBlank(company); c != "" {
		return wanted{company: c}
	}
	if k, _ := text(kind); k == "company" {
		c := nonBlank(id)
		return wanted{company: c, all: c == ""}
	}
	if method == methodSubscribe {
		return wanted{company: nonBlank(member(filter, "companyId"))}
	}
	return wanted{}
}

// denied is an answer of the gate.
type denied struct {
	code    int
	message string
	// grant is what is missing, if that is it.
	grant string
}

// gate lets a worker's request pass or says why not, in the reference's order and
// words: is there a service, is its grant given, is the company in scope. A zero
// denied lets it pass.
func (d *driver) gate(method string, w wanted, c authority) denied {
	if !d.handles(method) {
		return denied{code: codeMethodNotFound, message: unhandled(method)}
	}
	if grant := grantOf[method]; grant != "" && !d.grants[grant] {
		return denied{codeCapabilityDenied, fmt.Sprintf("Plugin \"%s\" is missing required capability \"%s\" for method \"%s\"",
			d.settings.Plugin, grant, method), grant}
	}
	if why := outOfScope(method, w, c); why != "" {
		return denied{code: codeScopeDenied, message: fmt.Sprintf("Plugin \"%s\" is not allowed to perform \"%s\": %s",
			d.settings.Plugin, quotable(method), why)}
	}
	return denied{}
}

// told adds that a request was denied, unless there is no such method at all.
func (no denied) told(method string, w wanted, out []protocol.Effect) []protocol.Effect {
	if no.code == codeMethodNotFound {
		return out
	}
	return append(out, protocol.Denied{Method: quotable(method), Scope: quotable(w.company), Grant: no.grant, Reason: no.message})
}

// handles tells whether a method may be one of the host's services. A key of a
// capability ("tool:greet") never is: those are called by a service that looks at
// the plugin's grant to call others.
func (d *driver) handles(method string) bool {
	if d.plugin.Handles != nil {
		return d.plugin.Handles(method)
	}
	return !isKey(method)
}

func unhandled(method string) string {
	return fmt.Sprintf("Host does not handle method \"%s\"", quotable(method))
}

// quotable keeps what a worker chose to a length that an answer may have. The
// reference puts it into its words unescaped, and so does this.
func quotable(s string) string { return cut(s, maxExcerpt) }

// outOfScope says why a request may not be about what it is about, or "".
func outOfScope(method string, w wanted, c authority) string {
	needed := method == methodGetConfig || method == methodResolveSecret
	switch {
	case w.company == "" && !w.all && !needed:
		return ""
	case c.invalid:
		return "the worker referenced a missing, expired, or unknown invocation scope"
	case method == methodListCompanies:
		return ""
	case c.company == "":
		return "company context is required"
	case w.all:
		return fmt.Sprintf("the current invocation is scoped to company \"%s\"", c.company)
	case w.company != "" && w.company != c.company:
		return fmt.Sprintf("requested company \"%s\" but the current invocation is scoped to company \"%s\"", quotable(w.company), c.company)
	}
	return ""
}
