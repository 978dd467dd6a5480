package views

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
