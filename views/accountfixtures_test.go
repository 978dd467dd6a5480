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

func sampleOwnAccount() OwnAccount {
	return OwnAccount{
		Sidebar: sampleSidebar(), Name: "mara", Admin: true, NeedsOld: true, PasswordSet: true,
		PasswordProblem: "The old password is wrong.", NewToken: "offcut_SECRET", TokenName: "nightly",
		TokenProblem: "the name of a token is one line", MonthTokens: 5213908, MonthCost: 3.5,
		Tokens: []Token{{ID: "tok_1", Name: "nightly <job>", CreatedAt: morning, UsedAt: &morning}, {ID: "tok_2", Name: "laptop", CreatedAt: morning}},
	}
}

func sampleSettings() Settings {
	return Settings{
		Sidebar: sampleSidebar(), Saved: true, Languages: []Language{{"en", "English"}, {"zh", "中文"}}, Language: "zh", Theme: "dark",
		LineChoices: []int{0, 10, 50}, Lines: 10, Thoughts: true, Notify: true,
		Server: Server{
			Models:   []ModelLine{{Name: "qwen3-coder:30b", ContextTokens: 128000}, {Name: "hosted", Priced: true, Input: 3, Output: 15.5}},
			Servers:  []ServerLine{{Name: "files", State: "ready", Tools: []string{"files__read", "files__write"}}, {Name: "<i>", State: "failed"}},
			Approval: "ask", Sandbox: "bubblewrap", Used: 5189332, Storage: 2e9, TurnsPerUser: 8, MessageBytes: 1 << 20,
		},
	}
}

func sampleDetails() Details {
	used := UsageLine{Model: "qwen3-coder:30b", Turns: 12, Input: 1204331, Cached: 900000, Output: 52000, Reasoning: 100, Cost: 0.5}
	return Details{CreatedAt: morning, UpdatedAt: morning, Used: []UsageLine{used, used}, Total: used}
}
