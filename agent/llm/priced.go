package llm

import (
	"context"

	"offcut/agent"
	"offcut/models"
)

// Priced is a model whose replies also say what they cost, whoever asked for
// them.
func Priced(model agent.Model, price models.Price) agent.Model { return priced{model, price} }

type priced struct {
	agent.Model
	price models.Price
}

// Stream also prices a reply that broke off: its tokens were counted.
func (p priced) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) (agent.Reply, error) {
	reply, err := p.Model.Stream(ctx, req, emit)
	reply.Usage.Cost = p.price.Of(reply.Usage)
	return reply, err
}
