package main

import "github.com/airi-host/airi-host/admin"

// endpoints bound what is asked of plugins over HTTP.
func (s *settings) endpoints() admin.Endpoints {
	e := s.Endpoints
	return admin.Endpoints{Body: int64(e.MaxBody), Time: e.Timeout, Each: e.Requests, All: e.All, Closed: e.Closed}
}
