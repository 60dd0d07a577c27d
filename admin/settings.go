package admin

import (
	"context"
	"net/http"
)

// SettingsReload is what came of reading the host's file of settings again.
type SettingsReload struct {
	// File is the file, "" where there is none.
	File string `json:"file,omitempty"`
	// Changes are the fields that are not what they were, in the order of the file.
	Changes []SettingChange `json:"changes"`
	// Problems are what is wrong with the file; if there are any, nothing was changed.
	Problems []SettingProblem `json:"problems,omitempty"`
}

// SettingProblem is one thing that is wrong with the settings.
type SettingProblem struct {
	File string `json:"file,omitempty"`
	// Field is its path in the file, "" when it is about all of it.
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
	// Line and Column are where it stands, counted from 1; 0 where there is no such place.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// SettingChange is one field that has changed.
type SettingChange struct {
	// Field is its path in the file, e.g. "log.level".
	Field string `json:"field"`
	// Plugin is whose setting it is; "" for the host's own.
	Plugin string `json:"plugin,omitempty"`
	// Effect says what has come of it.
	Effect SettingEffect `json:"effect"`
	// Message says more, or is "".
	Message string `json:"message,omitempty"`
}

// SettingEffect is what has come of a change.
type SettingEffect string

// The effects.
const (
	// SettingApplied: it is in force.
	SettingApplied SettingEffect = "applied"
	// SettingNextStart: it holds for sessions that begin from now on.
	SettingNextStart SettingEffect = "next-start"
	// SettingRestart: it takes a restart of the host.
	SettingRestart SettingEffect = "restart"
	// SettingRefused: a plugin does not take its configuration, and goes on with what
	// it had.
	SettingRefused SettingEffect = "refused"
	// SettingFailed: it is in force but for a plugin that was to begin anew with it, and has
	// not: Message says why.
	SettingFailed SettingEffect = "failed"
	// SettingHidden: something goes before it, so that it changes nothing.
	SettingHidden SettingEffect = "hidden"
)

// postReload has the settings read again.
func (s *Server) postReload(w http.ResponseWriter, r *http.Request) error {
	if s.opts.ReloadSettings == nil {
		return invalid("this host does not read its settings again: restart it")
	}
	ctx, cancel := s.ordered(r)
	defer cancel()
	report, err := s.opts.ReloadSettings(ctx)
	if err != nil {
		return err
	}
	report.Changes = append([]SettingChange{}, report.Changes...)
	return answer(w, http.StatusOK, report)
}

// ReloadSettings has the host read its file of settings again, and tells what has come
// of that. A file with problems is no error, but told.
func (c *Client) ReloadSettings(ctx context.Context) (report SettingsReload, err error) {
	return report, c.ask(ctx, http.MethodPost, "/reload", nil, &report)
}
