// Package superjson answers one question: what does a text frame of AIRI's websocket say?
//
// Since March 2026 AIRI's programs write each event with the npm package superjson, as
// {"json": EVENT, "meta": ANNOTATIONS}; older ones, and anybody's own, write the bare
// event. [Read] takes both:
//
//	f, err := superjson.Read(text)
//	f.JSON      // the event, plain JSON as it came
//	f.Forward() // the frame for another peer; a wrapped one is the very bytes that came
//	f.Plain()   // the event without what its annotations call undefined
//	f.Value()   // the event as values: dates, maps, sets, what is twice the same object
//
// Reading looks at the outer members alone. Annotations are followed when somebody asks
// for what they say, but for one thing: a frame whose annotations name __proto__,
// constructor or prototype, with which they would change what all objects have in common, is
// refused at once, as superjson refuses it. [Encode] writes values as superjson does.
//
// It is held to superjson 2.2.6, which AIRI's published client brings, by package peers.
package superjson
