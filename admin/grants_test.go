package admin

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// granter has one plugin's grants, some of which wait.
type granter struct{ Grants }

func (g *granter) get(plugin string) Grants {
	told := g.Grants
	told.Plugin = plugin
	return told
}

type granting struct{ *granter }

func (g granting) Grants(plugin string) Grants { return g.get(plugin) }

func (g granting) Decide(_ context.Context, plugin string, d GrantDecision) (Grants, error) {
	if d.Seen != nil && !slices.Equal(d.Seen, g.Waiting) {
		return Grants{}, &protocol.Error{Code: protocol.CodeConflict, Message: "others meanwhile"}
	}
	if d.Deny {
		g.Refused = g.Waiting
	} else {
		g.Granted = append(g.Granted, g.Waiting...)
	}
	g.Waiting = nil
	return g.get(plugin), nil
}

func TestServer_grants(t *testing.T) {
	g := &granter{Grants{Source: "stored", Asked: []string{"a", "b"}, Granted: []string{"a"}, Waiting: []string{"b"}}}
	r := start(t, Options{Granting: granting{g}, Metrics: NewMetrics()})
	ctx := t.Context()
	now, err := r.Grants(ctx, "talker")
	require.NoError(t, err)
	require.Equal(t, g.get("talker"), now)

	// They are seen wherever somebody looks.
	list, err := r.Plugins(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, list[0].Unapproved)
	detail, err := r.Inspect(ctx, "talker")
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, detail.Unapproved)
	status, body := r.get(t, pathReady)
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"ready":true,"plugins":1,"unapproved":[{"plugin":"talker","grants":["b"]}]}`, body)
	_, body = r.get(t, pathMetrics)
	require.Contains(t, body, `airi_host_grants_unapproved{plugin="talker"} 1`)

	_, err = r.Decide(ctx, "talker", GrantDecision{Seen: []string{"c"}})
	require.Equal(t, protocol.CodeConflict, protocol.CodeOf(err))
	now, err = r.Decide(ctx, "talker", GrantDecision{Seen: []string{"b"}})
	require.NoError(t, err)
	require.Equal(t, Grants{Plugin: "talker", Source: "stored", Asked: []string{"a", "b"}, Granted: []string{"a", "b"}}, now)
	list, err = r.Plugins(ctx)
	require.NoError(t, err)
	require.Empty(t, list[0].Unapproved)
	_, err = r.Grants(ctx, "nobody")
	require.Equal(t, codeNotFound, protocol.CodeOf(err))
}

func TestServer_withoutGrantsRefuses(t *testing.T) {
	r := start(t, Options{})
	_, err := r.Grants(t.Context(), "talker")
	require.EqualError(t, err, "plugin talker: this host decides on no grants")
	_, err = r.Decide(t.Context(), "talker", GrantDecision{})
	require.EqualError(t, err, "plugin talker: this host decides on no grants")
}

func TestServer_searchesTheAudit(t *testing.T) {
	var asked AuditSearch
	r := start(t, Options{Metrics: NewMetrics(), AuditCounts: func() AuditCounts { return AuditCounts{Dropped: 7} }, Audit: func(_ context.Context, s AuditSearch) ([]AuditRecord, error) {
		asked = s
		if s.Company == "nobody" {
			return nil, nil
		}
		return []AuditRecord{{Number: 3, Action: "stop"}}, nil
	}})
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	all, err := r.Audit(t.Context(), AuditSearch{Plugin: "p", Company: "c", Since: since, Before: 9, Limit: 2})
	require.NoError(t, err)
	require.Equal(t, []AuditRecord{{Number: 3, Action: "stop"}}, all)
	require.Equal(t, AuditSearch{Plugin: "p", Company: "c", Since: since, Before: 9, Limit: 2}, asked)
	_, err = r.Audit(t.Context(), AuditSearch{Plugin: "p", Company: "nobody"})
	require.EqualError(t, err, "no plugin and no session is called p; there are: talker", "nor has it records")
	none, err := r.Audit(t.Context(), AuditSearch{Plugin: "p", Company: "nobody", Before: 7})
	require.NoError(t, err)
	require.Empty(t, none, "those that were asked for before were the last")
	for query, want := range map[string]string{
		"since=now": "expected a time", "before=x": "expected the number of a record", "limit=1001": "expected a number from 0 to 1000",
		"user=me": "there is no such parameter here",
	} {
		status, body := r.get(t, pathAPI+"/audit?"+query)
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, body, want)
	}
	_, body := r.get(t, pathMetrics)
	require.Contains(t, body, `airi_host_audit_records_total{outcome="dropped"} 7`)
	_, err = start(t, Options{}).Audit(t.Context(), AuditSearch{})
	require.EqualError(t, err, "this host keeps no audit records: give it a state directory that stays, with --state")
}

func TestServer_tellsWhatWasOrdered(t *testing.T) {
	var told []string
	r := start(t, Options{
		Ordered: func(command, plugin string, err error) {
			if err != nil {
				plugin += ": " + err.Error()
			}
			told = append(told, command+" "+plugin)
		},
	})
	_, err := r.Command(t.Context(), Start, "talker")
	require.Error(t, err)
	_, err = r.Command(t.Context(), Stop, "talker")
	require.NoError(t, err)
	_, err = r.Command(t.Context(), Start, "nobody")
	require.Error(t, err)
	require.Equal(t, []string{"start talker: plugin talker is not stopped: it is ready (plugin-session-0); to start it anew, reload it", "stop talker"}, told)
}

// A plugin is a user of the machine as well, and must not approve itself.
func TestGuard_nothingIsApprovedOnLoopbackWithoutAToken(t *testing.T) {
	for path, denied := range map[string]bool{
		pathAPI + "/audit": true, pathAPI + "/plugins/p/approve": true, pathAPI + "/plugins/p/grants": false, pathAPI + "/plugins/approve": false,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:6121"+path, nil)
		require.NoError(t, err)
		f, refused := Guard{Loopback: true}.refusal(r)
		require.Equal(t, denied, refused, path)
		if refused {
			require.True(t, strings.HasPrefix(f.Message, "every user of this machine may ask here"))
		}
		r.Header.Set("Authorization", "Bearer "+strings.Repeat("x", 16))
		_, refused = Guard{Loopback: true, Token: strings.Repeat("x", 16)}.refusal(r)
		require.False(t, refused, path)
	}
}
