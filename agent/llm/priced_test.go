package llm

import (
	"testing"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/models"
)

func TestAReplySaysWhatItCost(t *testing.T) {
	says := agenttest.Says("Hello.")
	says.Usage = models.Usage{InputTokens: 1000, OutputTokens: 100}
	model := Priced(agenttest.NewScript(says), models.Price{Input: 2, Output: 10})
	reply, err := model.Stream(t.Context(), agent.Request{}, func(agent.Delta) {})
	if err != nil || reply.Content != "Hello." || reply.Usage.Cost != 0.003 {
		t.Errorf("%+v, %v", reply, err)
	}
}
