package paperclip

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// guard keeps a plugin that has one configuration from getting another company's.
type guard struct {
	// config is the configuration in force, company whose it is; "" before any
	// company came.
	config  json.RawMessage
	company string
}

// change applies the parameters of a configChanged, or says in the SDK's words why
// not. Equal configurations move to the new company, and one without a company
// always applies.
func (g *guard) change(params json.RawMessage, multiCompany bool) (refused string) {
	config := member(params, "config")
	company, _ := text(member(params, "companyId"))
	if !multiCompany && company != "" && g.company != "" && company != g.company && !sameConfig(config, g.config) {
		return fmt.Sprintf("configChanged: refusing to overwrite configuration for company \"%s\" with a different "+
			"configuration for company \"%s\". This plugin is single-tenant and cannot safely serve multiple companies "+
			"from one worker. If multi-company support is intended, set multiCompanyConfig: true on the plugin definition "+
			"and key per-company state on context.companyId.", g.company, company)
	}
	g.config = config
	if company != "" {
		g.company = company
	}
	return ""
}

// sameConfig compares as JavaScript would: the order of an object's members means
// nothing, and numbers are doubles.
func sameConfig(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}
