package main

import (
	"offcut/agent/sandbox"
	"offcut/handlers"
)

// facts is what of the configuration people are told.
func (a *App) facts(catalogue *catalogue, confined *sandbox.Sandbox) handlers.ServerFacts {
	facts := handlers.ServerFacts{
		Approval: a.cfg.Approval, Network: a.cfg.Tools.Each["run_command"].Network || !confined.Confined(),
		StorageBytes: a.cfg.Limits.StoragePerUserBytes, TurnsPerUser: a.cfg.Limits.TurnsPerUser,
	}
	if confined.Confined() {
		facts.Sandbox = confined.Kind()
	}
	for _, name := range catalogue.names {
		known := catalogue.byID[name]
		facts.Models = append(facts.Models, handlers.ModelFacts{Name: name, ContextTokens: known.info.ContextTokens, Price: known.price})
	}
	return facts
}
