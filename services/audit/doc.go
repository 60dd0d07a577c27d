// Package audit answers one question: how is it kept what plugins were denied and what
// operators did, without anybody waiting for that?
//
//	trail := audit.New(db, audit.Options{Log: log})
//	trail.Add(services.Record{Plugin: "mirror", Action: "stop", Message: "stopped by hand"})
//	trail.Deny(services.Record{Plugin: "mirror", Action: "denied", EntityID: "http.fetch", Message: "…"})
//	…
//	trail.Close(ctx)
//
// A [Trail] has one goroutine, which writes what waits in a bounded queue. Neither Add nor
// Deny waits for it or fails: what finds no room is dropped and counted.
//
// # Denials
//
// A plugin that is denied something asks again, often at once, and must not fill the store
// nor push out what others have done. So the first denial of a kind (plugin, company,
// action and what it was about) is written at once, and those that follow within a window
// are one record with their number at its end. A window is a minute long; as long as
// denials go on, the plugin's next window is twice as long, up to an hour. Of each plugin
// some kinds are told apart in one window; all others are one more record.
//
// So a plugin that does nothing else makes some tens of records in its first minutes, and
// then about as many an hour, whatever it does.
//
// All methods may be called from any goroutine.
package audit
