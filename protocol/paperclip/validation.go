package paperclip

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/airi-host/airi-host/protocol"
)

var (
	_ protocol.Validating         = Dialect{}
	_ protocol.CompanyConfiguring = Dialect{}
)

// Validation asks by validateConfig.
func (Dialect) Validation(_ protocol.Module, c protocol.Config) protocol.Call {
	return protocol.Call{Key: MethodPrefix + methodValidateConfig, Input: newObject().raw("config", configIn(c)).done()}
}

// CompanyConfiguration tells by configChanged, with the company.
func (Dialect) CompanyConfiguration(company string, c protocol.Config) protocol.Call {
	params := newObject().raw("config", configIn(c)).str("companyId", company)
	return protocol.Call{Key: MethodPrefix + methodConfigChanged, Input: params.done()}
}

func configIn(c protocol.Config) json.RawMessage {
	if len(c.Full) == 0 {
		return json.RawMessage(`{}`)
	}
	return c.Full
}

// Validated reads {ok, errors, warnings}.
func (Dialect) Validated(result json.RawMessage, err error) (v protocol.Validation, failed error) {
	if lacksHook(err) {
		v.Note = "it has no hook for that"
		return v, nil
	}
	if err != nil {
		return v, err
	}
	if member(result, "ok") == nil { // a worker by hand, which has no hook and answers everything
		v.Note = "it says neither yes nor no"
		return v, nil
	}
	v.Asked, v.Warnings = true, reasons(member(result, "warnings"))
	if truthy(member(result, "ok")) {
		return v, nil
	}
	for _, reason := range reasons(member(result, "errors")) {
		v.Invalid = append(v.Invalid, protocol.ConfigProblem{Reason: reason})
	}
	if v.Invalid == nil {
		v.Invalid = []protocol.ConfigProblem{{Reason: "it gives no reason"}}
	}
	return v, nil
}

// lacksHook tells whether a worker has not got the method that it was asked.
func lacksHook(err error) bool {
	peer, ok := errors.AsType[*protocol.PeerError](err)
	return ok && (bytes.Equal(peer.Code, number(codeMethodNotFound)) || bytes.Equal(peer.Code, number(codeNotImplemented)))
}

// reasons are the texts of a list.
func reasons(list json.RawMessage) (all []string) {
	eachItem(list, func(value json.RawMessage) {
		if reason := nonBlank(value); reason != "" {
			all = append(all, reason)
		}
	})
	return all
}
