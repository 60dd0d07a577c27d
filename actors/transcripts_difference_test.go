package actors_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// difference is one way in which this host behaves otherwise than the reference
// host did in a transcript, and why.
type difference struct {
	// row is the row of docs/differences.md that tells it.
	row string
	// in says where there is a difference; zero means everywhere.
	in home
	// edits turn the transcript into what this host does.
	edits []edit
}

// edit changes a recording. It tells whether there was anything to change: an
// edit that changes nothing is out of date.
type edit func(*recording) bool

// the parts of a recording that an edit can change.
func notes(r *recording) *[]string    { return &r.Notes }
func lines(r *recording) *[]string    { return &r.Lines }
func sessions(r *recording) *[]string { return &r.Sessions }

// says: a call of the API has another outcome.
func says(name, outcome string) edit {
	return func(r *recording) bool {
		done := false
		for i, note := range r.Notes {
			if strings.HasPrefix(note, name+": ") {
				r.Notes[i], done = name+": "+outcome, true
			}
		}
		return done
	}
}

// turns: all that holds one text holds another.
func turns(part func(*recording) *[]string, from, to string) edit {
	return func(r *recording) bool {
		done := false
		for i, text := range *part(r) {
			(*part(r))[i] = strings.ReplaceAll(text, from, to)
			done = done || strings.Contains(text, from)
		}
		return done
	}
}

// lacks: whatever matches is not there.
func lacks(part func(*recording) *[]string, pattern string) edit {
	match := regexp.MustCompile(pattern).MatchString
	return func(r *recording) bool {
		n := len(*part(r))
		*part(r) = slices.DeleteFunc(*part(r), match)
		return len(*part(r)) < n
	}
}

// endsBefore: the one that matches is not there, nor is anything behind it.
func endsBefore(part func(*recording) *[]string, pattern string) edit {
	match := regexp.MustCompile(pattern).MatchString
	return func(r *recording) bool {
		i := slices.IndexFunc(*part(r), match)
		if i >= 0 {
			*part(r) = (*part(r))[:i]
		}
		return i >= 0
	}
}

// gains: there is more behind the last one that matches; "" means at the end.
func gains(part func(*recording) *[]string, behind string, more ...string) edit {
	match := regexp.MustCompile(behind).MatchString
	return func(r *recording) bool {
		list := *part(r)
		for i := len(list) - 1; i >= 0; i-- {
			if match(list[i]) {
				*part(r) = slices.Insert(list, i+1, more...)
				return true
			}
		}
		*part(r) = append(list, more...)
		return behind == ""
	}
}

// apply turns what the reference host did into what this one has to do.
func (s scenario) apply(t *testing.T, in home, r recording) recording {
	t.Helper()
	r = recording{Notes: slices.Clone(r.Notes), Lines: slices.Clone(r.Lines), Sessions: slices.Clone(r.Sessions)}
	for _, d := range s.differs {
		if d.in != 0 && d.in&in == 0 {
			continue
		}
		for i, change := range d.edits {
			require.True(t, change(&r), "edit %d of the difference %q changes nothing: strike it", i, d.row)
		}
	}
	return r
}

const differencesPage = "../docs/differences.md"

var (
	anAnchor = regexp.MustCompile(`<a id="([\w-]+)"></a>`)
	aHeading = regexp.MustCompile(`(?m)^## `)
)

func TestDifferences_areDocumented(t *testing.T) {
	page, err := os.ReadFile(differencesPage)
	require.NoError(t, err)
	declared := map[string]bool{}
	for _, s := range scenarios {
		for _, d := range s.differs {
			declared[d.row] = true
			require.Contains(t, string(page), `<a id="`+d.row+`"></a>`, "%s does not tell what is different in %s", differencesPage, s.name)
		}
	}
	for _, row := range anAnchor.FindAllStringSubmatch(section(t, string(page), "In the transcripts"), -1) {
		require.True(t, declared[row[1]], "%s tells of %s, which no transcript shows", differencesPage, row[1])
	}
}

// section returns what stands below a heading.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	for _, part := range aHeading.Split(page, -1) {
		if rest, ok := strings.CutPrefix(part, heading+"\n"); ok {
			return rest
		}
	}
	t.Fatalf("%s has no section %q", differencesPage, heading)
	return ""
}
