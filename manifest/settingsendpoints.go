package manifest

import "time"

// EndpointSettings are about the requests to plugins' endpoints and webhooks.
type EndpointSettings struct {
	// MaxBody is how long the body of a request may be, in bytes, at most
	// [MaxFrameBytes].
	MaxBody int
	// Timeout is for all of a request.
	Timeout time.Duration
	// Requests is how many requests of one plugin's are served at a time, All how many
	// of all plugins'; at most [MaxEndpointRequests].
	Requests, All int
	// Closed lets nobody in without the token, whatever plugins declare as public.
	Closed bool
}

// MaxEndpointRequests is the most that EndpointSettings allow at a time.
const MaxEndpointRequests = 65_536

var endpointsShape = shape[EndpointSettings]{fields: []field[EndpointSettings]{
	{"maxBody", "", integer(func(e *EndpointSettings) *int { return &e.MaxBody }, 1, MaxFrameBytes)},
	{"timeout", "", timeout(func(e *EndpointSettings) *time.Duration { return &e.Timeout })},
	{"requests", "", integer(func(e *EndpointSettings) *int { return &e.Requests }, 1, MaxEndpointRequests)},
	{"all", "", integer(func(e *EndpointSettings) *int { return &e.All }, 1, MaxEndpointRequests)},
	{"closed", "", truth(func(e *EndpointSettings) *bool { return &e.Closed })},
}}
