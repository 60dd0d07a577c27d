package main

import (
	"context"
	"fmt"
	"os"

	"github.com/airi-host/airi-host/peers/load"
)

func main() { os.Exit(command(os.Args[1:])) }

func command(args []string) int {
	if len(args) != 1 || (args[0] != netrpc && args[0] != viaGRPC) {
		fmt.Fprintf(os.Stderr, "plugins: expected one argument, %s or %s\n", netrpc, viaGRPC)
		return 2
	}
	if os.Getenv(handshake.MagicCookieKey) == handshake.MagicCookieValue {
		serve(args[0])
		return 0
	}
	if err := load.Serve(context.Background(), os.Stdin, os.Stdout, &subject{protocol: args[0]}); err != nil {
		fmt.Fprintln(os.Stderr, "plugins:", err)
		return 1
	}
	return 0
}
