package handlers

import (
	"testing"

	"offcut/models"
)

func TestAnInterruptionCountsTheCallsThatHadStarted(t *testing.T) {
	result := func(text string) models.Message {
		return models.Message{Role: models.RoleTool, State: models.StateInterrupted, Content: text, Metadata: &models.ResultMetadata{IsError: true}}
	}
	for _, test := range []struct {
		name    string
		results []models.Message
		want    int
	}{
		{"half a call was written", []models.Message{result(models.NotStartedText + "the reply that asked for it broke off. It had no effect.")}, 0},
		{"one of two had started", []models.Message{
			result("The call was started and did not come to its end: the server was shut down."),
			result(models.NotStartedText + "the server was shut down. It had no effect."),
		}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			turn := turnMessages{turn: models.Turn{State: models.StateInterrupted}, messages: test.results}
			if end := (&Handlers{}).turnEnd(turn); end.OpenCalls != test.want {
				t.Errorf("%d calls had started, want %d", end.OpenCalls, test.want)
			}
		})
	}
}
