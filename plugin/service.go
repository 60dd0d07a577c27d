package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// ServiceHooks are the life of a service of type S.
type ServiceHooks[S any] struct {
	// Start makes the service when the first of its methods is called, once a session:
	// calls that come meanwhile wait for it. One that fails fails those calls, and is tried
	// again by the next one. Its context ends at StartLimit, not with the call.
	Start func(context.Context, *Session) (S, error)
	// StartLimit is how long Start may take; zero means 30 s.
	StartLimit time.Duration
	// Stop ends a service that was started, when the session ends in good order, after
	// OnStop; nil for nothing.
	Stop func(context.Context, S) error
}

// ServiceMethod is a method of a service that may be called from outside. Others may not.
type ServiceMethod[S any] struct {
	name   string
	handle func(context.Context, S, json.RawMessage) (json.RawMessage, error)
	opts   []Option
}

// Method is a method by its name. Its arguments are an array: In is that of the only
// argument, or a slice or an array of all of them. Other numbers of arguments fail the call
// as invalid, but for none at all, which leaves the zero value.
func Method[S, In, Out any](name string, call func(context.Context, S, In) (Out, error), opts ...Option) ServiceMethod[S] {
	return ServiceMethod[S]{name, func(ctx context.Context, service S, input json.RawMessage) (json.RawMessage, error) {
		var in In
		if err := decodeArguments(input, &in); err != nil {
			return nil, err
		}
		out, err := call(ctx, service, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}, opts}
}

// decodeArguments reads the array of a method's arguments.
func decodeArguments(input json.RawMessage, in any) error {
	if kind := reflect.TypeOf(in).Elem().Kind(); kind == reflect.Slice || kind == reflect.Array {
		return decode(input, in)
	}
	var all protocol.Arguments
	if err := decode(input, &all); err != nil {
		return err
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return decode(all[0], in)
	}
	return &protocol.Error{Code: protocol.CodeInvalid, Message: fmt.Sprintf("the arguments: expected one at most, got %d", len(all))}
}

// Service offers "service:TYPE.METHOD" for each of the methods. The service itself is made
// when one of them is called. A type that is there already panics, as an offer would.
func Service[S any](d *Definition, typ string, hooks ServiceHooks[S], methods ...ServiceMethod[S]) {
	if _, again := d.services[typ]; again {
		panic(fmt.Sprintf("plugin %s has the service %s twice", d.name, typ))
	}
	if d.services == nil {
		d.services = map[string]serviceClass{}
	}
	d.services[typ] = hooks.class()
	for _, m := range methods {
		Handle(d, kindService+typ+"."+m.name, func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
			service, err := From(ctx).service(ctx, typ)
			if err != nil {
				return nil, fmt.Errorf("the service %s: %w", typ, err)
			}
			return m.handle(ctx, service.(S), input)
		}, m.opts...)
	}
}

// serviceClass is a service whose type nobody has to know.
type serviceClass struct {
	start func(context.Context, *Session) (any, error)
	stop  func(context.Context, any) error
	limit time.Duration
}

const defaultStartLimit = 30 * time.Second

func (h ServiceHooks[S]) class() serviceClass {
	c := serviceClass{
		start: func(ctx context.Context, s *Session) (any, error) { return h.Start(ctx, s) },
		limit: h.StartLimit,
	}
	if c.limit <= 0 {
		c.limit = defaultStartLimit
	}
	if h.Stop != nil {
		c.stop = func(ctx context.Context, service any) error { return h.Stop(ctx, service.(S)) }
	}
	return c
}

// running are the services of a session that were started, in that order.
type running struct {
	mu    sync.Mutex
	by    map[string]*started
	order []string
}

// started is a service, or its start, which is over when done is closed.
type started struct {
	done    chan struct{}
	service any
	err     error
}

// service returns a service of the definition, and starts it if it is not there.
func (s *Session) service(ctx context.Context, typ string) (any, error) {
	r := &s.running
	r.mu.Lock()
	one := r.by[typ]
	if one == nil {
		one = &started{done: make(chan struct{})}
		if r.by == nil {
			r.by = map[string]*started{}
		}
		r.by[typ] = one
		go s.startService(ctx, typ, one)
	}
	r.mu.Unlock()
	select {
	case <-one.done:
		return one.service, one.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// startService starts a service for all who wait. It is for the sake of the first of them,
// and outlives its call. Whatever its hook does, they are told.
func (s *Session) startService(first context.Context, typ string, one *started) {
	class := s.definition.services[typ]
	ctx, cancel := context.WithTimeout(context.WithoutCancel(first), class.limit)
	defer cancel()
	one.err = errNotReturned
	defer func() {
		if one.err == errNotReturned { //nolint:errorlint // this very value
			one.err = fmt.Errorf("its start panicked: %v", recover())
		}
		s.running.settle(typ, one)
	}()
	service, err := class.start(s.within(ctx), s)
	one.service, one.err = service, err
}

// settle keeps what was started, or forgets what failed.
func (r *running) settle(typ string, one *started) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one.err != nil {
		delete(r.by, typ)
	} else {
		r.order = append(r.order, typ)
	}
	close(one.done)
}

// stopServices stops what was started, the last one first, and returns the first error.
func (s *Session) stopServices(ctx context.Context) (failed error) {
	r := &s.running
	r.mu.Lock()
	order, by := r.order, r.by
	r.order, r.by = nil, nil
	r.mu.Unlock()
	for _, typ := range slices.Backward(order) {
		stop := s.definition.services[typ].stop
		if stop == nil {
			continue
		}
		if err := stop(s.within(ctx), by[typ].service); err != nil && failed == nil {
			failed = fmt.Errorf("the service %s: %w", typ, err)
		}
	}
	return failed
}

// hasStops tells whether a service wants to be stopped.
func (d *Definition) hasStops() bool {
	for _, c := range d.services {
		if c.stop != nil {
			return true
		}
	}
	return false
}
