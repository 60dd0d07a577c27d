package process

// Leftover is a process that a host, which was killed, has left behind.
type Leftover struct {
	// Pid is the number it had.
	Pid int
	// Command is its program's name as the kernel keeps it: 15 bytes.
	Command string
	// Plugin is the one whose worker it was, or descended from.
	Plugin string
	// Host is the number that the dead host had.
	Host int
}
