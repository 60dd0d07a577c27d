package paperclip

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// environmentPrefix begins the methods that are hooks of an environment driver.
const environmentPrefix = "environment"

// environmentValidate is the one hook without a company.
const environmentValidate = environmentPrefix + "ValidateConfig"

// environment calls a hook of an environment driver. The driver is named by the
// key and the company by the call's scope, or by the input where the call has no
// scope; an input that says otherwise is refused.
func (t *target) environment() (outgoing, error) {
	at := strings.LastIndexByte(t.name, '.')
	if at <= 0 || at+1 == len(t.name) {
		return outgoing{}, t.settings.Fault(protocol.CodeNotFound, fmt.Sprintf("%s: expected environment:DRIVER.hook", clip(t.Key)))
	}
	name, method := t.name[:at], environmentPrefix+upperFirst(t.name[at+1:])
	if !slices.Contains(hooks, method) {
		return outgoing{}, t.settings.Fault(protocol.CodeNotFound, fmt.Sprintf("%s: there is no such hook of an environment", clip(t.Key)))
	}
	return t.hook(name, method)
}

func (t *target) hook(name, method string) (outgoing, error) {
	var driver, company json.RawMessage
	rest := newObject()
	if input := t.Input; input != nil && !eachMember(input, func(key string, value json.RawMessage) {
		switch key {
		case "driverKey":
			driver = value
		case "companyId":
			company = value
		default:
			rest = rest.raw(key, value)
		}
	}) {
		return outgoing{}, t.invalid("expected the hook's parameters, an object")
	}
	if driver != nil && nonBlank(driver) != name {
		return outgoing{}, t.invalid(fmt.Sprintf("driverKey: expected %q or nothing", clip(name)))
	}
	o := newObject().str("driverKey", name)
	if method == environmentValidate {
		t.company = ""
		return t.sent(method, o.join(rest)), nil
	}
	own := nonBlank(company)
	switch {
	case own != "" && t.Scope != "" && own != t.company:
		return outgoing{}, t.invalid(fmt.Sprintf("companyId: expected %q, the call's scope, or nothing", clip(t.company)))
	case own != "":
		t.company = own
	}
	if err := t.needsCompany(); err != nil {
		return outgoing{}, err
	}
	return t.sent(method, o.str("companyId", t.company).join(rest)), nil
}
