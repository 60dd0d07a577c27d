package watch

import (
	"path/filepath"
	"strings"
)

// ignored tells whether a file's name is one of those that are not looked at.
func (o Options) ignored(name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(name, ".env") {
		return true // editors' too: .x.swp, .#x, .goutputstream-…
	}
	return isTemporary(name) || o.listed(name)
}

// passed tells whether a directory's name is one of those that are not entered.
func (o Options) passed(name string) bool {
	return strings.HasPrefix(name, ".") || name == "node_modules" || o.listed(name)
}

func (o Options) listed(name string) bool {
	for _, pattern := range o.Ignore {
		if ok, err := filepath.Match(pattern, name); ok && err == nil {
			return true
		}
	}
	return false
}

// isTemporary tells whether a name is one that editors give to what they remove again.
func isTemporary(name string) bool {
	switch {
	case name == "4913", // Vim tries with it whether it may write here
		strings.HasSuffix(name, "~"),                                     // Emacs, Vim, nano
		strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#"),     // Emacs
		strings.HasSuffix(name, "___jb_tmp___"),                          // JetBrains
		strings.HasSuffix(name, "___jb_old___"),                          //
		strings.HasSuffix(name, ".swp"), strings.HasSuffix(name, ".swx"), // Vim with its own folder for them
		strings.HasSuffix(name, ".tmp"), strings.HasSuffix(name, ".crswap"): // VS Code and others that write beside
		return true
	}
	return false
}
