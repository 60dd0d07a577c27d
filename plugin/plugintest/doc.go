// Package plugintest answers one question: how does an author test a plugin without a host?
//
// [Start] opens a [plugin.Definition] in memory, as a host opens one that is compiled in, and
// runs its hooks. What the plugin offers is called, what it asks of others is answered by
// plain functions, and all of it is kept for the test to look at:
//
//	func TestGreet(t *testing.T) {
//		host := plugintest.Start(t, greeter(), plugintest.Options{
//			Config:  map[string]string{"greeting": "Hello"},
//			Answers: map[string]plugintest.Answer{"state.get": plugintest.Value(3)},
//		})
//		var result plugin.Result
//		if err := host.Call("tool:greet", Person{"Ada"}, &result); err != nil {
//			t.Fatal(err)
//		}
//	}
//
// # What is as under a host
//
//   - OnInit, OnSetup and OnStop run in this order, each within a time; OnSetup again by
//     [Host.Configure], behind OnValidate.
//   - Inputs and results are checked for their kind's shape, and a failure has the host's
//     code: [protocol.CodeOf]. JSON Schemas of offers are not looked at.
//   - A panic, an end by runtime.Goexit and a handler that takes longer than its call fail
//     that call.
//   - The tenant ([For]) crosses with what the handler calls; a chain of calls has an end.
//   - Of an event the plugin hears once: by the handler of its name, or that of the longest
//     pattern.
//
// A call of what neither Options.Answers nor the plugin itself has fails, and Session.Wait
// does so at once, since nobody would come to offer it.
//
// # Leaks
//
// When the test is over the plugin is stopped, and the contexts of its hooks and handlers
// end. A goroutine of the plugin's that still runs some time later (Options.Settle) fails
// the test with its stack. Those of other tests are told apart, so that tests may be parallel.
//
// # Time
//
// Nothing in here needs a clock of its own: inside a bubble of testing/synctest, time is the
// test's.
//
// # Concurrency and limits
//
// All methods may be called from any goroutine. What is kept for the test is bounded
// (Options.Records): the test fails if there was more.
package plugintest
