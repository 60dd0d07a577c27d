package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/lmittmann/tint"
)

// level is --log-level, else debug where frames are to be seen, else what the settings
// say.
func (c *cli) level() (slog.Level, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.logLevel)); err != nil {
		return level, usageError{fmt.Errorf("--log-level %q: expected debug, info, warn or error", c.logLevel)}
	}
	switch {
	case c.levelGiven:
	case debugs(debugWire):
		level = slog.LevelDebug
	default:
		if said := c.settings.now().Log.Level; said != "" {
			return level, level.UnmarshalText([]byte(said))
		}
	}
	return level, nil
}

// debugWire is the item of AIRI_HOST_DEBUG that logs frames.
const debugWire = "wire"

// debugs tells whether AIRI_HOST_DEBUG, a list, has the item.
func debugs(item string) bool {
	return slices.Contains(strings.Split(os.Getenv("AIRI_HOST_DEBUG"), ","), item)
}

// The formats of logs. Auto is what the settings say, else JSON where output is, for people
// on a terminal, else plain text.
const (
	formatAuto = "auto"
	formatTint = "tint"
	formatText = "text"
	formatJSON = "json"
)

// format is --log-format, or what it comes to.
func (c *cli) format() (string, error) {
	switch c.logFormat {
	case formatTint, formatText, formatJSON:
		return c.logFormat, nil
	case formatAuto, "":
	default:
		return "", usageError{fmt.Errorf("--log-format %q: expected auto, tint, text or json", c.logFormat)}
	}
	switch said := c.settings.now().Log.Format; {
	case said != "":
		return said, nil
	case c.json():
		return formatJSON, nil
	case c.err.terminal:
		return formatTint, nil
	}
	return formatText, nil
}

// logger writes to standard error, in the format that was asked for. Its level is that of
// c.logs, which is set here.
func (c *cli) logger() (*slog.Logger, error) {
	level, err := c.level()
	if err != nil {
		return nil, err
	}
	format, err := c.format()
	if err != nil {
		return nil, err
	}
	if c.logs == nil {
		c.logs = &slog.LevelVar{}
	}
	c.logs.Set(level)
	plain := &slog.HandlerOptions{Level: c.logs}
	switch format {
	case formatJSON:
		return slog.New(slog.NewJSONHandler(c.err, plain)), nil
	case formatTint:
		return slog.New(cleaner{tint.NewTextHandler(c.err, &tint.Options{
			Level: c.logs, TimeFormat: timeFormat, NoColor: !c.err.color,
		})}), nil
	default:
		return slog.New(slog.NewTextHandler(c.err, plain)), nil
	}
}

// cleaner keeps what plugins say from steering the terminal: tint passes on the
// message as it is, and in values what reads \x1b once it is quoted.
type cleaner struct{ slog.Handler }

func (c cleaner) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, printable(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(cleanAttr(a))
		return true
	})
	return c.Handler.Handle(ctx, clean)
}

func (c cleaner) WithAttrs(attrs []slog.Attr) slog.Handler {
	return cleaner{c.Handler.WithAttrs(cleanAttrs(attrs))}
}

func (c cleaner) WithGroup(name string) slog.Handler { return cleaner{c.Handler.WithGroup(name)} }

func cleanAttrs(attrs []slog.Attr) []slog.Attr {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = cleanAttr(a)
	}
	return clean
}

func cleanAttr(a slog.Attr) slog.Attr {
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindGroup:
		a.Value = slog.GroupValue(cleanAttrs(v.Group())...)
	case slog.KindString, slog.KindAny:
		a.Value = slog.StringValue(strings.ReplaceAll(printable(v.String()), `\x1b`, `\x1B`))
	default: // numbers, times and truths
	}
	return a
}
