package peers

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/airi-host/airi-host/peers/load"
)

// orderTime bounds every order to a manager in a test.
const orderTime = time.Minute

// Manager is Paperclip's own worker manager, in a Node process of its own. The script
// testdata/paperclip/manager.mjs says which orders it takes.
type Manager struct{ *load.Client }

// StartManager starts one for a test and ends it, and its workers, with the test.
// event is called with what nobody asked for: {"event": "ready" | "crash" | "exit" |
// "stream" | "log", …}; nil drops that.
func StartManager(t testing.TB, modules string, event func(json.RawMessage)) *Manager {
	t.Helper()
	client, err := OpenManager(t.TempDir(), modules, event)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("Paperclip's worker manager: %v", err)
		}
	})
	return &Manager{client}
}

// OpenManager is StartManager outside of a test; it puts its script into dir.
func OpenManager(dir, modules string, event func(json.RawMessage)) (*load.Client, error) {
	if err := place(dir, "manager.mjs"); err != nil {
		return nil, err
	}
	return load.Open(exec.Command("node", filepath.Join(dir, "manager.mjs"), modules), event)
}

// Do gives an order that has to succeed.
func (m *Manager) Do(t testing.TB, op string, params, result any) {
	t.Helper()
	if err := m.Try(t, op, params, result); err != nil {
		t.Fatal(err)
	}
}

// Try gives an order and returns its error; a [load.Failure] is the manager's own.
func (m *Manager) Try(t testing.TB, op string, params, result any) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), orderTime)
	defer cancel()
	return m.Client.Do(ctx, op, params, result)
}
