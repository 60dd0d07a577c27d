package admin

import (
	"net/url"
	"strings"
)

// segment is a name as it stands in a path: no name leads out of its place there. What
// folders are called by, "." and "..", would be taken for a shorter path otherwise.
func segment(name string) string {
	if name == "." || name == ".." {
		return strings.ReplaceAll(name, ".", "%2E")
	}
	return url.PathEscape(name)
}
