package admin

import "github.com/prometheus/client_golang/prometheus"

// Count adds a counter to those that are served, which is asked for its value whenever
// they are read: from any goroutine. Its name follows "airi_host_", its labels are names
// and values in turn. A counter that is there already, with the same labels, panics.
func (m *Metrics) Count(name, help string, value func() uint64, labels ...string) {
	with := prometheus.Labels{}
	for i := 0; i+1 < len(labels); i += 2 {
		with[labels[i]] = labels[i+1]
	}
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "airi_host_" + name, Help: help, ConstLabels: with,
	}, func() float64 { return float64(value()) }))
}
