package views

import "time"

// themeKey is the end of the catalogue key of a theme.
func themeKey(theme string) string {
	if theme == "" {
		return "system"
	}
	return theme
}

// GroupSessions puts sessions, as a list returns them (pinned ones first, then
// newest first), under their headings. Days begin at midnight of now's zone.
func GroupSessions(items []SessionItem, now time.Time) []SessionGroup {
	var groups []SessionGroup
	for _, item := range items {
		age := ageOf(item, now)
		if n := len(groups); n == 0 || groups[n-1].Age != age {
			groups = append(groups, SessionGroup{Age: age})
		}
		last := &groups[len(groups)-1]
		last.Items = append(last.Items, item)
	}
	return groups
}

func ageOf(item SessionItem, now time.Time) Age {
	year, month, day := now.Date()
	midnight := time.Date(year, month, day, 0, 0, 0, 0, now.Location())
	switch {
	case item.Pinned:
		return AgePinned
	case !item.UpdatedAt.Before(midnight):
		return AgeToday
	case !item.UpdatedAt.Before(midnight.AddDate(0, 0, -1)):
		return AgeYesterday
	case !item.UpdatedAt.Before(midnight.AddDate(0, 0, -7)):
		return AgeWeek
	}
	return AgeOlder
}
