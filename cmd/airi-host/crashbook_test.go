package main

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/services/store"
)

// What was on its way to the store when a plugin was forgotten is not kept behind that.
func TestCrashBook_keepsNothingOfWhatIsForgotten(t *testing.T) {
	db, err := openStore(t.Context(), t.TempDir(), store.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	b, err := openCrashBook(t.Context(), db, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer b.close(t.Context())
	crashed := actors.CrashRecord{Crashes: 1, InARow: 1, LastCrash: "EOF"}
	b.Remember("a", crashed)
	b.Remember("b", crashed)
	b.forget("a")
	_, err = db.RemovePlugin(t.Context(), "a")
	require.NoError(t, err)
	b.keep("a", crashed) // as the writer does that has taken it before
	b.close(t.Context())
	all, err := db.Plugins(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, "b", all[0].Name)
	require.Equal(t, "EOF", all[0].Crashes.Last)
}
