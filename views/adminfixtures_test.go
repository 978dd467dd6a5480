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
