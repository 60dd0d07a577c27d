package admin

import "github.com/prometheus/client_golang/prometheus"

// namespace begins the names of all metrics.
const namespace = "airi_host"

// Count adds a counter to those that are served, which is asked for its value whenever
// they are read: from any goroutine. Its name follows "airi_host_", its labels are names
// and values in turn. A counter that is there already, with the same labels, panics.
func (m *Metrics) Count(name, help string, value func() uint64, labels ...string) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: namespace + "_" + name, Help: help, ConstLabels: pairs(labels),
	}, func() float64 { return float64(value()) }))
}

// Gauge is Count for what grows and shrinks.
func (m *Metrics) Gauge(name, help string, value func() float64, labels ...string) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: namespace + "_" + name, Help: help, ConstLabels: pairs(labels),
	}, value))
}

func pairs(labels []string) prometheus.Labels {
	with := prometheus.Labels{}
	for i := 0; i+1 < len(labels); i += 2 {
		with[labels[i]] = labels[i+1]
	}
	return with
}
