package models_test

import (
	"testing"

	"offcut/models"
)

func TestTheStateOfACallIsThatOfItsResult(t *testing.T) {
	zero, three := models.Ptr(0), models.Ptr(3)
	for name, test := range map[string]struct {
		state models.State
		meta  *models.ResultMetadata
		want  models.CallState
	}{
		"it worked":              {models.StateDone, &models.ResultMetadata{}, models.CallOK},
		"a command ended well":   {models.StateDone, &models.ResultMetadata{ExitCode: zero}, models.CallOK},
		"a command failed":       {models.StateDone, &models.ResultMetadata{ExitCode: three}, models.CallError},
		"by a signal":            {models.StateDone, &models.ResultMetadata{Signal: "SIGKILL"}, models.CallError},
		"by its time limit":      {models.StateDone, &models.ResultMetadata{TimedOut: true}, models.CallError},
		"the tool could not":     {models.StateDone, &models.ResultMetadata{IsError: true}, models.CallError},
		"it was stopped":         {models.StateStopped, &models.ResultMetadata{Signal: "SIGKILL"}, models.CallStopped},
		"the server was stopped": {models.StateInterrupted, &models.ResultMetadata{IsError: true}, models.CallInterrupted},
		"somebody denied it":     {models.StateDone, &models.ResultMetadata{IsError: true, Approved: models.Ptr(false)}, models.CallDenied},
		"somebody allowed it":    {models.StateDone, &models.ResultMetadata{Approved: models.Ptr(true)}, models.CallOK},
		"a failed one was read":  {models.StateDone, &models.ResultMetadata{Offset: models.Ptr[int64](0), ExitCode: three, TimedOut: true}, models.CallOK},
		"without metadata":       {models.StateDone, nil, models.CallOK},
	} {
		if got := (models.Message{State: test.state, Metadata: test.meta}).CallState(); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestACallThatNeverRanIsToldFromOneThatWasCutOff(t *testing.T) {
	text := models.NotStartedText + "the reply that asked for it broke off."
	for name, test := range map[string]struct {
		m    models.Message
		want bool
	}{
		"the reply broke off":      {models.Message{State: models.StateInterrupted, Content: text}, true},
		"stopped before it":        {models.Message{State: models.StateStopped, Content: text, Metadata: &models.ResultMetadata{IsError: true}}, true},
		"cut off while it ran":     {models.Message{State: models.StateInterrupted, Content: "The call was started and did not come to its end"}, false},
		"it printed the sentence":  {models.Message{State: models.StateStopped, Content: text, Metadata: &models.ResultMetadata{ExecutionMS: models.Ptr[int64](3)}}, false},
		"it returned the sentence": {models.Message{State: models.StateDone, Content: text}, false},
	} {
		if got := test.m.NotStarted(); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
