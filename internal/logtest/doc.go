// Package logtest answers one question of tests: what has a log said so far?
//
//	var said logtest.Buffer
//	log := slog.New(slog.NewTextHandler(&said, nil))
//	…
//	require.Contains(t, said.String(), "a word")
package logtest
