package models

import "context"

type requestKey struct{}

// WithRequestID names the request that a context belongs to, as the log does.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestKey{}, id)
}

// RequestID is the name of the request that a context belongs to; empty of none.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}
