package main

import (
	"context"
	"net/rpc"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// handshake is how the program knows that it is the worker.
var handshake = plugin.HandshakeConfig{
	ProtocolVersion: 1, MagicCookieKey: "AIRI_HOST_BENCH_WORKER", MagicCookieValue: "echo",
}

// echoer is the worker, as its host sees it.
type echoer interface {
	echo(ctx context.Context, in Echoed) (Echoed, error)
}

// plugins are the worker by one protocol; without a server they serve a host.
func plugins(protocol string, server *echoServer) plugin.PluginSet {
	if protocol == viaGRPC {
		return plugin.PluginSet{protocol: &grpcPlugin{server: server}}
	}
	return plugin.PluginSet{protocol: &rpcPlugin{server: server}}
}

// serve is the worker's main.
func serve(protocol string) {
	config := &plugin.ServeConfig{HandshakeConfig: handshake, Plugins: plugins(protocol, &echoServer{})}
	if protocol == viaGRPC {
		config.GRPCServer = plugin.DefaultGRPCServer
	}
	plugin.Serve(config)
}

// echoServer gives back what it gets.
type echoServer struct{}

// Echo is net/rpc's; the form is that package's.
func (*echoServer) Echo(in Echoed, answer *Echoed) error {
	*answer = in
	return nil
}

// Echoed is what the worker takes and gives. net/rpc asks for an exported type.
type Echoed struct{ Text string }

// rpcPlugin is the worker by net/rpc.
type rpcPlugin struct{ server *echoServer }

func (p *rpcPlugin) Server(*plugin.MuxBroker) (any, error) { return p.server, nil }

func (*rpcPlugin) Client(_ *plugin.MuxBroker, c *rpc.Client) (any, error) { return rpcEcho{c}, nil }

type rpcEcho struct{ client *rpc.Client }

func (e rpcEcho) echo(_ context.Context, in Echoed) (answer Echoed, err error) {
	err = e.client.Call("Plugin.Echo", in, &answer)
	return answer, err
}

// grpcPlugin is the worker by gRPC, with one method that takes text and gives text.
type grpcPlugin struct {
	plugin.NetRPCUnsupportedPlugin
	server *echoServer
}

const (
	service = "airihost.bench.Echo"
	method  = "/" + service + "/Echo"
)

func (p *grpcPlugin) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: service, HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Echo", Handler: echoByGRPC}},
	}, p.server)
	return nil
}

//nolint:revive // the order of the arguments is gRPC's
func echoByGRPC(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	var text wrapperspb.StringValue
	if err := decode(&text); err != nil {
		return nil, err
	}
	return &text, nil
}

func (*grpcPlugin) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return grpcEcho{c}, nil
}

type grpcEcho struct{ conn *grpc.ClientConn }

func (e grpcEcho) echo(ctx context.Context, in Echoed) (Echoed, error) {
	var answer wrapperspb.StringValue
	err := e.conn.Invoke(ctx, method, wrapperspb.String(in.Text), &answer)
	return Echoed{answer.GetValue()}, err
}
