package views

import "time"

func sampleAccount() Account {
	return Account{
		ID: "usr_1", Name: "mara", Admin: true, HasPassword: true, AddedAt: morning, SignedInAt: morning.Add(time.Hour),
		Sessions: 12, Tokens: 2, StoredBytes: 5189332,
	}
}

func sampleUsers() AdminUsers {
	return AdminUsers{
		Users: []Account{sampleAccount(), {ID: "usr_2", Name: "billing-dev", Disabled: true, AddedAt: morning}},
		New:   NewUser{Name: "mara", Problem: "there is a user named \"mara\" already; choose another name"},
	}
}

func sampleUser() AdminUser {
	return AdminUser{
		Account: sampleAccount(), Tokens: 5213908, Cost: 12.5, Link: "http://localhost:8080/login?token=SECRET",
		Problem: "mara is the last admin who can sign in; make another admin first",
	}
}

func sampleUsage() AdminUsage {
	line := UsageLine{Period: "2026-11-30", User: "mara", Model: "qwen3-coder:30b", Turns: 12, Input: 1204331, Cached: 900000, Output: 52000, Cost: 0.0123}
	return AdminUsage{
		Filter: UsageFilter{Month: "2026-11", User: "mara"}, Months: []string{"2026-11", "2026-10"},
		Lines: []UsageLine{line, line}, Total: line, Steps: Steps{Next: "/admin/usage?cursor=x"},
	}
}
