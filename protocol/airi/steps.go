package airi

import (
	"fmt"

	"github.com/airi-host/airi-host/protocol"
)

// wordless are the reasons of the reference host for a step in which the module
// threw something that is not an Error. The keys are the steps there are.
var wordless = map[protocol.Step]string{
	protocol.StepLoad:  "Failed to load plugin.",
	protocol.StepInit:  "Plugin host initialization failed.",
	protocol.StepSetup: "Plugin host initialization failed.",
	protocol.StepStop:  "Plugin host stop failed.",
}

// running is a step that runs in the module.
type running struct {
	step protocol.Step
	// number is the step's own among the host's calls; see driver.last.
	number uint64
}

func (d *driver) run(in protocol.Run, out []protocol.Effect) []protocol.Effect {
	if err := stepFault(d.settings, d.running.step, in.Step); err != nil {
		return append(out, protocol.Ran{Step: in.Step, Err: err})
	}
	d.last++
	d.running = running{step: in.Step, number: d.last}
	return d.send(sendFrame(ControlPrefix+string(in.Step), d.invokeID(d.last), in.Params), out)
}

// stepFault is why a step is not run while another one runs, or none.
func stepFault(s protocol.Settings, runs, asked protocol.Step) error {
	_, exists := wordless[asked]
	switch {
	case !exists:
		return s.Fault(protocol.CodeInvalid,
			fmt.Sprintf("expected one of the steps load, init, setup and stop, got %q", string(asked)))
	case runs != "":
		return s.Fault(protocol.CodeInvalid,
			fmt.Sprintf("step %s was asked for while %s runs; a module passes through one step at a time", asked, runs))
	}
	return nil
}

// ran takes the module's answer to the step that runs.
func (d *driver) ran(s step, eventID string, out []protocol.Effect) []protocol.Effect {
	n, known := d.numberOf(s.idText)
	switch {
	case !known:
		return append(out, protocol.Drop(DroppedUnknown, eventID))
	case d.running.number != n || s.tag != ControlPrefix+string(d.running.step):
		return append(out, protocol.Drop(DroppedLate, eventID))
	}
	done := d.running.step
	d.running = running{}
	return append(out, protocol.Ran{Step: done, Err: d.outcome(done, s)})
}

func (d *driver) outcome(done protocol.Step, s step) error {
	if s.kind == stepReceiveError {
		return peerError(s.content, wordless[done])
	}
	if done == protocol.StepInit && refused(s.content) {
		return &protocol.PeerError{Message: "Plugin initialization aborted by plugin: " + d.settings.Plugin}
	}
	return nil
}

// refused tells whether init returned false, which aborts it.
func refused(content []byte) bool {
	no := false
	readMembers(content, func(key string, value []byte) {
		no = no || key == "aborted" && string(value) == "true"
	})
	return no
}
