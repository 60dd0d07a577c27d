package services

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestPaperclip_configurationIsThatOfPluginAndCompany(t *testing.T) {
	var asked [][2]string
	w := newWorker(t, &plugins{}, Options{Config: func(plugin, company string) json.RawMessage {
		asked = append(asked, [2]string{plugin, company})
		if company == "none" {
			return nil
		}
		return json.RawMessage(`{ "n": 9007199254740993 }`)
	}})
	require.Equal(t, `{ "n": 9007199254740993 }`, w.call("config.get", `{}`))
	require.Equal(t, `{}`, w.call("config.get", `{"companyId":" none "}`))
	w.call("config.get", `{"companyId":"  "}`)
	w.call("config.get", ``)
	require.Equal(t, [][2]string{{"demo", "c1"}, {"demo", "none"}, {"demo", "c1"}, {"demo", "c1"}}, asked)
}

func TestPaperclip_nothingIsConfiguredByDefault(t *testing.T) {
	require.Equal(t, `{}`, newWorker(t, &plugins{}, Options{}).call("config.get", `{}`))
}

func TestPaperclip_everyMethodRefusesWhatIsNoObject(t *testing.T) {
	w := newWorker(t, &plugins{}, Options{Entities: &shelfOf{}, Auditor: &auditor{}})
	require.Len(t, w.services, 25)
	for method := range w.services {
		for params, kind := range map[string]string{`[1]`: "an array", `null`: "null", `"x"`: "a string", ` 7`: "a number", `true`: "a boolean"} {
			w.wantRefused(protocol.CodeInvalid, method, params, "params: expected an object, got "+kind)
		}
	}
}

func TestPaperclip_leavesOutWhatNobodyKeeps(t *testing.T) {
	w := newWorker(t, &plugins{}, Options{})
	for _, method := range []string{"entities.upsert", "entities.list", "activity.log"} {
		require.NotContains(t, w.services, method)
	}
}

func TestPaperclip_saysWhatToDoWithoutADatabase(t *testing.T) {
	w := newWorker(t, &plugins{}, Options{})
	for method, params := range map[string]string{
		"db.namespace": `{}`, "db.query": `{"sql":"SELECT 1"}`, "db.execute": `{"sql":"DELETE FROM t","params":[]}`,
	} {
		w.wantRefused(protocol.CodeInvalid, method, params, "this host has no database for plugins: keep values by state.set")
	}
}
