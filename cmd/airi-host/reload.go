package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/airi-host/airi-host/actors/configuration"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/manifest"
)

// reloader reads the settings of a running host again. What can change is changed, and
// of the rest it says what it takes.
type reloader struct {
	c       *cli
	h       *house
	f       *front
	configs *configuration.Configurator
	// turn is held by who reads them.
	turn chan struct{}
}

func newReloader(c *cli, h *house, f *front, configs *configuration.Configurator) *reloader {
	return &reloader{c, h, f, configs, make(chan struct{}, 1)}
}

// reload reads them. A file with problems changes nothing.
func (r *reloader) reload(ctx context.Context) (admin.SettingsReload, error) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return admin.SettingsReload{}, context.Cause(ctx)
	}
	var report admin.SettingsReload
	var err error
	r.c.service.reloading(func() { report, err = r.reread(ctx) })
	return report, err
}

func (r *reloader) reread(ctx context.Context) (admin.SettingsReload, error) {
	old := r.c.settings.now()
	next, guard, err := r.read()
	if err != nil {
		report := r.problems(err)
		r.keep(report)
		return report, nil
	}
	otherToken := r.f.guards.Swap(&guard).Token != guard.Token
	if otherToken && guard.Token != "" {
		r.expel()
	}
	before, granted := r.inForce(), r.granted()
	r.apply(old, next)
	came := outcomes{configs: r.renew(ctx, old, before), grants: r.regrant(ctx, granted)}
	report := r.report(old, next, otherToken, came)
	for _, one := range report.Changes {
		r.h.log.Info("a setting has changed", "field", one.Field, "effect", string(one.Effect), "note", one.Message)
	}
	r.keep(report)
	return report, nil
}

// expel ends what stays open of those whom another token let in.
func (r *reloader) expel() {
	r.f.server.Expel()
	if r.h.gateway != nil {
		r.h.gateway.Expel("the host has another token now")
	}
}

// read reads settings and all that they name and that can be wrong.
func (r *reloader) read() (*settings, admin.Guard, error) {
	next, err := r.c.settled(false)
	if err == nil && next.text == nil && r.c.settings.now().text != nil {
		err = r.gone()
	}
	if err != nil {
		return nil, admin.Guard{}, err
	}
	guard, err := r.f.guardOf(next)
	return next, guard, err
}

// gone is what is wrong where there was a file of settings, and is none: that nobody
// restricts anything any more has to be said.
func (r *reloader) gone() error {
	dir, err := r.c.stateOf()
	if err != nil {
		return err
	}
	return &settingsError{manifest.Problems{{File: filepath.Join(dir, settingsName), Message: "it is gone, and its settings are still in force: " +
		"put it back, or write an empty object, {}, in its place, which stands for the defaults"}}}
}

// apply puts settings in force, but for the plugins' configurations.
func (r *reloader) apply(old, next *settings) {
	r.c.settings.next.Store(next)
	if level, err := r.c.level(); err == nil {
		r.c.logs.Set(level)
	}
	r.h.paperclip.change(old, next)
	r.h.SetBounds(next.bounds(false))
}

// inForce are the configurations of the sessions that run, by plugin.
func (r *reloader) inForce() map[string]ownConfig {
	all := map[string]ownConfig{}
	for _, name := range r.h.present() {
		m := r.h.roster.get(name)
		if m == nil { // it is a guest, or has gone meanwhile
			m = guestCalled(name)
		}
		company := r.h.configs.company(m)
		all[name] = ownConfig{company, r.h.configs.InForce(name, company)}
	}
	return all
}

// ownConfig is a plugin's configuration for the company that it was started for.
type ownConfig struct {
	company string
	config  configuration.Configuration
}

// renew offers the plugins that run the configurations that are others now, and returns
// what came of them. One that is refused is not in force, and is offered again at the next
// reload.
func (r *reloader) renew(ctx context.Context, old *settings, before map[string]ownConfig) map[string]admin.SettingChange {
	came := map[string]admin.SettingChange{}
	for _, name := range r.h.present() {
		own, has := before[name]
		if !has {
			continue // it has come meanwhile, with its configuration
		}
		r.h.hide(name, r.h.configs.InForce(name, own.company).Value)
		effect, err := r.configs.Renew(ctx, name, own.company, own.config, func() {
			r.c.settings.next.Store(r.c.settings.now().keeping(name, old))
		})
		switch {
		case err != nil:
			came[name] = admin.SettingChange{Effect: admin.SettingRefused, Message: err.Error()}
		case effect == configuration.AtItsStart:
			came[name] = admin.SettingChange{Effect: admin.SettingNextStart, Message: "from its next start on"}
		case effect == configuration.Now:
			came[name] = admin.SettingChange{Effect: admin.SettingApplied, Message: sentence("the plugin has taken it", strings.Join(r.h.spread(ctx, name), "; "))}
		}
	}
	return came
}

// outcomes are what has come of other settings of plugins, by plugin.
type outcomes struct {
	configs, grants map[string]admin.SettingChange
}

// rest are the outcomes that no change of a file accounts for: of what had failed before.
func (o outcomes) rest() (list []admin.SettingChange) {
	for _, of := range []struct {
		field string
		came  map[string]admin.SettingChange
	}{{"config", o.configs}, {"grants", o.grants}} {
		for _, name := range slices.Sorted(maps.Keys(of.came)) {
			one := of.came[name]
			one.Field, one.Plugin = manifest.FieldOf("plugins", name, of.field), name
			list = append(list, one)
		}
	}
	return list
}

// report says what has come of each change.
func (r *reloader) report(old, next *settings, otherToken bool, came outcomes) admin.SettingsReload {
	report := admin.SettingsReload{}
	report.File, _ = r.c.settingsFile(false)
	for _, one := range manifest.ChangedSettings(old.text, next.text) {
		report.Changes = append(report.Changes, r.changed(one, came))
	}
	if otherToken && !slices.ContainsFunc(report.Changes, isToken) {
		report.Changes = append(report.Changes, admin.SettingChange{
			Field: "listen.token", Effect: admin.SettingApplied, Message: "there is another one in the same place",
		})
	}
	report.Changes = append(report.Changes, came.rest()...)
	return report
}

func isToken(one admin.SettingChange) bool { return strings.HasPrefix(one.Field, "listen.token.") }

// changed is what has come of one change; what it says of a plugin is taken out of came.
func (r *reloader) changed(one manifest.SettingsChange, came outcomes) admin.SettingChange {
	what, _ := changeOf(one.Path)
	told := admin.SettingChange{Field: one.Field, Effect: what.effect, Message: what.told()}
	if one.Path[0] == "plugins" && len(one.Path) > 1 {
		told.Plugin = one.Path[1]
	}
	switch {
	case what.flag != "" && r.f.listen.was(what.flag):
		told.Effect, told.Message = admin.SettingHidden, "--"+what.flag+" goes before it"
	case what.flag == "log-level" && debugs(debugWire):
		told.Effect, told.Message = admin.SettingHidden, "AIRI_HOST_DEBUG=wire goes before it"
	case told.Plugin != "" && !slices.Contains(r.h.present(), told.Plugin):
		told.Effect, told.Message = admin.SettingHidden, "there is no such plugin here: is the name right?"
	case told.Plugin != "" && one.Path[len(one.Path)-1] == "config":
		if r.h.configs.InForce(told.Plugin, companyOf(one.Path)).Source == configuration.FromStore {
			came.configs[told.Plugin] = setByHand(told.Plugin)
		}
		take(&told, came.configs)
	case isGrants(one.Path):
		told.Message = "" // what runs has them, or nothing of it runs
		take(&told, came.grants)
	}
	return told
}

// take moves what has come of a plugin's setting into what is told.
func take(told *admin.SettingChange, came map[string]admin.SettingChange) {
	if one, ok := came[told.Plugin]; ok {
		delete(came, told.Plugin)
		told.Effect, told.Message = one.Effect, one.Message
	}
}

func isGrants(path []string) bool {
	return len(path) == 3 && path[0] == "plugins" && path[2] == "grants"
}

// companyOf is the company in plugins.NAME.companies.COMPANY.config, or "".
func companyOf(path []string) string {
	if len(path) == 5 {
		return path[3]
	}
	return ""
}

// setByHand is what comes of a configuration in the settings that is stored as well.
func setByHand(plugin string) admin.SettingChange {
	return admin.SettingChange{Effect: admin.SettingHidden, Message: "what was set by 'airi-host config set " + plugin + "' goes before it"}
}

// problems tells why settings were not taken, each problem by itself.
func (r *reloader) problems(err error) (report admin.SettingsReload) {
	report.File, _ = r.c.settingsFile(false)
	wrong, ok := errors.AsType[*settingsError](err)
	if !ok {
		wrong = &settingsError{manifest.Problems{{Message: err.Error()}}}
	}
	for _, p := range wrong.problems {
		r.h.log.Error("the settings were not read again: nothing was changed", "problem", p.String())
		report.Problems = append(report.Problems, admin.SettingProblem(p))
	}
	return report
}

// keeping are these settings with a plugin's configurations of others.
func (s *settings) keeping(name string, others *settings) *settings {
	kept := &settings{Settings: s.Settings, text: s.text}
	kept.Plugins = maps.Clone(s.Plugins)
	if kept.Plugins == nil {
		kept.Plugins = map[string]manifest.PluginSettings{}
	}
	plugin := kept.Plugins[name]
	plugin.Config, plugin.Companies = others.Plugins[name].Config, others.Plugins[name].Companies
	kept.Plugins[name] = plugin
	return kept
}

// reloadAt reads the settings again at each hang-up, until ctx ends or end is called,
// which waits for the one that is at it.
func (f *front) reloadAt(ctx context.Context, hangups chan os.Signal) (end func()) {
	if f.reloader == nil || hangups == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		for {
			select {
			case <-hangups:
				f.reloader.atHangup(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		signal.Stop(hangups)
		cancel()
		following.Wait()
	}
}

// hangupTime is how long plugins may take over the configurations of one hang-up, unless
// the settings say it, as api.command.
const hangupTime = 2 * time.Minute

func (r *reloader) atHangup(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(r.c.settings.API.Command, hangupTime))
	defer cancel()
	report, err := r.reload(ctx)
	if err != nil {
		r.h.log.Error("the settings were not read again", "error", err)
	} else if len(report.Changes)+len(report.Problems) == 0 {
		r.h.log.Info("the settings were read again: nothing has changed", slog.String("file", report.File))
	}
}
