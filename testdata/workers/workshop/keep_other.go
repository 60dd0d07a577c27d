//go:build unix && !linux

package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// keep runs a command and kills its process group when it, or the worker, has ended. What
// leaves that group is not reached where there is no Linux.
func keep(terminal bool, command []string) int {
	life, report := os.NewFile(3, "life"), os.NewFile(4, "report")
	if len(command) == 0 {
		return 2
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: terminal}
	var is ended
	if err := cmd.Start(); err != nil {
		is.Error = err.Error()
	} else {
		kill := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		go func() {
			_, _ = io.Copy(io.Discard, life)
			kill()
		}()
		_ = cmd.Wait()
		kill()
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			is.Signal = status.Signal().String()
		} else {
			is.Code = cmd.ProcessState.ExitCode()
		}
	}
	text, _ := json.Marshal(is) // numbers and strings
	_, _ = report.Write(text)
	return 0
}
