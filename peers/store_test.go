package peers

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/services/jobs"
	"github.com/airi-host/airi-host/services/store"
)

// keeping makes a host whose services keep what they are given in a store, and let the
// kitchen use a folder for acme.
func keeping(t *testing.T, db *store.DB, folder string) *home {
	t.Helper()
	own := services.Options{
		Store: db.State(), Entities: db, Auditor: db,
		Folders: services.Folders{Declared: func(plugin, company, key string) (services.Folder, bool) {
			return services.Folder{Path: folder}, plugin == "kitchen" && company == "acme" && key == "recipes"
		}},
	}
	return openHome(t, Paperclip916, `{}`, func(o *actors.Options) {
		before := o.Methods
		o.Methods = func(p protocol.Plugins) map[string]map[string]protocol.Service {
			all := before(p)
			maps.Copy(all[manifest.DialectPaperclip], services.Paperclip(p, own))
			return all
		}
	})
}

// The SDK finds what it kept, in the shapes that it has types for.
func TestHost_keepsWhatWorkersTrack(t *testing.T) {
	db, err := store.Open(t.Context(), t.TempDir(), store.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	folder := t.TempDir()
	h := keeping(t, db, folder)
	h.start(t, "kitchen", Changes{})

	type entity struct {
		ID, EntityType, ScopeKind   string
		ScopeID, ExternalID, Status *string
		Data                        json.RawMessage
		CreatedAt, UpdatedAt        time.Time
	}
	result, err := h.acts(t, "kitchen", "entities.upsert", "acme",
		`{"entity":{"entityType":"dish","scopeKind":"company","scopeId":"acme","externalId":"7","data":{"hot":true}}}`)
	require.NoError(t, err)
	var one entity
	require.NoError(t, json.Unmarshal([]byte(result), &one))
	require.Equal(t, "7", *one.ExternalID)
	require.Nil(t, one.Status)
	require.JSONEq(t, `{"hot":true}`, string(one.Data))
	h.wantActs(t, `[`+result+`]`, "kitchen", "entities.list", "acme", `{"query":{"entityType":"dish"}}`)
	h.wantActs(t, `[]`, "kitchen", "entities.list", "globex", `{"query":{}}`)
	_, err = h.acts(t, "kitchen", "entities.list", "globex", `{"query":{"scopeKind":"company","scopeId":"acme"}}`)
	wantPeerError(t, err, "-32005", `Plugin "kitchen" is not allowed to perform "entities.list": `+
		`requested company "acme" but the current invocation is scoped to company "globex"`)

	h.wantActs(t, `null`, "kitchen", "activity", "acme", `{"companyId":"acme","message":"cooked","metadata":{"n":1}}`)
	records, err := db.AuditRecords(t.Context(), store.Search{Plugin: "kitchen"})
	require.NoError(t, err)
	require.Len(t, records, 1)
	require.Equal(t, `acme cooked {"n":1}`, records[0].Company+" "+records[0].Message+" "+string(records[0].Metadata))

	worksInAFolder(t, h, folder)
}

func worksInAFolder(t *testing.T, h *home, folder string) {
	t.Helper()
	ask := func(method, more string) (string, error) {
		t.Helper()
		return h.acts(t, "kitchen", "folder", "acme", `{"method":"`+method+`","key":"recipes","more":[`+more+`]}`)
	}
	var status struct{ Healthy, Writable bool }
	result, err := ask("writeTextAtomic", `"soups/leek.md","leek\n"`)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(result), &status))
	require.True(t, status.Healthy && status.Writable)
	text, err := os.ReadFile(filepath.Join(folder, "soups", "leek.md"))
	require.NoError(t, err)
	require.Equal(t, "leek\n", string(text))
	result, err = ask("readText", `"soups/leek.md"`)
	require.NoError(t, err)
	require.Equal(t, `"leek\n"`, result)
	var listing struct{ Entries []struct{ Path, Kind string } }
	result, err = ask("list", `{"recursive":true}`)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(result), &listing))
	require.Len(t, listing.Entries, 2)
	_, err = ask("readText", `"../secret"`)
	wantPeerError(t, err, "-32603", `plugin kitchen: localFolders.readText: relativePath: expected a path below the folder, `+
		`with "/" between its parts and without "..", "." and "\"`)
	_, err = ask("deleteFile", `"soups/leek.md"`)
	require.NoError(t, err)
	require.NoFileExists(t, filepath.Join(folder, "soups", "leek.md"))
}

// What was missed is run by the SDK's worker once it is ready.
func TestHost_runsJobsByTheirSchedules(t *testing.T) {
	dir := t.TempDir()
	before, err := store.Open(t.Context(), dir, store.Options{Now: func() time.Time { return time.Now().Add(-48 * time.Hour) }})
	require.NoError(t, err)
	_, err = before.FollowJob(t.Context(), "kitchen", "sync", "0 3 * * *")
	require.NoError(t, err)
	require.NoError(t, before.Close())
	db, err := store.Open(t.Context(), dir, store.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	h := keeping(t, db, dir)
	h.start(t, "kitchen", Changes{})

	s := jobs.New(h.Host, db, jobs.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); s.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	require.NoError(t, s.Set(t.Context(), "kitchen", []jobs.Job{{Key: "sync", Schedule: "0 3 * * *"}}))
	require.Eventually(t, func() bool { return s.Stats().Runs == 1 }, patience, 10*time.Millisecond)
	_, err = s.Trigger(t.Context(), "kitchen", "sync")
	require.NoError(t, err)
	triggers := []any{}
	for _, job := range h.seen(t).Jobs {
		triggers = append(triggers, job["trigger"])
	}
	require.Equal(t, []any{"schedule", "manual"}, triggers)
	runs, err := db.Runs(t.Context(), "kitchen", "sync", 0)
	require.NoError(t, err)
	require.Len(t, runs, 2)
	for _, r := range runs {
		require.Equal(t, store.Succeeded, r.Outcome, r.Error)
	}
}
