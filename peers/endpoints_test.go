package peers

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/admin"
)

// TestHost_servesEndpoints asks the published SDK's worker, and an AIRI module in Node,
// over HTTP.
func TestHost_servesEndpoints(t *testing.T) {
	h := openHome(t, Paperclip, `{"scope": "globex"}`, nil)
	h.start(t, "kitchen", Changes{})
	h.startDir(t, moduleWithAPage(t))
	server := admin.New(h.Host, admin.Options{Plugins: []string{"kitchen", "page"}})
	const token = "0123456789abcdef"
	address := func(g admin.Guard) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		server.Serve(l, g)
		return "http://" + l.Addr().String() + "/plugins"
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		http.DefaultClient.CloseIdleConnections()
		require.NoError(t, server.Shutdown(ctx))
	})
	locked := address(admin.Guard{Loopback: true, Token: token})
	ask := func(method, path, body string, header ...string) (int, http.Header, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, locked+path, strings.NewReader(body))
		require.NoError(t, err)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		got, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer func() { _ = got.Body.Close() }()
		text, err := io.ReadAll(got.Body)
		require.NoError(t, err)
		return got.StatusCode, got.Header, string(text)
	}
	status, _, body := ask("GET", "/kitchen/things/7", "")
	require.Equal(t, http.StatusUnauthorized, status, body)
	status, head, body := ask("GET", "/kitchen/things/a%2Fb%20c?companyId=acme&x=1&x=2", "", "Authorization", "Bearer "+token)
	require.Equal(t, http.StatusOK, status, body)
	require.Equal(t, "thing.get", head.Get("X-Kitchen"))
	require.JSONEq(t, `{"path":"/things/a%2Fb%20c","params":{"id":"a/b c"},"query":{"x":["1","2"],"companyId":"acme"},"body":null}`, body)
	status, _, body = ask("POST", "/kitchen/things", `{"companyId":"acme","n":1}`, "Authorization", "Bearer "+token, "Content-Type", "application/json")
	require.Equal(t, http.StatusCreated, status, body)
	require.JSONEq(t, `{"path":"/things","params":{},"query":{},"body":{"companyId":"acme","n":1}}`, body)

	status, _, body = ask("POST", "/kitchen/webhooks/inbox", `{"n":1}`, "X-Event", "push", "Authorization", "Basic x")
	require.Equal(t, http.StatusNoContent, status, body)
	delivered := h.seen(t).Webhooks[0]
	require.Equal(t, `{"n":1}`, delivered["rawBody"])
	require.Equal(t, map[string]any{"n": 1.0}, delivered["parsedBody"])
	require.Equal(t, "push", delivered["headers"].(map[string]any)["x-event"])
	require.NotContains(t, delivered["headers"], "authorization")

	status, head, body = ask("GET", "/page/hello/Ada?loud", "", "Authorization", "Bearer "+token)
	require.Equal(t, http.StatusOK, status, body)
	require.Equal(t, "<p>HELLO, ADA</p>", body)
	require.Equal(t, "text/html", head.Get("Content-Type"))
	status, _, _ = ask("GET", "/page/hello/Ada", "")
	require.Equal(t, http.StatusUnauthorized, status, "a module cannot say that it is for everybody")

	for _, one := range h.Sessions() {
		if one.Plugin == "kitchen" {
			_, err := h.Stop(t.Context(), one.ID)
			require.NoError(t, err)
		}
	}
	status, _, body = ask("GET", "/kitchen/things/7", "", "Authorization", "Bearer "+token)
	require.Equal(t, http.StatusServiceUnavailable, status, body)
}

// moduleWithAPage is an AIRI module that offers an endpoint.
func moduleWithAPage(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plugin.json": `{"apiVersion":"v1","kind":"manifest.plugin.airi.moeru.ai","name":"page","entrypoints":{"node":"./page.mjs"}}`,
		"page.mjs": `import { defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'
import { definePlugin } from '@proj-airi/plugin-sdk'

export default definePlugin('page', '1.0.0', () => ({
  async setupModules({ channels: { host } }) {
    defineInvokeHandler(host, defineInvokeEventa('http:GET /hello/:name'), ({ params, query }) => {
      const text = 'Hello, ' + params.name
      return { headers: { 'content-type': 'text/html' }, body: '<p>' + ('loud' in query ? text.toUpperCase() : text) + '</p>' }
    })
  },
}))
`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}
