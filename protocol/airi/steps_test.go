package airi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

var allSteps = []protocol.Step{protocol.StepLoad, protocol.StepInit, protocol.StepSetup, protocol.StepStop}

func TestDriver_runsOneStepAfterTheOther(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	for i, s := range allSteps {
		id := string(r.d.invokeID(uint64(i + 1)))
		require.Equal(t, []string{"send airi-host:bridge:" + string(s) + `-send {"invokeId":` + id + `,"content":{"x":1}}`},
			r.step(protocol.Run{Step: s, Params: raw(`{"x":1}`)}))
		require.Equal(t, []string{"ran " + string(s) + " ok"},
			r.receive("airi-host:bridge:"+string(s)+"-receive-"+id[1:len(id)-1], `{"invokeId":`+id+`}`))
	}
}

func TestDriver_refusesASecondStepWhileOneRuns(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	r.step(protocol.Run{Step: protocol.StepInit})
	require.Equal(t, []string{"ran stop error invalid: plugin hello: step stop was asked for while init runs; a module passes through one step at a time"},
		r.step(protocol.Run{Step: protocol.StepStop}))
	require.Equal(t, []string{"ran init ok"}, r.receive("airi-host:bridge:init-receive-airi-host-1", `{"invokeId":"airi-host-1"}`))
}

func TestDriver_refusesAStepThatAIRIDoesNotHave(t *testing.T) {
	require.Equal(t, []string{`ran dance error invalid: plugin hello: expected one of the steps load, init, setup and stop, got "dance"`},
		newRig(t, protocol.Settings{}).step(protocol.Run{Step: "dance"}))
}

func TestDriver_aFailedStepHasTheWordsOfTheReferenceHost(t *testing.T) {
	for name, row := range map[string]struct {
		step          protocol.Step
		error, reason string
	}{
		"the module's own":       {protocol.StepInit, `{"name":"Error","message":"init exploded","at":"main.mjs:3:9"}`, "init exploded"},
		"empty ones":             {protocol.StepSetup, `{"name":"Error","message":""}`, ""},
		"no Error in load":       {protocol.StepLoad, `{"thrown":"just a string"}`, "Failed to load plugin."},
		"no Error in init":       {protocol.StepInit, `{"thrown":"just a string"}`, "Plugin host initialization failed."},
		"no Error in setup":      {protocol.StepSetup, `{"thrown":null}`, "Plugin host initialization failed."},
		"nothing to read at all": {protocol.StepInit, `7`, "Plugin host initialization failed."},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, protocol.Settings{})
			r.step(protocol.Run{Step: row.step})
			require.Equal(t, []string{"ran " + string(row.step) + " error " + row.reason},
				r.receive("airi-host:bridge:"+string(row.step)+"-receive-error-airi-host-1",
					`{"invokeId":"airi-host-1","content":{"error":`+row.error+`}}`))
		})
	}
}

func TestDriver_aFailedStepNamesTheModulesLine(t *testing.T) {
	d := newDriver(protocol.Settings{}, Collecting{})
	d.Step(now, protocol.Run{Step: protocol.StepInit}, nil)
	out := d.Step(now, protocol.Received{Message: Frame{
		ID:   "airi-host:bridge:init-receive-error-airi-host-1",
		Body: raw(`{"invokeId":"airi-host-1","content":{"error":{"name":"TypeError","message":"m","at":"src/main.mjs:3:9"}}}`),
	}}, nil)
	ran, ok := out[0].(protocol.Ran)
	require.True(t, ok)
	var peer *protocol.PeerError
	require.ErrorAs(t, ran.Err, &peer)
	require.Equal(t, "TypeError", peer.Name)
	require.Equal(t, "src/main.mjs:3:9", peer.At)
}

func TestDriver_initThatReturnsFalseIsAborted(t *testing.T) {
	r := newRig(t, protocol.Settings{Plugin: "lab-plugin"})
	r.step(protocol.Run{Step: protocol.StepInit})
	require.Equal(t, []string{"ran init error Plugin initialization aborted by plugin: lab-plugin"},
		r.receive("airi-host:bridge:init-receive-airi-host-1", `{"invokeId":"airi-host-1","content":{"aborted":true}}`))
}

func TestDriver_anAnswerToNoStepIsCounted(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	answer := func(step, id string) []string {
		return r.receive("airi-host:bridge:"+step+"-receive-"+id, `{"invokeId":"`+id+`"}`)
	}
	require.Equal(t, []string{"dropped unknown-call airi-host:bridge:init-receive-airi-host-1"}, answer("init", "airi-host-1"))
	r.step(protocol.Run{Step: protocol.StepInit})
	require.Equal(t, []string{"dropped late-answer airi-host:bridge:load-receive-airi-host-1"}, answer("load", "airi-host-1"))
	require.Equal(t, []string{"ran init ok"}, answer("init", "airi-host-1"))
	require.Equal(t, []string{"dropped late-answer airi-host:bridge:init-receive-airi-host-1"}, answer("init", "airi-host-1"))
}
