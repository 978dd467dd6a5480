package views

import "time"

func sampleAudit() AdminAudit {
	return AdminAudit{
		Filter:  AuditFilter{Action: "session.delete", From: "2026-11-01"},
		Actions: []string{"session.delete", "session.view"},
		Entries: []AuditEntry{
			{At: morning, Actor: "admin", Action: "session.delete", Target: "ses_1", Detail: "deleted a session of <mara>", Address: "127.0.0.1"},
		},
		Steps: Steps{First: "/admin/audit", Next: "/admin/audit?cursor=x"},
	}
}

func sampleDump() Dump {
	return Dump{
		Name: "20261130T103100.000000Z-trn_1.json", Path: "/tmp/offcut-1000-1f/20261130T103100.000000Z-trn_1.json",
		SessionID: "s1", TurnID: "trn_1", Model: "gpt", At: morning, Status: 400, Error: "Refused: “<b>”.", Bytes: 1234567,
	}
}

func sampleSessions() AdminSessions {
	return AdminSessions{
		Filter: SessionFilter{Query: "a&b", Archived: "false", Order: "bytes"},
		Rows: []AdminSession{
			{ID: "ses_1", Title: "Read 40 GB of pcap", Owner: "platform", Archived: true, Messages: 112, Outputs: 9, OutputBytes: 4_800_000_000, Files: 12, UsedAt: morning},
			{ID: "ses_2", Owner: "<mara>", Running: true, Pinned: true, Messages: 2406, Files: -1, UsedAt: morning},
		},
		Steps:   Steps{Next: "/admin/sessions?cursor=x"},
		Deleted: 1, Failed: 2,
	}
}

func sampleStorage() AdminStorage {
	return AdminStorage{
		Database: 41_200_000_000, Free: 12_000, Workspaces: 5, Quota: 2_000_000_000,
		Users: []StoredBy{{Name: "mara", Sessions: 12, Bytes: 500_000_000}, {Name: "over", Bytes: 3_000_000_000}},
		Steps: Steps{Next: "/admin/storage?cursor=x"},
		Policy: Retention{
			MaxAge: 90 * 24 * time.Hour, MaxBytesPerUser: 1_000_000_000, Sweep: &Sweep{At: morning, Removed: 3, Freed: 12345, Failed: 1},
		},
	}
}

func sampleServers() AdminServers {
	return AdminServers{Servers: []MCPServer{
		{
			Name: "files", Local: true, Address: "npx", State: "ready", Since: morning, Product: "secure-filesystem 0.2 <b>",
			Tools:   []MCPTool{{Name: "files__read", Description: "Reads <script>alert(1)</script>", ReadOnly: true}, {Name: "files__write", Description: "Writes"}},
			LeftOut: []string{"<em>odd</em>: its schema is no object."}, Stderr: "listening <on> \x1b[31mstdio\u202e",
		},
		{Name: "tickets", Address: "https://tickets.example.org/mcp", State: "failed", Since: morning, RetryAt: morning, Error: "it did not answer in time"},
		{Name: "slow", Local: true, Address: "node", State: "starting", Since: morning},
		{Name: "later", Local: true, Address: "node", State: "idle"},
		{Name: "never", Local: true, Address: "node", State: "off"},
	}}
}

func sampleTruncation() AdminTruncation {
	command := Cuts{
		Name: "run_command", Calls: 9204, Truncated: 2872, Consulted: 1100, Reruns: 3, Produced: 4_300_000_000, Hidden: 3_100_000_000,
		Recovered: 1_178_000_000, Incomplete: 11, FailedSaves: 1, NoticeAt: 0.2,
	}
	foreign := Cuts{Name: "tracker__<list>", Calls: 410, Truncated: 292, Hidden: 31_000_000, NoticeAt: 0.2}
	day := func(name string, truncated, recovered int64) Cuts {
		return Cuts{Name: name, Calls: 100, Truncated: truncated, Hidden: 1000, Recovered: recovered}
	}
	return AdminTruncation{
		Filter: TruncationFilter{Days: 14, Tool: "run_command"}, Tools: []string{"run_command", "tracker__<list>"}, Models: []string{"a&b"},
		Total: command, ByTool: []Cuts{command, foreign}, ByModel: []Cuts{{Name: "a&b", Calls: 9614, Truncated: 3164, Retries: 412}},
		Days:   []Cuts{day("2026-11-17", 23, 300), {Name: "2026-11-18"}, day("2026-11-30", 26, 390)},
		Layers: []LayerLine{{Name: "capture", In: 4_300_000_000, Out: 4_200_000_000}, {Name: "display", In: 94, Out: 94}},
		Steps:  Steps{Next: "/admin/truncation?cursor=x"},
	}
}
