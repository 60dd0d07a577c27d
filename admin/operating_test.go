package admin

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// The operator's page lists every metric, with its labels, and no other.
func TestMetrics_areAllInTheOperatorsPage(t *testing.T) {
	m := NewMetrics()
	have := map[string]bool{}
	families, err := m.registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if own.MatchString(f.GetName()) {
			have[f.GetName()] = true
		}
	}
	described := make(chan *prometheus.Desc, 100)
	standing{m}.Describe(described)
	close(described)
	for d := range described {
		have[regexp.MustCompile(`fqName: "([^"]*)"`).FindStringSubmatch(d.String())[1]] = true
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "operating.md"))
	require.NoError(t, err)
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(airi_host_[a-z_]+)` \\|").FindAllSubmatch(page, -1) {
		listed[string(row[1])] = true
	}
	require.Equal(t, have, listed)
}

var own = regexp.MustCompile(`^airi_host_`)
