package manifest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWatchSettings_wholeAndItsBounds(t *testing.T) {
	const data = `{"watch": {"debounce": "100ms", "maxWait": 3000, "directories": 1000000, "reloadsPerMinute": 1000, "ignore": ["data", "*.log"]}}`
	require.Equal(t, WatchSettings{
		Debounce: 100 * time.Millisecond, MaxWait: 3 * time.Second, Directories: MaxWatched, ReloadsPerMinute: MaxReloads, Ignore: []string{"data", "*.log"},
	}, wantSettings(t, data).Watch)
	require.NoError(t, settingsContract(t).Check(json.RawMessage(data)))
	require.Zero(t, wantSettings(t, `{"watch": {}}`).Watch)

	n := settingsNodes(t).Defs["watch"]
	wantShape(t, watchShape, n)
	require.EqualValues(t, MaxWatched, n.Properties["directories"].Maximum)
	require.EqualValues(t, MaxReloads, n.Properties["reloadsPerMinute"].Maximum)
}

func TestWatchSettings_refused(t *testing.T) {
	const pattern = `expected a pattern of names, e.g. "*.log", found `
	for data, want := range map[string]string{
		`{"watch": true}`:                                  `watch: expected an object, found a boolean, true`,
		`{"watch": {"directories": 0}}`:                    `watch.directories: expected a whole number from 1 to 1000000, found a number, 0`,
		`{"watch": {"reloadsPerMinute": 1001}}`:            `watch.reloadsPerMinute: expected a whole number from 1 to 1000, found a number, 1001`,
		`{"watch": {"ignore": ["a", "a"]}}`:                `watch.ignore[1]: "a" is taken by watch.ignore[0]: change one of them`,
		`{"watch": {"ignore": ["[a"]}}`:                    `watch.ignore[0]: ` + pattern + `"[a"`,
		`{"watch": {"ignore": ["a/b"]}}`:                   `watch.ignore[0]: ` + pattern + `"a/b"`,
		`{"watch": {"ignore": [""]}}`:                      `watch.ignore[0]: ` + pattern + `""`,
		`{"watch": {"debounce": "5s", "maxWait": "1s"}}`:   `watch.maxWait: expected at least the debounce, 5s, found "1s"`,
		`{"watch": {"debounce": "5s", "max_wait": "10s"}}`: `watch.max_wait: unknown field: names are exact, write "maxWait"`,
	} {
		wantSettingsProblems(t, data, want)
	}
}
