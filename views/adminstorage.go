package views

import (
	"net/url"
	"strconv"
	"time"
)

// AdminStorage is the page of what is stored.
type AdminStorage struct {
	Database, Free, Log, Workspaces int64 // bytes; Free is a part of Database
	Quota                           int64 // what a user may store
	Users                           []StoredBy
	Steps                           Steps
	Policy                          Retention
}

// StoredBy is what one user stores: kept outputs and workspaces.
type StoredBy struct {
	Name     string
	Sessions int
	Bytes    int64
}

// sessions is the list of the user's sessions, the largest first.
func (s StoredBy) sessions() string {
	return addressOf("/admin/sessions", url.Values{"owner": {s.Name}, "sort": {"bytes"}})
}

// share is the user's share of the quota in percent.
func (s StoredBy) share(quota int64) string {
	if s.Bytes == 0 {
		return "0"
	}
	return share(s.Bytes, quota)
}

// width is the user's share of the quota, for a bar.
func (s StoredBy) width(quota int64) string {
	if quota <= 0 || s.Bytes <= 0 {
		return "0%"
	}
	return strconv.FormatFloat(min(100, 100*float64(s.Bytes)/float64(quota)), 'f', 1, 64) + "%"
}

// Retention is the policy by which sessions go by themselves.
type Retention struct {
	MaxAge          time.Duration // 0: no bound
	MaxBytesPerUser int64         // 0: no bound
	Sweep           *Sweep        // nil: not yet
}

func (r Retention) on() bool { return r.MaxAge > 0 || r.MaxBytesPerUser > 0 }

func (r Retention) days() int { return int(r.MaxAge / (24 * time.Hour)) }

// Sweep is what the policy did last.
type Sweep struct {
	At              time.Time
	Removed, Failed int
	Freed           int64
}
