package manifest

import (
	"encoding/json"

	"github.com/airi-host/airi-host/capability"
)

// Declared returns what the manifest says that the plugin offers, with all that it
// says of it but the owner: the tools, jobs, webhooks and endpoints of a Paperclip
// plugin. Its data and actions stand in no manifest, and the hooks of its
// environments are known when its worker runs.
func (m *Manifest) Declared() []capability.Offer {
	p := m.Paperclip
	if p == nil {
		return nil
	}
	var all []capability.Offer
	declare := func(kind capability.Kind, name, description string, schema json.RawMessage, about declared) {
		all = append(all, capability.Offer{
			Key: capability.Key(kind) + ":" + capability.Key(name), Invocable: true,
			Description: description, InputSchema: schema, Metadata: about.json(),
		})
	}
	for _, t := range p.Tools {
		declare(capability.KindTool, t.Name, t.Description, t.ParametersSchema, declared{DisplayName: t.DisplayName})
	}
	for _, j := range p.Jobs {
		declare(capability.KindJob, j.Key, j.Description, nil, declared{DisplayName: j.DisplayName, Schedule: j.Schedule})
	}
	for _, w := range p.Webhooks {
		declare(capability.KindWebhook, w.Key, w.Description, nil, declared{DisplayName: w.DisplayName})
	}
	for _, r := range p.APIRoutes {
		declare(capability.KindHTTP, r.Method+" "+r.Path, "", nil, declared{
			Endpoint: r.Key, Auth: r.Auth, Company: r.CompanyResolution, Public: r.Auth == authWebhook,
		})
	}
	return all
}

// declared is the metadata of an offer that stands in a manifest.
type declared struct {
	DisplayName string `json:"displayName,omitempty"`
	Schedule    string `json:"schedule,omitempty"`
	Endpoint    string `json:"endpoint,omitempty"`
	Auth        string `json:"auth,omitempty"`
	// Company is where a request to an endpoint says for which company it is.
	Company json.RawMessage `json:"company,omitempty"`
	// Public tells that an endpoint is for everybody.
	Public bool `json:"public,omitempty"`
}

// authWebhook is the auth of an endpoint that checks who asks by itself.
const authWebhook = "webhook"

func (d declared) json() json.RawMessage {
	if raw, _ := json.Marshal(d); string(raw) != "{}" { // strings, and JSON
		return raw
	}
	return nil
}
